package system

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// modprobeTimeout bounds a program that unloads modules or reads the few files of modprobe.d.
const modprobeTimeout = resource.Duration(30 * time.Second)

// planDeniedModules prevents loading kernel modules through which programs could attack the host, if the kernel is
// older than the fix. If it has the fix, planDeniedModules removes the rules of the image's files.
func planDeniedModules(in *concern.Input, out *concern.Output) {
	if _, fixed := kernelFix(in); fixed {
		allowModules(in, out)
	}
	var files []string
	for _, module := range denied(in) {
		if i := slices.Index(in.Config.System.Modules, module); i >= 0 {
			out.Warn(nodeconfig.Dropped, fmt.Sprintf("$.system.modules[%d]", i),
				"is not loaded: the machine's kernel is older than the fix of a vulnerability in this module; use an image with a newer kernel")
		}
		// The command runs instead of loading the module, by whatever name the load requests it (modprobe.d(5), install).
		file := facts.ModprobeDir + "/disable-" + module + ".conf"
		files = append(files, file)
		out.File(resource.Base, file, 0o644,
			[]byte("install "+module+" /bin/false\nblacklist "+module+"\n"),
			concern.Sourced("the kernel is older than the fix of a vulnerability in this module", in.Family.Sources.DeniedModules))
	}
	if len(files) == 0 {
		return
	}
	// A file has no effect on a module that is loaded already, by the image or by an earlier service. A module that is in use
	// stays until the next boot (modprobe(8)).
	out.Append(resource.Resource{
		Phase:  resource.Base,
		Reason: "a denied module that is loaded already is unloaded, if it is not in use",
		Spec: &resource.Command{
			Label: "unload-denied-modules", Argv: slices.Concat([]string{"modprobe", "-r", "-q"}, denied(in)),
			Timeout: modprobeTimeout, Inputs: files, Optional: true,
		},
	})
}

// allowModules takes the family's modules out of the files that deny them on the machine: those of AKS's scripts, and the
// image's for all that a guide to hardening names. The lines stay as comments, so that it can be seen what was there.
func allowModules(in *concern.Input, out *concern.Output) {
	var stale []string
	for _, module := range in.Family.Host.DeniedModules {
		if slices.Contains(in.Facts.DeniedModules, module) {
			stale = append(stale, strings.ReplaceAll(module, "_", "[-_]")) // two spellings of one name (modprobe(8))
		}
	}
	if len(stale) == 0 {
		return
	}
	name := "(" + strings.Join(stale, "|") + ")"
	rule := "^[[:blank:]]*(blacklist[[:blank:]]+" + name + "|install[[:blank:]]+" + name + "[[:blank:]]+[^[:blank:]]*/(false|true))[[:blank:]]*$"
	out.Append(resource.Resource{
		Phase:  resource.Base,
		Reason: concern.Sourced("the kernel has the fix of the vulnerabilities for which the image denies these modules", in.Family.Sources.DeniedModules),
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
func denied(in *concern.Input) []string {
	if listed, fixed := kernelFix(in); !listed || fixed {
		return nil
	}
	return in.Family.Host.DeniedModules
}

// kernelFix reports whether the machine's release has kernels with the vulnerability, and whether its own kernel has the fix.
func kernelFix(in *concern.Input) (listed, fixed bool) {
	return in.Distro.Fixed(in.Facts.OS.VersionID, in.Facts.Kernel)
}
