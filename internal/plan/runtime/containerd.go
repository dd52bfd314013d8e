package runtime

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// containerd plans the container runtime: its configuration, its unit and its start.
var containerd = concern.Concern{
	Name: "containerd",
	Reads: []string{
		setting.AWSFIPS,
		setting.AWSRegion, // with join.aws, for the sandbox image's registry
		"$.components.artifacts.*.version",
		setting.Artifact(concern.ContainerdName),
		setting.Artifact(concern.RuncName),
		"$.join.aws",
		"$.network.plugin",
		"$.network.policy",
		"$.runtime.cgroupDriver",
		runtimeSpecPath,
		"$.runtime.containerd.config",
		"$.runtime.containerd.dataDir",
		"$.runtime.containerd.limits",
		"$.runtime.containerd.metricsAddress",
		"$.runtime.containerd.registryHeaders",
		"$.runtime.lazyPull",
		"$.runtime.sandboxImage",
		setting.Sandboxes,
		setting.GPU + ".vendor",
	},
	Plan: planContainerd,
}

func planContainerd(in *concern.Input, out *concern.Output) {
	c := in.Config.Runtime.Containerd
	checkRegistryRegion(in, out)
	checkSandboxes(in, out)
	checkHeldSandbox(in, out)
	planSOCI(in, out)
	out.Directory(concern.RegistriesDir, 0o755, "registries are configured here, one directory for each")
	out.Guarded(secretHeaders(c.RegistryHeaders) || !c.Config.IsZero(), resource.Base, concern.ContainerdConfig, 0o644,
		containerdConfig(in, out).Bytes(), "containerd's configuration", concern.ContainerdUnit)
	planRuntimeSpec(in, out)
	planContainerdUnit(in, out)
	out.File(resource.Base, concern.ContainerdDropIns+in.Family.Runtime.Forward.File, in.Family.Runtime.Forward.Mode, unitfile.File(
		unitfile.Section("Service"),
		unitfile.Comment("Pods are forwarded even where a distribution's firewall would not; a host without iptables has none."),
		unitfile.Set("ExecStartPost", "-iptables -w -P FORWARD ACCEPT"),
		unitfile.Set("LimitNOFILE", "1048576"),
	), concern.Sourced("forwards pods' packets", in.Family.Runtime.Forward.Source), concern.ContainerdUnit)
	if len(c.Limits) > 0 {
		lines := []unitfile.Line{unitfile.Section("Service")}
		for _, name := range slices.Sorted(maps.Keys(c.Limits)) {
			lines = append(lines, unitfile.Set("Limit"+unitfile.Quote(name), unitfile.Quote(c.Limits[name])))
		}
		out.File(resource.Base, concern.ContainerdDropIns+in.Family.Runtime.Limits.File, in.Family.Runtime.Limits.Mode, unitfile.File(lines...),
			concern.Sourced("the contract's limits", in.Family.Runtime.Limits.Source), concern.ContainerdUnit)
	}
	out.Enable(resource.Base, concern.ContainerdUnit)
	out.Append(resource.Resource{
		Phase:    resource.Base,
		Requires: []resource.ID{resource.IDOf(&resource.Module{Module: "overlay"}), concern.ImageGroup.All(), concern.RuntimeGroup.All(), concern.TrustGroup.All()},
		ExitCode: exitcode.UnitStartFailed,
		Reason:   "the container runtime runs",
		Spec:     &resource.Unit{Unit: concern.ContainerdUnit},
	})
	out.RepeatedBy(concern.Wants(concern.ContainerdUnit))
}

// systemPath is where systemd has programs looked for (systemd.exec(5), PATH).
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// planContainerdUnit writes containerd's whole unit. What was brought comes first where it looks for programs: it finds its shim
// there, and NVIDIA's wrapper finds runc. A pod that runs has the shim and runc of the package that it was started with, which is
// kept only until the second one after it has come.
func planContainerdUnit(in *concern.Input, out *concern.Output) {
	searched, effects := systemPath, resource.Restarting(concern.ContainerdUnit)
	for _, brings := range [...]*resource.Download{in.RuncPackage, in.ContainerdPackage} {
		if brings != nil {
			searched = brings.Store() + ":" + searched
		}
	}
	var environment []unitfile.Line
	if searched != systemPath {
		environment = []unitfile.Line{unitfile.Set("Environment", "PATH="+unitfile.Quote(searched))}
		effects.Class = resource.Drain
		effects.Why = "pods that run keep the shim and runc that they were started with, which are removed when other packages have come"
		effects.Source = "containerd: core/runtime/v2/shim_load.go, shim-binary-path"
	}
	out.Append(resource.Resource{
		Phase: resource.Base, Effects: effects, Reason: "containerd's whole unit",
		Spec: &resource.File{Path: resource.UnitDir + "/" + concern.ContainerdUnit, Mode: 0o644, Content: containerdUnitFile(in.Containerd, environment)},
	})
}

// publicHeaders identify the product that sends a request. With these values they hold no credential (AKS node
// contract, containerd configuration: X-Meta-Source-Client).
var publicHeaders = map[string]string{"X-Meta-Source-Client": "azure/aks"}

// secretHeaders reports whether a header of containerd's requests may be a credential.
func secretHeaders(headers map[string]nodeconfig.Secret) bool {
	for name, value := range headers {
		if public, ok := publicHeaders[name]; !ok || value.Reveal() != public {
			return true
		}
	}
	return false
}

// containerdUnitFile is modelled on containerd's own unit: it becomes ready when containerd reports that, and shims survive a
// restart. It does not wait for the network, which containerd needs only when it pulls.
func containerdUnitFile(binary string, environment []unitfile.Line) []byte {
	return unitfile.File(slices.Concat([]unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "containerd container runtime"),
		unitfile.Set("Documentation", "https://containerd.io"),
		unitfile.Comment("It needs the disk and nothing else of the boot."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", "local-fs.target"),
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "notify"),
	}, environment, []unitfile.Line{
		unitfile.Set("ExecStart", unitfile.Quote(binary)),
		unitfile.Set("Restart", "always"),
		unitfile.Set("RestartSec", "5"),
		unitfile.Set("Delegate", "yes"),
		unitfile.Set("KillMode", "process"),
		unitfile.Set("OOMScoreAdjust", "-999"),
		unitfile.Set("LimitNPROC", "infinity"),
		unitfile.Set("LimitCORE", "infinity"),
		unitfile.Set("TasksMax", "infinity"),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", "multi-user.target"),
	})...)
}

// checkRegistryRegion refuses a region without a known registry, if the sandbox image comes from the region's registry.
func checkRegistryRegion(in *concern.Input, out *concern.Output) {
	registry, own := in.Registry()
	switch region := in.Region(); {
	case !own || registry.Account != "":
	case region == "":
		out.Fatal(nodeconfig.Missing, setting.AWSRegion, "is missing: it says which registry has the sandbox image; name it, or %s", problem.Setting("$.runtime.sandboxImage"))
	default:
		out.Fatal(nodeconfig.Invalid, setting.AWSRegion, "has no registry of system images that is known (%q); name the image in %s", region, problem.Setting("$.runtime.sandboxImage"))
	}
}
