package system

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// updates turns the distribution's own updates on or off. If the contract has no setting, they stay as the image has them.
var updates = concern.Concern{
	Name:  "unattended upgrades",
	Reads: []string{"$.system.unattendedUpgrades"},
	Plan:  planUpdates,
}

const updatesPath = "$.system.unattendedUpgrades"

func planUpdates(in *concern.Input, out *concern.Output) {
	wanted := in.Config.System.UnattendedUpgrades
	if wanted == nil {
		return
	}
	u := &in.Distro.Updates
	if !u.Known(*wanted) {
		out.Warn(nodeconfig.NotApplied, updatesPath, "is not applied: it is not known how %s updates itself", concern.SystemName(in))
		return
	}
	text, phase := u.Settings.No, resource.Base
	if *wanted {
		if in.Facts.NoUpdater {
			out.Warn(nodeconfig.NotApplied, updatesPath, "is not applied: the image has no %s; use an image with the updates of its distribution (base.packages in components.yaml)", u.On[0].Timer)
			return
		}
		text = u.Settings.Yes
		if in.Family.Host.UpdatesAtJoin {
			phase = resource.Join
		}
	}
	if u.Settings.File != "" {
		out.File(phase, u.Settings.File, 0o644, []byte(text), concern.Sourced("whether packages are updated by themselves", in.Family.Sources.Updates))
		out.AskedBy(updatesPath)
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
func planUpdatesOn(u *distro.Updates, phase resource.Phase, out *concern.Output) {
	for _, timer := range u.Instead {
		planUpdaterOff(timer, resource.UnitDisabled, phase, "updates are installed, and not only reported", out)
	}
	for _, t := range u.On {
		for _, unit := range []string{t.Service, t.Timer} {
			out.Append(resource.Resource{
				Phase:  phase,
				Reason: "an image may have it masked",
				Spec:   &resource.Symlink{Path: resource.UnitDir + "/" + unit, Target: facts.VendorUnits + "/" + unit},
			})
		}
		link := &resource.Symlink{Path: resource.UnitDir + "/timers.target.wants/" + t.Timer, Target: facts.VendorUnits + "/" + t.Timer}
		out.Append(resource.Resource{Phase: phase, Reason: "starts at boot", Spec: link})
		out.Append(resource.Resource{
			Phase: phase,
			// A timer that has missed its time starts its service at once, which keeps processor and disk busy.
			After:    []resource.ID{resource.IDOf(&resource.Check{Label: concern.KubeletActive})},
			ExitCode: exitcode.UnitStartFailed,
			Reason:   "the contract wants updates",
			Spec:     &resource.Unit{Unit: t.Timer},
		})
		out.AskedBy(updatesPath)
		out.RepeatedBy(link)
	}
}

func planUpdaterOff(unit string, state resource.InactiveState, phase resource.Phase, reason string, out *concern.Output) {
	out.Append(resource.Resource{
		Phase:    phase,
		ExitCode: exitcode.UnitStartFailed,
		Reason:   reason,
		Spec:     &resource.UnitState{Unit: unit, State: state},
	})
	out.AskedBy(updatesPath)
}
