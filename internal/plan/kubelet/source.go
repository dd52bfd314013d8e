package kubelet

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
)

// kubeletOrigin is where the node's kubelet comes from.
type kubeletOrigin struct {
	// installed is the path of the image's program with the wanted version, or "".
	installed string
	// packages are the image's packages of it.
	packages []string
	// archive are places of Kubernetes' programs in one archive, and registry those of each alone.
	archive  []string
	registry bool
}

// brings reports whether it is brought from somewhere.
func (s *kubeletOrigin) brings() bool {
	return s.installed == "" && (s.registry || len(s.packages)+len(s.archive) > 0)
}

// kubeletSource decides it, in AKS's order: the image's own of this version, its packages, the contract's URL, the registry (AKS:
// installKubeletKubectl). A contract that forces its place has that alone.
func kubeletSource(in *concern.Input) kubeletOrigin {
	var s kubeletOrigin
	version := in.Config.Cluster.KubernetesVersion
	if version == "" || in.Snapped() || in.TakesInstalled {
		return s
	}
	artifact := in.Config.Components.Artifacts[concern.KubernetesName]
	if path, ok := in.Facts.Installed("kubelet", version); ok && linkable(path) {
		s.installed = path
	}
	s.archive = concern.Places(artifact)
	switch {
	case artifact.Force:
		s.installed = ""
		return s
	case artifact.File != "" && s.installed != "" && s.installed != in.Family.Paths.Kubelet:
		// Before the image's own comes the file, if it is there.
		s.archive = slices.Insert(s.archive, 1, s.installed)
		s.installed = ""
		return s
	}
	s.packages = packagesFor(in, "kubelet", version)
	s.registry = in.Config.Components.Registry != "" && in.Family.Components.RegistryPackages != ""
	return s
}

// linkable is a path that a link can lead to.
func linkable(target string) bool { return path.IsAbs(target) && path.Clean(target) == target }

// osVersion is how an artifact of an isolated cluster's registry names the operating system that it is for.
func osVersion(in *concern.Input) string {
	return strings.TrimSpace(in.Facts.OS.ID + " " + in.Facts.OS.VersionID)
}

// packagesFor are the image's packages of a component in a version, the newest build first, by their paths: NAME_VERSION-BUILD_ARCH.deb,
// NAME-VERSION-BUILD.ARCH.rpm.
func packagesFor(in *concern.Input, name, version string) []string {
	var found []string
	for _, p := range in.Facts.Packages {
		base := path.Base(p)
		var rest string
		var ok bool
		switch path.Ext(base) {
		case ".deb":
			if rest, ok = strings.CutPrefix(base, name+"_"); ok {
				rest, ok = strings.CutSuffix(rest, "_"+in.Facts.Architecture+".deb")
			}
		case ".rpm":
			if rest, ok = strings.CutPrefix(base, name+"-"); ok {
				rest, ok = strings.CutSuffix(rest, "."+rpmArchitectures[in.Facts.Architecture]+".rpm")
			}
		}
		build, matches := strings.CutPrefix(rest, version)
		if ok && matches && (build == "" || strings.ContainsAny(build[:1], ".-~+")) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return concern.ComparePackages(path.Base(b), path.Base(a)) })
	return found
}

// rpmArchitectures are what packages of RPM call Go's architectures.
var rpmArchitectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}
