package plan

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// imageUnit is where the machine's image has a unit, or "" where it has not.
func (in *input) imageUnit(name string) string {
	at := slices.IndexFunc(in.facts.Units, func(at string) bool { return path.Base(at) == name && isPlainPath(at) })
	if at < 0 {
		return ""
	}
	return in.facts.Units[at]
}

// unitAt is where the machine has a unit of its image's, or would have it if nothing is known of its units, which are looked for
// on Azure alone; empty where it is known that there is none.
func (in *input) unitAt(name string) string {
	if at := in.imageUnit(name); at != "" || in.facts.Platform == facts.Azure && len(in.facts.Components) > 0 {
		return at
	}
	return vendorUnits + "/" + name
}

// vendorUnits is where units of packages are (systemd.unit(5)).
const vendorUnits = "/usr/lib/systemd/system"

// runUnit has a unit run that is at a path, now and from every boot on, and what requires the group waits for it. It may end when
// it is done and has no code, as ensure-no-dup.service does, and a node is one without it.
func (o *output) runUnit(g group, at string, code int, reason string) *resource.Resource {
	unit, target := path.Base(at), "multi-user.target"
	if strings.HasSuffix(unit, ".timer") {
		target = "timers.target"
	}
	link := &resource.Symlink{Path: resource.UnitDir + "/" + target + ".wants/" + unit, Target: at}
	o.join("", link, 0, "starts at boot")
	if code == 0 {
		return o.join(g, &resource.Command{
			Label: "start-" + strings.TrimSuffix(unit, ".service"), Argv: []string{"systemctl", "start", "--no-block", unit},
			Timeout: startTimeout, Inputs: []string{link.Path}, Optional: true,
		}, 0, reason)
	}
	return o.join(g, &resource.Unit{Unit: unit}, code, reason)
}

// startTimeout bounds the order to start a unit, which is not waited for.
const startTimeout = resource.Duration(30 * time.Second)

// managerDefaults is a file that gives variables to all services that systemd starts (systemd-system.conf(5),
// DefaultEnvironment=, which adds up).
func managerDefaults(name string, variables [][2]string, secret bool, effects resource.Effects, reason string) resource.Resource {
	lines := []unitfile.Line{unitfile.Section("Manager")}
	for _, v := range variables {
		lines = append(lines, unitfile.Assign("DefaultEnvironment", unitfile.Quote(v[0]), v[1]))
	}
	file := &resource.File{Path: managerDir + name, Mode: 0o644, Content: unitfile.File(lines...), Secret: secret}
	if secret {
		file.Mode = 0o600
	}
	return resource.Resource{Phase: resource.Base, Effects: effects, Reason: reason, Spec: file}
}
