package kubelet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Needed are the components that every node has, and that facts know to be missing where they do not list them.
var Needed = []string{"containerd", "kubelet"}

// artifactComponents are the components by the artifacts that bring them, where the names differ.
var artifactComponents = map[string]string{"kubernetes": "kubelet", "bootstrap-client": "aks-secure-tls-bootstrap-client"}

// installed compares the contract's versions with the machine's. The contract does not change the version of a component, except a
// kubelet of which the image holds several. With another version than the installed one, the node would differ from the
// contract, and everything that depends on the version would be planned for a kubelet that is not installed.
var installed = concern.Concern{
	Name:  "installed components",
	Reads: []string{"$.components.artifacts.*.version", setting.Artifact(concern.KubernetesName), setting.ComponentsRegistry},
	Plan:  planInstalled,
}

func planInstalled(in *concern.Input, out *concern.Output) {
	if in.TakesInstalled && in.Config.Cluster.KubernetesVersion == "" && in.Joins() {
		planNoVersion(in, out)
	}
	planMinor(in, out)
	if in.Prepares {
		wantPrograms(in, out)
	}
	if len(in.Facts.Components) == 0 {
		return // no facts
	}
	source := kubeletSource(in)
	if version := in.Config.Cluster.KubernetesVersion; version != "" && !source.brings() {
		wantInstalled(in, out, "kubelet", version, setting.KubernetesVersion)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Config.Components.Artifacts)) {
		artifact := in.Config.Components.Artifacts[name]
		if slices.Contains(brought, name) && len(concern.Places(artifact)) > 0 {
			continue // it is not looked for
		}
		if version := artifact.Version; version != "" {
			component := name
			if other, ok := artifactComponents[name]; ok {
				component = other
			}
			wantInstalled(in, out, component, strings.TrimPrefix(version, "v"), document.FieldPath("$.components.artifacts", name)+".version")
		}
	}
}

// wantPrograms wants an image to have the programs of a node at the end of its build. A machine from an image without them fails
// at its first boot, when its builder no longer looks.
func wantPrograms(in *concern.Input, out *concern.Output) {
	source := kubeletSource(in)
	for _, program := range []struct {
		name, at, artifact string
		isBrought          bool
	}{
		{"kubelet", setting.KubernetesVersion, concern.KubernetesName, source.brings()},
		{"containerd", setting.ContainerdVersion, concern.ContainerdName, in.ContainerdPackage != nil},
	} {
		isListed := slices.ContainsFunc(in.Facts.Components, func(c components.Component) bool { return c.Name == program.name })
		switch {
		case isListed || program.isBrought:
		case program.name == "kubelet" && in.TakesInstalled && len(concern.Places(in.Config.Components.Artifacts[concern.KubernetesName])) > 0:
			out.Fatal(nodeconfig.NotInstalled, program.at, "the image has no kubelet, and %s brings one only in a version that is named: name it here, or install a kubelet before this step",
				problem.Setting(setting.Artifact(concern.KubernetesName)))
		default:
			out.Fatal(nodeconfig.NotInstalled, program.at, "the image has no %s: install it before this step, or name in %s where to download it from",
				program.name, problem.Setting(setting.Artifact(program.artifact)))
		}
	}
}

// planNoVersion reports that the version of the installed kubelet is not known. On a workstation, without facts, it need not be.
func planNoVersion(in *concern.Input, out *concern.Output) {
	var have []string
	for _, c := range in.Facts.Components {
		if c.Name == "kubelet" && c.Version != "" {
			have = append(have, c.Version)
		}
	}
	slices.Sort(have)
	switch {
	case in.HasNoFacts() && in.Minor != concern.Newest:
		out.Warn(nodeconfig.NotInstalled, setting.KubernetesVersion, "no facts say which kubelet is installed; this is the plan for Kubernetes 1.%d, which the image is to have", in.Minor)
	case in.HasNoFacts():
		out.Warn(nodeconfig.NotInstalled, setting.KubernetesVersion, "no facts say which kubelet is installed; this is the plan for Kubernetes 1.%d, the newest that is known",
			kubeletapi.NewestSupported)
	case len(have) > 1:
		out.Fatal(nodeconfig.NotInstalled, setting.KubernetesVersion, "the machine has several kubelets (%s), and none at %s; name the version that is wanted",
			strings.Join(slices.Compact(have), ", "), in.Family.Paths.Kubelet)
	default:
		out.Fatal(nodeconfig.NotInstalled, setting.KubernetesVersion, "it is not known which version the machine's kubelet has; name it, or say it in %s of the image", components.Path)
	}
}

// planMinor warns of a kubelet of another minor version than the contract's author expects. The node is planned for the installed
// one. A kubelet may be older than its API server, but not newer (Kubernetes: version skew policy).
func planMinor(in *concern.Input, out *concern.Output) {
	wanted, version := in.Config.Cluster.KubernetesMinor, in.Config.Cluster.KubernetesVersion
	if wanted == "" || version == "" || concern.MinorOf(wanted) == in.Minor {
		return
	}
	out.Warn(nodeconfig.NotInstalled, setting.KubernetesMinor, "wants Kubernetes %s, and the kubelet is of %s; the node is planned for that one: use an image of the wanted version, or name the version that is there",
		wanted, version)
}

// wantInstalled wants a component to be installed in a version.
func wantInstalled(in *concern.Input, out *concern.Output, component, wanted, at string) {
	var have []string
	for _, c := range in.Facts.Components {
		if c.Name == component {
			if sameVersion(component, c.Version, wanted) {
				return
			}
			have = append(have, c.Version)
		}
	}
	reason := fmt.Sprintf("wants %s %s, and the machine has none; use an image that has it", component, wanted)
	switch {
	case len(have) > 0:
		slices.Sort(have)
		reason = fmt.Sprintf("wants %s %s, and the machine has %s; use an image with the wanted version, or name the version that is there",
			component, wanted, strings.Join(slices.Compact(have), ", "))
	case in.Prepares, !slices.Contains(Needed, component):
		return // wantPrograms reports it, or not every image lists it
	}
	out.Fatal(nodeconfig.NotInstalled, at, "%s", reason)
}

// sameVersion reports whether an installed version may be the wanted one. For some components only the main version is known, for
// others no version. A distribution's suffix is compared only for the kubelet: there it is part of a release's
// name.
func sameVersion(component, have, wanted string) bool {
	have = strings.TrimPrefix(have, "v")
	switch {
	case component != "kubelet":
		have, wanted = have[:untilSuffix(have)], wanted[:untilSuffix(wanted)]
	case wanted == concern.Release(wanted):
		have = concern.Release(have) // without the builder's suffix
	}
	if !strings.Contains(have, ".") { // the main version alone, or nothing
		major, _, _ := strings.Cut(wanted, ".")
		return have == "" || have == major
	}
	return have == wanted
}

func untilSuffix(version string) int {
	if i := strings.IndexAny(version, "-+~"); i >= 0 {
		return i
	}
	return len(version)
}

// supported warns of a version that no test covers. The node is planned like the nearest known version.
var supported = concern.Concern{
	Name: "supported versions",
	Plan: planSupported,
}

func planSupported(in *concern.Input, out *concern.Output) {
	if in.Minor == concern.Newest || in.Minor >= kubeletapi.OldestSupported && in.Minor <= kubeletapi.NewestSupported {
		return
	}
	out.Warn(nodeconfig.Invalid, setting.KubernetesVersion, "this version of Slipway supports Kubernetes 1.%d to 1.%d; the node is planned like one of the nearest",
		kubeletapi.OldestSupported, kubeletapi.NewestSupported)
}

// brought are the artifacts that are downloaded where the contract names a place.
var brought = []string{concern.AzureCNIName, concern.ClientName, concern.ContainerdName, concern.KubernetesName, concern.ProviderName, concern.RuncName}
