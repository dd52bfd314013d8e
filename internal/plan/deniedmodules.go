package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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

// modprobeTimeout bounds a program that unloads modules or reads the few files of modprobe.d.
const modprobeTimeout = resource.Duration(30 * time.Second)

// planDeniedModules keeps modules of the kernel from being loaded that programs could attack the host through, where the
// kernel is older than the fix. Where it has the fix, the rules of the image's files are taken out.
func planDeniedModules(in *input, out *output) {
	if hasFix(in.facts) {
		allowModules(in, out)
	}
	var files []string
	for _, module := range denied(in) {
		if i := slices.Index(in.config.System.Modules, module); i >= 0 {
			out.warn(nodeconfig.Dropped, fmt.Sprintf("$.system.modules[%d]", i),
				"is not loaded: the machine's kernel is older than the fix of a vulnerability in this module; use an image with a newer kernel")
		}
		// The command is run in place of loading, by whatever name the module is asked for (modprobe.d(5), install).
		file := facts.ModprobeDir + "/disable-" + module + ".conf"
		files = append(files, file)
		out.file(resource.Base, file, 0o644,
			[]byte("install "+module+" /bin/false\nblacklist "+module+"\n"),
			sourced("the kernel is older than the fix of a vulnerability in this module", in.family.Sources.DeniedModules))
	}
	if len(files) == 0 {
		return
	}
	// A file does nothing about a module that is loaded already, by the image or by whoever was quicker. One that is in use
	// stays until the next boot (modprobe(8)).
	out.add(resource.Resource{
		Phase:  resource.Base,
		Reason: "a denied module that is loaded already is unloaded, if nobody uses it",
		Spec: &resource.Command{
			Label: "unload-denied-modules", Argv: slices.Concat([]string{"modprobe", "-r", "-q"}, denied(in)),
			Timeout: modprobeTimeout, Inputs: files, Optional: true,
		},
	})
}

// allowModules takes the family's modules out of the files that deny them on the machine: those of AKS's scripts, and the
// image's for all that a guide to hardening names. The lines stay as comments, so that it can be seen what was there.
func allowModules(in *input, out *output) {
	var stale []string
	for _, module := range in.family.Host.DeniedModules {
		if slices.Contains(in.facts.DeniedModules, module) {
			stale = append(stale, strings.ReplaceAll(module, "_", "[-_]")) // two spellings of one name (modprobe(8))
		}
	}
	if len(stale) == 0 {
		return
	}
	name := "(" + strings.Join(stale, "|") + ")"
	rule := "^[[:blank:]]*(blacklist[[:blank:]]+" + name + "|install[[:blank:]]+" + name + "[[:blank:]]+[^[:blank:]]*/(false|true))[[:blank:]]*$"
	out.add(resource.Resource{
		Phase:  resource.Base,
		Reason: sourced("the kernel has the fix of the vulnerabilities for which the image denies these modules", in.family.Sources.DeniedModules),
		Spec: &resource.Command{
			Label: "allow-fixed-modules",
			Argv: []string{
				"find", facts.ModprobeDir, "-type", "f", "-name", "*.conf", "-exec", "grep", "-qE", rule, "{}", ";",
				"-exec", "sed", "-i", "-E", "s~" + rule + "~" + facts.FixedRule + "&~", "{}", ";",
			},
			Timeout: modprobeTimeout,
			Done: &resource.Printed{
				Argv:  []string{"find", facts.ModprobeDir, "-maxdepth", "0", "!", "-exec", "grep", "-rqE", "--include=*.conf", rule, "{}", ";", "-printf", "no rule\\n"},
				Lines: []string{"no rule"},
			},
			Optional: true, // the node works without these modules
		},
	})
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
	listed, fixed := fixOf(machine)
	return listed && !fixed
}

// hasFix reports whether the machine's release is vulnerable with another kernel.
func hasFix(machine facts.Facts) bool {
	_, fixed := fixOf(machine)
	return fixed
}

// fixOf reports whether the machine's release is in the table, and its kernel has the fix.
func fixOf(machine facts.Facts) (listed, fixed bool) {
	system := machine.OS
	at := slices.IndexFunc(vulnerableReleases, func(v vulnerable) bool {
		return v.id == system.ID && (v.version == "" || v.version == system.VersionID) && (v.variant == "" || v.variant == system.VariantID)
	})
	return at >= 0, at >= 0 && slices.ContainsFunc(vulnerableReleases[at].fixes, func(fix kernelFix) bool {
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
