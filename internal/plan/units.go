package plan

import (
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// units plans the systemd units of the contract's author, and what the contract says about units of others.
var units = concern{
	name:  "units",
	reads: []string{"$.units"},
	plan:  planUnits,
}

func planUnits(in *input, out *output) {
	for i := range in.config.Units {
		u, at := &in.config.Units[i], document.IndexPath("$.units", i)
		var restarts []string
		if !u.State.Kept() && !strings.Contains(u.Name, "@.") {
			restarts = []string{u.Name}
		}
		dir := vendorUnits
		if u.Content != "" {
			dir = resource.UnitDir
			out.file(resource.Base, nodeconfig.UnitPath(u.Name), 0o644, wholeLines(u.Content), "a unit of the contract's", restarts...)
			out.askedBy(at + ".content")
		}
		for j, d := range u.DropIns {
			out.file(resource.Base, nodeconfig.DropInPath(u.Name, d.Name), 0o644, wholeLines(d.Content), "a drop-in of the contract's", restarts...)
			out.askedBy(document.IndexPath(at+".dropIns", j) + ".name")
		}
		var enabledBy *resource.Symlink
		if u.Enabled {
			for _, target := range u.WantedBy() {
				enabledBy = &resource.Symlink{Path: nodeconfig.UnitPath(target) + ".wants/" + u.Name, Target: dir + "/" + u.Name}
				out.add(resource.Resource{Phase: resource.Base, Reason: "starts at boot", Spec: enabledBy})
				out.askedBy(at + ".enabled")
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

// planUnitState plans what runs, or must not. enabledBy is the link by which the unit starts at boot; nil for none.
func planUnitState(in *input, out *output, u *nodeconfig.Unit, at string, enabledBy *resource.Symlink) {
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
		if r.Phase = resource.Join; !in.joins() {
			out.Warn(nodeconfig.NotApplied, at, "does not last over a boot, and is not applied to an image: use enabled, or the state Disabled or Masked")
			return
		}
	}
	out.add(r)
	out.askedBy(at)
	if enabledBy != nil {
		out.repeatedBy(enabledBy)
	}
}
