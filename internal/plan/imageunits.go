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
		target := "multi-user.target"
		if strings.HasSuffix(u.Unit, ".timer") {
			target = "timers.target"
		}
		link := &resource.Symlink{Path: resource.UnitDir + "/" + target + ".wants/" + u.Unit, Target: at}
		out.add(resource.Resource{Phase: resource.Join, Reason: "starts at boot", Spec: link})
		start := resource.Resource{
			Phase: resource.Join, After: after, ExitCode: u.ExitCode,
			Reason: sourced("the image has it for every node", in.family.Sources.Units), Spec: &resource.Unit{Unit: u.Unit},
		}
		if u.ExitCode == 0 {
			// It may end when it is done, as ensure-no-dup.service does, and a node is one without it.
			start.Spec = &resource.Command{
				Label: "start-" + strings.TrimSuffix(u.Unit, ".service"), Argv: []string{"systemctl", "start", "--no-block", u.Unit},
				Timeout: startTimeout, Inputs: []string{link.Path}, Optional: true,
			}
		}
		out.add(start)
	}
}

// runUnit has a unit run that is at a path, now and from every boot on, before what requires the group, if any.
func (o *output) runUnit(g group, at string, code int, reason string, requires ...resource.ID) {
	link := &resource.Symlink{Path: resource.UnitDir + "/multi-user.target.wants/" + path.Base(at), Target: at}
	o.add(resource.Resource{Phase: resource.Join, Reason: "starts at boot", Spec: link})
	run := resource.Resource{Phase: resource.Join, Requires: requires, ExitCode: code, Reason: reason, Spec: &resource.Unit{Unit: path.Base(at)}}
	if g == "" {
		o.add(run)
	} else {
		o.addTo(g, run)
	}
}

// imageUnit is where the machine's image has a unit, or "" where it has not.
func (in *input) imageUnit(name string) string {
	at := slices.IndexFunc(in.facts.Units, func(at string) bool { return path.Base(at) == name && isPlainPath(at) })
	if at < 0 {
		return ""
	}
	return in.facts.Units[at]
}
