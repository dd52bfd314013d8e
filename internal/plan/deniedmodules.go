package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// vulnerable is a distribution's release whose kernels are vulnerable until they are fixed (AKS: kernel module mitigation).
// What is not in the table is not in scope: it never was vulnerable, or gets its fix with the image.
type vulnerable struct {
	// id, version and variant are those of os-release(5). An empty variant is any.
	id, version, variant string
	// fixes are the kernels with the fix. A flavour that has none is vulnerable in each version.
	fixes []kernelFix
}

// kernelFix is the first kernel of a flavour that is fixed: "5.15.0-1116".
type kernelFix struct{ flavour, from string }

var vulnerableReleases = []vulnerable{
	{id: "azurelinux", variant: "osguard"},
	{id: "mariner", version: "2.0"},
	{id: "ubuntu", version: "20.04"},
	{id: "ubuntu", version: "22.04", fixes: []kernelFix{
		{"azure", "5.15.0-1116"}, {"azure-fde", "5.15.0-1116"}, {"azure-fips", "5.15.0-1116"}, {"generic", "5.15.0-181"},
	}},
	{id: "ubuntu", version: "24.04", fixes: []kernelFix{{"azure", "6.8.0-1058"}, {"generic", "6.8.0-124"}}},
}

// planDeniedModules keeps modules of the kernel from being loaded that programs could attack the host through, where the
// kernel is older than the fix.
func planDeniedModules(in *input, out *output) {
	for _, module := range denied(in) {
		if i := slices.Index(in.config.System.Modules, module); i >= 0 {
			out.warn(nodeconfig.Dropped, fmt.Sprintf("$.system.modules[%d]", i),
				"is not loaded: the machine's kernel is older than the fix of a vulnerability in this module; use an image with a newer kernel")
		}
		// The command is run in place of loading, by whatever name the module is asked for (modprobe.d(5), install).
		out.file(resource.Base, "/etc/modprobe.d/disable-"+module+".conf", 0o644,
			[]byte("install "+module+" /bin/false\nblacklist "+module+"\n"),
			sourced("the kernel is older than the fix of a vulnerability in this module", in.family.Sources.DeniedModules))
	}
}

// denied are the modules that this machine may not load.
func denied(in *input) []string {
	if !isVulnerable(in.facts) {
		return nil
	}
	return in.family.Host.DeniedModules
}

// isVulnerable reports whether the machine's kernel lacks the fix.
func isVulnerable(machine facts.Facts) bool {
	system := machine.OS
	at := slices.IndexFunc(vulnerableReleases, func(v vulnerable) bool {
		return v.id == system.ID && (v.version == "" || v.version == system.VersionID) && (v.variant == "" || v.variant == system.VariantID)
	})
	return at >= 0 && !slices.ContainsFunc(vulnerableReleases[at].fixes, func(fix kernelFix) bool {
		release, found := strings.CutSuffix(machine.Kernel, "-"+fix.flavour)
		return found && compareKernels(release, fix.from) >= 0
	})
}

// compareKernels compares releases of a kernel without their flavours, number by number. Text that is no number is less than
// any.
func compareKernels(a, b string) int {
	numbers := func(release string) []int {
		var all []int
		for part := range strings.FieldsFuncSeq(release, func(r rune) bool { return r == '.' || r == '-' }) {
			n, err := strconv.Atoi(part)
			if err != nil {
				n = -1
			}
			all = append(all, n)
		}
		return all
	}
	return slices.Compare(numbers(a), numbers(b))
}
