package kubelet

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// planKubeletUnit plans the kubelet's unit, with the words of its command line. What differs between nodes is in its environment file
// and its drop-ins, so the unit itself can be baked.
func planKubeletUnit(in *concern.Input, out *concern.Output, exec []unitfile.Text) {
	for _, dir := range in.Family.Paths.Directories() {
		// Below /usr is the image's part, which may be read-only. The kubelet creates the directory of its plug-ins itself, and
		// works without it if it cannot.
		if !strings.HasPrefix(dir, "/usr/") {
			out.Directory(dir, 0o755, "the kubelet expects it")
		}
	}
	kubelet := &in.Family.Kubelet
	lines := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Kubelet"),
		unitfile.Set("Documentation", "https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/"),
		unitfile.Set("ConditionPathExists", unitfile.Quote(kubeletProgram(in))),
		unitfile.Comment("It does not wait for the rest of the boot, of which cloud-init can be a part."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", "local-fs.target systemd-modules-load.service systemd-sysctl.service systemd-tmpfiles-setup.service"),
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Set("Wants", concern.ContainerdUnit),
		unitfile.Set("After", concern.ContainerdUnit),
		unitfile.Set("Requires", unitfile.Quote(kubelet.Prepare)),
		unitfile.Set("After", unitfile.Quote(kubelet.Prepare)),
		unitfile.Comment("The agent's unit is ready when it is known that the disk, and what a kubelet has left on it, is this machine's, and"),
		unitfile.Comment("when the network is there as far as the kubelet reads it: not all of it, as network-online.target is."),
		unitfile.Set("After", profile.AgentUnit),
	}
	if in.Snapped() {
		lines = append(lines, unitfile.Comment("Before that, snapd has not set up the image's own snaps."), unitfile.Set("Wants", "snapd.socket"), unitfile.Set("After", "snapd.socket snapd.seeded.service"))
	}
	lines = append(lines, unitfile.Section("Service"))
	out.File(resource.Base, kubeletUnitFile, 0o644, unitfile.File(append(lines, kubeletServiceLines(in, exec)...)...), "the kubelet's whole unit", concern.KubeletUnit)
	// If the kubelet's version is not known yet, it may be one that the watchdog would kill.
	if in.Reached(concern.WatchdogSupported) && in.Minor != concern.Newest && !in.Snapped() {
		out.File(resource.Base, concern.KubeletDropIns+kubelet.Watchdog.File, kubelet.Watchdog.Mode, unitfile.File(unitfile.Section("Service"), unitfile.Set("WatchdogSec", "60s")),
			concern.Sourced("systemd restarts a kubelet that hangs", kubelet.Watchdog.Source), concern.KubeletUnit)
	}
}

// kubeletServiceLines are the section of the unit that starts the kubelet, and what follows it.
func kubeletServiceLines(in *concern.Input, exec []unitfile.Text) []unitfile.Line {
	install := []unitfile.Line{unitfile.Section("Install"), unitfile.Set("WantedBy", "multi-user.target")}
	switch {
	case in.Snapped():
		snap := in.Family.Command.Snap.Name
		return append([]unitfile.Line{
			unitfile.Comment("The kubelet is a snap. This unit gives it its settings and starts it, and a drop-in has the command."),
			unitfile.Set("Type", "oneshot"),
			unitfile.Set("RemainAfterExit", "yes"),
			unitfile.Set("TimeoutStartSec", "180"),
			unitfile.Set("ExecStop", "/usr/bin/snap stop "+unitfile.Quote(snap)),
			unitfile.Set("Restart", "on-failure"),
			unitfile.Set("RestartSec", "2"),
		}, install...)
	case oneLine(in):
		return append([]unitfile.Line{unitfile.Comment("A drop-in has the command."), unitfile.Set("Restart", "always"), unitfile.Set("RestartSec", "2"), unitfile.Set("SuccessExitStatus", "143")}, install...)
	}
	lines := []unitfile.Line{unitfile.Set("EnvironmentFile", unitfile.Quote(in.Family.Paths.KubeletEnv))}
	if in.Agentless && len(in.Referred()) > 0 {
		lines = append(lines, unitfile.Set("EnvironmentFile", profile.NodeEnvironment))
	}
	return append(append(lines,
		unitfile.Command("ExecStart", exec...),
		unitfile.Set("Restart", "always"),
		unitfile.Set("RestartSec", "2"),
		unitfile.Set("SuccessExitStatus", "143"),
	), install...)
}

// kubeletUnitFile is the kubelet's unit.
const kubeletUnitFile = resource.UnitDir + "/" + concern.KubeletUnit

// kubeletProgram is what starts the kubelet.
func kubeletProgram(in *concern.Input) string {
	if in.Snapped() {
		return in.Family.Command.Snap.Program
	}
	return in.Family.Paths.Kubelet
}
