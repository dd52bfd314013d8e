package kubelet

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// snapScript gives a snap the settings that differ, and starts it. A setting that the snap has already is not set again,
// because each change of a snap's settings runs its own hooks. The snap is kept from starting by itself: snapd would start
// it with the settings of the boot before.
const snapScript = `# Gives a snap those of its settings that differ, and starts it: the snap, then its settings as name=value.
set -u -o pipefail
snap=$1
shift
snap stop --disable "$snap" || exit
changed=()
for setting; do
  value=$(snap get "$snap" "${setting%%=*}" 2>/dev/null) || value=
  [ "$value" = "${setting#*=}" ] || changed+=("$setting")
done
if [ ${#changed[@]} -gt 0 ]; then
  snap set "$snap" "${changed[@]}" || exit
fi
exec snap start "$snap"
`

// planSnap has the kubelet's unit set the snap's flags at each boot, before it starts the snap. Of those of one name a snap has one.
func planSnap(in *concern.Input, out *concern.Output, lines []unitfile.Line, arguments, late []argument) {
	snap := &in.Family.Command.Snap
	for _, f := range late {
		switch {
		case strings.Trim(f.name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			out.Fatal(nodeconfig.Invalid, f.at, "is a name that no setting of a snap can have (snapcraft docs, configuration in snaps)")
			continue
		case f.value == "" || f.value == "null" || strings.ContainsAny(f.value[:1], `{["`):
			out.Fatal(nodeconfig.Invalid, f.at, "has a value that a snap would take for another one: set it in kubelet.config, if it can be set there")
			continue
		}
		set := slices.IndexFunc(arguments, func(a argument) bool { return a.name == f.name })
		switch {
		case set < 0:
			arguments = append(arguments, f)
		case f.secret || slices.ContainsFunc(late, func(other argument) bool { return other.name == f.name && other.value != f.value }):
			out.Fatal(nodeconfig.Invalid, f.at, "is given twice, and a setting of a snap has one value")
		default:
			arguments[set] = f
		}
	}
	file := concern.KubeletDropIns + snap.DropIn.File
	words := []unitfile.Text{"/bin/bash", unitfile.Quote(snap.Script), unitfile.Quote(snap.Name)}
	for _, a := range written(in, out, file, arguments) {
		words = append(words, `"`+unitfile.Quote(a.name)+"="+a.inUnit()+`"`)
	}
	secret := slices.ContainsFunc(late, func(a argument) bool { return a.secret })
	out.File(resource.Join, snap.Script, 0o644, []byte(snapScript), "gives the kubelet's snap its settings, where they differ", concern.KubeletUnit)
	out.Guarded(secret, resource.Join, file, snap.DropIn.Mode, unitfile.File(append(lines, unitfile.Command("ExecStart", words...))...),
		concern.Sourced("the settings of the kubelet's snap, before it starts, at each boot", snap.DropIn.Source), concern.KubeletUnit)
}
