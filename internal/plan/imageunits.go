package plan

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

// imageUnits runs the units of the family's images that no contract asks for: what collects logs, patches the system, or shows
// the machine's numbers. An image that lacks one makes a node without it.
var imageUnits = concern{
	name:  "units of the image",
	joins: true,
	reads: []string{"$.network.plugin"},
	plan:  planImageUnits,
}

// startTimeout bounds the order to start a unit, which is not waited for.
const startTimeout = resource.Duration(30 * time.Second)

func planImageUnits(in *input, out *output) {
	// Nothing of a node waits for these, and they take processors and disk.
	after := []resource.ID{resource.IDOf(&resource.Check{Label: kubeletActive})}
	for _, u := range in.family.Host.Units {
		at := in.imageUnit(u.Unit)
		if at == "" || u.Plugin != "" && u.Plugin != in.config.Network.Plugin {
			continue
		}
		out.runUnit("", at, u.ExitCode, sourced("the image has it for every node", in.family.Sources.Units)).After = after
	}
}

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

// imageUnit is where the machine's image has a unit, or "" where it has not.
func (in *input) imageUnit(name string) string {
	at := slices.IndexFunc(in.facts.Units, func(at string) bool { return path.Base(at) == name && isPlainPath(at) })
	if at < 0 {
		return ""
	}
	return in.facts.Units[at]
}
