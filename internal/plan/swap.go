package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// swap makes a swap file and takes it into use, now and at each boot, before the kubelet starts.
var swap = concern{
	name:  "swap",
	reads: []string{"$.kubelet.config", "$.kubelet.flags", "$.system.swapMB"},
	plan:  planSwap,
}

const (
	// swapFile is on the disk of the operating system. That is where AKS has it, too, on a machine that has no
	// temporary disk with room for it (as /swapfile); which disk is a temporary one, the facts do not say. It is
	// below /var/lib because a distribution's / may be read-only, as it is for the agent's own unit.
	swapFile = "/var/lib/swapfile"
	// swapUnit is the unit of that name (systemd.unit(5), string escaping for inclusion in unit names).
	swapUnit = "var-lib-swapfile.swap"
	// swapUnitSize is what AKS counts swap in: 1000 KiB.
	swapUnitSize = 1000 << 10
	// largestPage is the largest page of the processors that nodes have (arm64: CONFIG_ARM64_64K_PAGES). A swap file
	// is whole pages.
	largestPage = 64 << 10
)

func planSwap(in *input, out *output) {
	size := int64(in.config.System.SwapMB) * swapUnitSize
	if size <= 0 {
		return
	}
	if in.joins() && failsOnSwap(in.config.Kubelet) {
		out.fatal(nodeconfig.Invalid, "$.system.swapMB", "the kubelet does not start while there is swap; set kubelet.config.failSwapOn to false")
		return
	}
	before := []string{kubeletUnit, profile.AgentUnit, in.family.Agent.Unit}
	slices.Sort(before)
	out.file(resource.Base, resource.UnitDir+"/"+swapUnit, 0o644, unitFile(
		"[Unit]",
		"Description=Swap file",
		"# One that is missing is made by the agent.",
		"ConditionPathExists="+swapFile,
		"After=systemd-remount-fs.service",
		"# The kubelet looks for swap when it starts, and the agent whether it is in use.",
		"Before="+strings.Join(slices.Compact(before), " "),
		"",
		"[Swap]",
		"What="+swapFile,
		"",
		"[Install]",
		"WantedBy=swap.target",
	), "uses the swap file after every boot")
	link := &resource.Symlink{Path: resource.UnitDir + "/swap.target.wants/" + swapUnit, Target: resource.UnitDir + "/" + swapUnit}
	out.add(resource.Resource{Phase: resource.Base, Reason: "starts at boot", Spec: link})
	out.addTo(kernelGroup, resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.SwapFailed,
		Effects: resource.Effects{
			Restarts: []string{kubeletUnit},
			Class:    resource.Restart,
			Why:      "the kubelet looks whether there is swap when it starts",
			Source:   "Kubernetes docs, Swap memory management",
		},
		Reason: "memory that is not in use can be written to the disk of the operating system",
		Spec: &resource.Swap{
			Path: swapFile, Bytes: (size + largestPage - 1) / largestPage * largestPage,
			ExitCodes: map[resource.Cause]int{resource.CauseNoRoom: exitcode.SwapNoRoom},
		},
	})
	out.repeatedBy(link)
}

// failsOnSwap reports whether a kubelet ends when it finds swap, as it does by default (Kubernetes:
// KubeletConfiguration, failSwapOn).
func failsOnSwap(k nodeconfig.Kubelet) bool {
	fails, err := strconv.ParseBool(kubeletSetting(k, "fail-swap-on", "failSwapOn", "true"))
	return fails || err != nil
}
