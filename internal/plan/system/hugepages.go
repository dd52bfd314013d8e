package system

import (
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// hugePages sets the kernel's transparent huge pages, now and at each boot.
var hugePages = concern.Concern{
	Name:  "transparent huge pages",
	Reads: []string{"$.system.transparentHugePages"},
	Plan:  planHugePages,
}

const (
	// hugePagesDir has the kernel's settings (Linux: Documentation/admin-guide/mm/transhuge.rst).
	hugePagesDir = "/sys/kernel/mm/transparent_hugepage/"
	// hugePagesFile writes them at each boot, before the kubelet starts. A line of type "w" writes to a file that
	// there is, and makes none (tmpfiles.d(5)).
	hugePagesFile = "/etc/tmpfiles.d/slipway-hugepages.conf"
)

func planHugePages(in *concern.Input, out *concern.Output) {
	pages := in.Config.System.TransparentHugePages
	if len(pages) == 0 {
		return
	}
	var lines []byte
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		lines = fmt.Appendf(lines, "w %s - - - - %s\n", hugePagesDir+name, pages[name])
		out.AppendTo(concern.KernelGroup, resource.Resource{
			Phase:    resource.Base,
			ExitCode: exitcode.SysctlFailed,
			Reason:   "processes get large pages as the contract says",
			Spec:     &resource.Attribute{Path: hugePagesDir + name, Value: pages[name], Optional: true}, // CONFIG_TRANSPARENT_HUGEPAGE
		})
		out.RepeatedBy(&resource.File{Path: hugePagesFile})
	}
	out.File(resource.Base, hugePagesFile, 0o644, lines, "the contract's transparent huge pages, after every boot")
}
