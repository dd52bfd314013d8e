package doctor

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/versions"
)

// maxKernelFile limits a file of the kernel.
const maxKernelFile = 64 << 10

// kernelChecks are those of the kernel.
var kernelChecks = []Check{
	{
		Name: "cgroups", Asks: "Has the machine the control groups that the kubelet needs?", Look: lookCgroups,
		Causes: []Cause{
			{"version", "the machine has control groups of version 1, and the kubelet needs version 2", "boot with systemd.unified_cgroup_hierarchy=1, or use an image with version 2; until then, set the kubelet's failCgroupV1 to false"},
			{"controller", "a controller that the kubelet needs is not enabled", "remove cgroup_disable= and systemd.unified_cgroup_hierarchy=0 from the kernel's command line, and reboot"},
		},
	},
	{
		Name: "modules", Asks: "Are the kernel modules of the node's plan loaded?", Live: true, Look: lookModules,
		Causes: []Cause{
			{"denied", "a rule of modprobe denies a module that the node needs", "remove the rule from the file that the verdict names, and run slipway-node provision"},
			{"missing", "a module that the node needs is not loaded", "run modprobe -v with the module: the running kernel must have it; a kernel update without a reboot removes modules"},
		},
	},
	{
		Name: "parameters", Asks: "Has the kernel the parameters that the node needs?", Live: true, Needs: []string{"modules"}, Look: lookParameters,
		Causes: []Cause{
			{"plan", "a kernel parameter does not have the value of the node's plan", "run slipway-node provision, and look for the file in /etc/sysctl.d or the program that sets the other value"},
			{"forwarding", "the machine forwards no packets, so pods have no network", "set net.ipv4.ip_forward=1 in a file in /etc/sysctl.d, and run sysctl --system"},
			{"kubelet", "the kubelet has protectKernelDefaults, and does not start with the kernel's values", "set the values in a file in /etc/sysctl.d, and run sysctl --system; or set protectKernelDefaults to false"},
		},
	},
	{
		Name: "swap", Asks: "Does the kubelet start with the machine's swap?", Live: true, Look: lookSwap,
		Causes: []Cause{
			{"swap", "the machine swaps, and the kubelet does not start on such a machine", "run swapoff -a and remove the swap from /etc/fstab; or set the kubelet's failSwapOn to false"},
		},
	},
}

// controllers are those that every kubelet needs (k8s.io/kubernetes pkg/kubelet/cm/container_manager_linux.go, validateSystemRequirements).
var controllers = []string{"cpu", "cpuset", "memory"}

func lookCgroups(_ context.Context, p *Patient) *Finding {
	switch f := p.Facts(); f.CgroupVersion {
	case 1:
		fails := p.Kubelet().Bool("$.failCgroupV1", "fail-cgroupv1", slices.ContainsFunc(f.Components, kubeletNeedsV2))
		if fails {
			return wrong("version", "the machine has control groups of version 1, and its kubelet starts only with version 2")
		}
		return fine("the machine has control groups of version 1")
	case 2:
	default:
		if p.Directory {
			return skipped("a directory shows only files")
		}
		return unknown("/sys/fs/cgroup shows no control groups")
	}
	content, err := p.Machine.ReadFile("/sys/fs/cgroup/cgroup.controllers", maxKernelFile)
	if err != nil {
		return unknownFor(err)
	}
	enabled := strings.Fields(string(content))
	for _, c := range controllers {
		if !slices.Contains(enabled, c) {
			return wrong("controller", "the kernel does not have the controller %s enabled: /sys/fs/cgroup/cgroup.controllers has only %s", c, strings.Join(enabled, " "))
		}
	}
	return fine("the machine has control groups of version 2, with %s", strings.Join(controllers, ", "))
}

func lookModules(_ context.Context, p *Patient) *Finding {
	planned, err := p.Planned()
	if err != nil {
		return unknownFor(err)
	}
	if planned == nil {
		return notSlipways()
	}
	f := fine("the modules of generation %d are loaded", planned.Generation)
	for _, res := range planned.Plan.Resources {
		module, ok := res.Spec.(*resource.Module)
		if !ok {
			continue
		}
		loaded, err := p.Machine.ModuleLoaded(module.Module)
		if err != nil {
			return unknownFor(err)
		}
		if loaded {
			continue
		}
		f.with("module "+module.Module, "not loaded")
		if at := denying(p.Machine, module.Module); at != "" && f.Cause != "denied" {
			f.wrong("denied", "the module %s of the node's plan is not loaded, and %s denies it", module.Module, at)
		} else if f.State != Wrong {
			f.wrong("missing", "the module %s of the node's plan is not loaded", module.Module)
		}
	}
	return f
}

const (
	// maxRules limits a file with rules of modprobe, and maxRuleFiles their number.
	maxRules, maxRuleFiles = 256 << 10, 256
)

// denying is the file that denies a module (modprobe.d(5)), or "".
func denying(files Files, module string) string {
	for _, dir := range []string{facts.ModprobeDir, "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"} {
		names, _ := files.ReadDir(dir)
		for _, name := range names[:min(len(names), maxRuleFiles)] {
			if !strings.HasSuffix(name, ".conf") {
				continue
			}
			content, err := files.ReadLinked(dir+"/"+name, maxRules)
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(content)) {
				if !strings.HasPrefix(line, "#") && facts.Denies(line) == strings.ReplaceAll(module, "-", "_") {
					return dir + "/" + name
				}
			}
		}
	}
	return ""
}

// protected are the parameters that a kubelet with protectKernelDefaults requires (k8s.io/kubernetes
// pkg/util/sysctl, and pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables).
var protected = []resource.Sysctl{
	{Key: "vm.overcommit_memory", Value: "1"}, {Key: "vm.panic_on_oom", Value: "0"}, {Key: "kernel.panic", Value: "10"},
	{Key: "kernel.panic_on_oops", Value: "1"}, {Key: "kernel.keys.root_maxkeys", Value: "1000000"}, {Key: "kernel.keys.root_maxbytes", Value: "25000000"},
}

func lookParameters(_ context.Context, p *Patient) *Finding {
	planned, err := p.Planned()
	if err != nil {
		return unknownFor(err)
	}
	f := fine("the kernel's parameters are as the node needs them")
	differs := func(parameter *resource.Sysctl, cause, because string) {
		value, err := p.Machine.Sysctl(parameter.Key)
		switch {
		case errors.Is(err, fs.ErrNotExist) && parameter.Optional:
			return
		case err != nil:
			value = "unknown: " + err.Error()
		case value == strings.Join(strings.Fields(parameter.Value), " "):
			return
		}
		f.with(parameter.Key, value+", want "+parameter.Value)
		if f.State != Wrong {
			f.wrong(cause, "%s is %s, and %s %s", parameter.Key, value, because, parameter.Value)
		}
	}
	if planned != nil {
		for _, res := range planned.Plan.Resources {
			if parameter, ok := res.Spec.(*resource.Sysctl); ok {
				differs(parameter, "plan", "the node's plan has")
			}
		}
	}
	if k := p.Kubelet(); k.Bool("$.protectKernelDefaults", "protect-kernel-defaults", false) {
		for _, parameter := range protected {
			differs(&parameter, "kubelet", "the kubelet with protectKernelDefaults requires")
		}
	}
	if f.State == Fine && p.Kubelet().Origin != "" {
		for _, parameter := range []resource.Sysctl{{Key: "net.ipv4.ip_forward", Value: "1"}, {Key: "net.ipv6.conf.all.forwarding", Value: "1", Optional: true}} {
			if value, err := p.Machine.Sysctl(parameter.Key); err == nil && value == parameter.Value {
				return f
			}
		}
		return wrong("forwarding", "the machine forwards no packets between pods and network: net.ipv4.ip_forward is 0")
	}
	return f
}

func lookSwap(_ context.Context, p *Patient) *Finding {
	content, err := p.Machine.ReadFile("/proc/swaps", maxKernelFile)
	if errors.Is(err, fs.ErrNotExist) {
		return fine("the kernel has no swap")
	}
	if err != nil {
		return unknownFor(err)
	}
	var used []string
	for i, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		if columns := strings.Fields(line); i > 0 && len(columns) > 0 { // the first line has titles
			used = append(used, columns[0])
		}
	}
	switch fails := p.Kubelet().Bool("$.failSwapOn", "fail-swap-on", true); {
	case len(used) == 0:
		return fine("the machine does not swap")
	case p.Kubelet().Origin == "":
		return fine("the machine swaps to %s, and has no kubelet", strings.Join(used, ", "))
	case !fails:
		return fine("the machine swaps to %s, which the kubelet's failSwapOn allows", strings.Join(used, ", "))
	}
	return wrong("swap", "the machine swaps to %s, and its kubelet does not start on such a machine (failSwapOn)", strings.Join(used, ", "))
}

// kubeletNeedsV2 reports whether a component is a kubelet that needs control groups of version 2.
func kubeletNeedsV2(c components.Component) bool {
	return c.Name == "kubelet" && versions.AtLeast(c.Version, int(concern.CgroupV2Needed))
}
