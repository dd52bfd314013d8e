package system

import (
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// units plans the author's systemd units, and the contract's settings for units of others.
var units = concern.Concern{
	Name:  "units",
	Reads: []string{"$.units"},
	Plan:  planUnits,
}

func planUnits(in *concern.Input, out *concern.Output) {
	for i := range in.Config.Units {
		u, at := &in.Config.Units[i], document.IndexPath("$.units", i)
		var restarts []string
		if !u.State.Kept() && !strings.Contains(u.Name, "@.") {
			restarts = []string{u.Name}
		}
		dir := facts.VendorUnits
		if u.Content != "" {
			dir = resource.UnitDir
			out.File(resource.Base, nodeconfig.UnitPath(u.Name), 0o644, textfile.Lines(u.Content), "a unit of the contract's", restarts...)
			out.AskedBy(at + ".content")
		}
		for j, d := range u.DropIns {
			out.File(resource.Base, nodeconfig.DropInPath(u.Name, d.Name), 0o644, textfile.Lines(d.Content), "a drop-in of the contract's", restarts...)
			out.AskedBy(document.IndexPath(at+".dropIns", j) + ".name")
		}
		var enabledBy *resource.Symlink
		if u.Enabled {
			for _, target := range u.WantedBy() {
				enabledBy = &resource.Symlink{Path: nodeconfig.UnitPath(target) + ".wants/" + u.Name, Target: dir + "/" + u.Name}
				out.Append(resource.Resource{Phase: resource.Base, Reason: "starts at boot", Spec: enabledBy})
				out.AskedBy(at + ".enabled")
			}
		}
		planUnitState(in, out, u, at+".state", enabledBy)
	}
}

// unitStates are the states of units that must not run.
var unitStates = map[nodeconfig.UnitState]resource.InactiveState{
	nodeconfig.UnitStopped:  resource.UnitStopped,
	nodeconfig.UnitDisabled: resource.UnitDisabled,
	nodeconfig.UnitMasked:   resource.UnitMasked,
}

// planUnitState plans which units run and which do not. enabledBy is the link that starts the unit at boot, or nil.
func planUnitState(in *concern.Input, out *concern.Output, u *nodeconfig.Unit, at string, enabledBy *resource.Symlink) {
	r := resource.Resource{Phase: resource.Base, ExitCode: exitcode.UnitStartFailed}
	lasts := true
	switch {
	case u.State == nodeconfig.UnitStarted:
		r.Spec, r.Reason, lasts = &resource.Unit{Unit: u.Name}, "the contract wants it to run", enabledBy != nil
	case u.State.Kept():
		r.Spec, r.Reason = &resource.UnitState{Unit: u.Name, State: unitStates[u.State]}, "the contract wants it not to run"
		lasts = u.State != nodeconfig.UnitStopped
	default:
		return
	}
	if !lasts {
		if r.Phase = resource.Join; !in.Joins() {
			out.Warn(nodeconfig.NotApplied, at, "does not last over a boot, and is not applied to an image: use enabled, or the state Disabled or Masked")
			return
		}
	}
	out.Append(r)
	out.AskedBy(at)
	if enabledBy != nil {
		out.RepeatedBy(enabledBy)
	}
}
