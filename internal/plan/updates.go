package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// updates turn the distribution's own updates on or off. What the contract does not say stays as the image has it.
var updates = concern{
	name:  "unattended upgrades",
	reads: []string{"$.system.unattendedUpgrades"},
	plan:  planUpdates,
}

const updatesPath = "$.system.unattendedUpgrades"

func planUpdates(in *input, out *output) {
	wanted := in.config.System.UnattendedUpgrades
	if wanted == nil {
		return
	}
	u := &in.distro.Updates
	if !u.Known(*wanted) {
		out.Warn(nodeconfig.NotApplied, updatesPath, "is not applied: it is not known how %s updates itself", systemName(in))
		return
	}
	text, phase := u.Settings.No, resource.Base
	if *wanted {
		text = u.Settings.Yes
		if in.family.Host.UpdatesAtJoin {
			phase = resource.Join
		}
	}
	if u.Settings.File != "" {
		out.file(phase, u.Settings.File, 0o644, []byte(text), sourced("whether packages are updated by themselves", in.family.Sources.Updates))
		out.askedBy(updatesPath)
	}
	if *wanted {
		planUpdatesOn(u, phase, out)
		return
	}
	const off = "the contract wants no updates"
	for _, t := range u.On {
		planUpdaterOff(t.Timer, resource.UnitDisabled, phase, off, out)
	}
	for _, unit := range u.Masked {
		planUpdaterOff(unit, resource.UnitMasked, phase, off, out)
	}
}

// planUpdatesOn has the timers run, now and from every boot on. A link to the unit takes the place of its mask, which is a
// link to nothing (systemctl(1), mask).
func planUpdatesOn(u *distro.Updates, phase resource.Phase, out *output) {
	for _, timer := range u.Instead {
		planUpdaterOff(timer, resource.UnitDisabled, phase, "updates are installed, and not only reported", out)
	}
	for _, t := range u.On {
		for _, unit := range []string{t.Service, t.Timer} {
			out.add(resource.Resource{
				Phase:  phase,
				Reason: "an image may have it masked",
				Spec:   &resource.Symlink{Path: resource.UnitDir + "/" + unit, Target: vendorUnits + "/" + unit},
			})
		}
		link := &resource.Symlink{Path: resource.UnitDir + "/timers.target.wants/" + t.Timer, Target: vendorUnits + "/" + t.Timer}
		out.add(resource.Resource{Phase: phase, Reason: "starts at boot", Spec: link})
		out.add(resource.Resource{
			Phase: phase,
			// A timer that has missed its time starts its service at once, which keeps processor and disk busy.
			After:    []resource.ID{resource.IDOf(&resource.Check{Label: kubeletActive})},
			ExitCode: exitcode.UnitStartFailed,
			Reason:   "the contract wants updates",
			Spec:     &resource.Unit{Unit: t.Timer},
		})
		out.askedBy(updatesPath)
		out.repeatedBy(link)
	}
}

func planUpdaterOff(unit string, state resource.InactiveState, phase resource.Phase, reason string, out *output) {
	out.add(resource.Resource{
		Phase:    phase,
		ExitCode: exitcode.UnitStartFailed,
		Reason:   reason,
		Spec:     &resource.UnitState{Unit: unit, State: state},
	})
	out.askedBy(updatesPath)
}
