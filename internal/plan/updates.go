package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// updates turn the distribution's own updates on or off. What the contract does not say stays as the image has it.
var updates = concern{
	name:  "unattended upgrades",
	reads: []string{"$.system.unattendedUpgrades"},
	plan:  planUpdates,
}

// updater is how a distribution updates itself.
type updater struct {
	// settings is a file that says whether it does, with the text for yes and for no; empty where the timers alone decide.
	settings, yes, no string
	// timers start it, with their services. Images have them masked.
	timers []updateTimer
	// instead are timers that would only report updates.
	instead []string
}

type updateTimer struct{ timer, service string }

var (
	// aptUpdater is that of apt (APT's daily job: /usr/lib/apt/apt.systemd.daily, APT::Periodic).
	aptUpdater = updater{
		settings: "/etc/apt/apt.conf.d/99periodic",
		yes:      "APT::Periodic::Update-Package-Lists \"1\";\nAPT::Periodic::Unattended-Upgrade \"1\";\n",
		no:       "APT::Periodic::Update-Package-Lists \"0\";\nAPT::Periodic::Unattended-Upgrade \"0\";\n",
		timers:   []updateTimer{{"apt-daily.timer", "apt-daily.service"}, {"apt-daily-upgrade.timer", "apt-daily-upgrade.service"}},
	}
	// dnfUpdater is that of dnf (DNF Automatic).
	dnfUpdater = updater{
		timers:  []updateTimer{{"dnf-automatic-install.timer", "dnf-automatic-install.service"}},
		instead: []string{"dnf-automatic-notifyonly.timer"},
	}
)

// updaters are those that are known, by the distribution's ID (os-release(5)).
var updaters = map[string]updater{
	"azurelinux": dnfUpdater,
	"debian":     aptUpdater,
	"mariner":    dnfUpdater,
	"ubuntu":     aptUpdater,
}

const updatesPath = "$.system.unattendedUpgrades"

func planUpdates(in *input, out *output) {
	wanted := in.config.System.UnattendedUpgrades
	if wanted == nil {
		return
	}
	u, known := updaters[in.facts.OS.ID]
	if !known {
		out.warn(nodeconfig.NotApplied, updatesPath, "is not applied: it is not known how %s updates itself", systemName(in))
		return
	}
	text, phase := u.no, resource.Base
	if *wanted {
		text = u.yes
		if in.family.Host.UpdatesAtJoin {
			phase = resource.Join
		}
	}
	if u.settings != "" {
		out.file(phase, u.settings, 0o644, []byte(text), sourced("whether packages are updated by themselves", in.family.Sources.Updates))
		out.askedBy(updatesPath)
	}
	if *wanted {
		planUpdatesOn(u, phase, out)
		return
	}
	for _, t := range u.timers {
		planTimerOff(t.timer, phase, "the contract wants no updates", out)
	}
}

// planUpdatesOn has the timers run, now and from every boot on. A link to the unit takes the place of its mask, which is a
// link to nothing (systemctl(1), mask).
func planUpdatesOn(u updater, phase resource.Phase, out *output) {
	for _, timer := range u.instead {
		planTimerOff(timer, phase, "updates are installed, and not only reported", out)
	}
	for _, t := range u.timers {
		for _, unit := range []string{t.service, t.timer} {
			out.add(resource.Resource{
				Phase:  phase,
				Reason: "an image may have it masked",
				Spec:   &resource.Symlink{Path: resource.UnitDir + "/" + unit, Target: vendorUnits + "/" + unit},
			})
		}
		link := &resource.Symlink{Path: resource.UnitDir + "/timers.target.wants/" + t.timer, Target: vendorUnits + "/" + t.timer}
		out.add(resource.Resource{Phase: phase, Reason: "starts at boot", Spec: link})
		out.add(resource.Resource{
			Phase: phase,
			// A timer that has missed its time starts its service at once, which keeps processor and disk busy.
			After:    []resource.ID{resource.IDOf(&resource.Check{Label: kubeletActive})},
			ExitCode: exitcode.UnitStartFailed,
			Reason:   "the contract wants updates",
			Spec:     &resource.Unit{Unit: t.timer},
		})
		out.askedBy(updatesPath)
		out.repeatedBy(link)
	}
}

func planTimerOff(timer string, phase resource.Phase, reason string, out *output) {
	out.add(resource.Resource{
		Phase:    phase,
		ExitCode: exitcode.UnitStartFailed,
		Reason:   reason,
		Spec:     &resource.UnitState{Unit: timer, State: resource.UnitDisabled},
	})
	out.askedBy(updatesPath)
}
