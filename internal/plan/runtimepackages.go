package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// containerdName and runcName are the artifacts of the container runtime.
const (
	containerdName = "containerd"
	runcName       = "runc"
)

// Where the version of containerd's package is said: by the contract, or by the last name of its URL.
const (
	ContainerdVersionPath = "$.components.artifacts.containerd.version"
	ContainerdURLPath     = "$.components.artifacts.containerd.url"
)

// runtimePackages brings the container runtime that the contract names a place of (AKS: installStandaloneContainerd, ensureRunc).
// The image's own stays where it is: it belongs to the image's package manager. containerd's unit and its configuration lead to
// what was brought.
var runtimePackages = concern{
	name:  "container runtime's packages",
	reads: []string{artifactOf(containerdName), artifactOf(runcName)},
	plan:  planRuntimePackages,
}

// runcShim is between containerd and runc. It is of one release with containerd, which looks for it in PATH first, and beside its
// own program after that (containerd: core/runtime/v2/shim_manager.go, resolveRuntimePath).
const runcShim = "containerd-shim-runc-v2"

// Debian's and RPM's packages have their programs in usr/bin, runc's of Debian in usr/sbin; the archives of containerd's releases have
// them in bin, and a release of runc is the program alone.
var (
	containerdFiles = []resource.Unpacked{
		{Name: containerdName, Members: []string{"usr/bin/containerd", "bin/containerd", "usr/local/bin/containerd"}},
		{Name: runcShim, Members: []string{"usr/bin/" + runcShim, "bin/" + runcShim, "usr/local/bin/" + runcShim}},
		{Name: "ctr", Members: []string{"usr/bin/ctr", "bin/ctr", "usr/local/bin/ctr"}, Optional: true},
	}
	runcFiles = []resource.Unpacked{
		{Name: runcName, Members: []string{"usr/bin/runc", "usr/sbin/runc", "bin/runc", "usr/local/bin/runc", "usr/local/sbin/runc", "runc", "runc.*"}},
	}
)

// runtimeProgram is where a program of the container runtime is, and what is brought of it in the place of the image's own; nil for
// nothing. Where the image has this version nothing is brought, unless the contract says otherwise.
func (in *input) runtimeProgram(name, own string, files []resource.Unpacked, unpackCode int) (string, *resource.Download) {
	artifact := in.config.Components.Artifacts[name]
	from, version := places(artifact), ""
	if said := releasesOf(&artifact); len(said) > 0 {
		version = said[0]
	}
	if len(from) == 0 || !artifact.Force && version != "" && hasRelease(in.facts.Components, name, own, version) {
		return own, nil
	}
	codes := map[resource.Cause]int{resource.CauseUnpack: unpackCode}
	if slices.ContainsFunc(from, in.isolatedPlace) {
		maps.Copy(codes, registryCodes)
	}
	d := &resource.Download{Component: name, Version: version, From: from, SHA256: artifact.SHA256, Files: files, ExitCodes: codes}
	return d.Path(name), d
}

// releasesOf are the releases that are said of an artifact: by the contract, by its URL, and by its file's name. The first counts.
func releasesOf(a *nodeconfig.Artifact) (said []string) {
	for _, release := range []string{releaseIn(a.Version), packageRelease(a.URL), packageRelease(a.File)} {
		if release != "" {
			said = append(said, release)
		}
	}
	return said
}

// hasRelease reports whether the image has a program of a release in its own place.
func hasRelease(has []components.Component, name, own, version string) bool {
	for i := range has {
		if c := &has[i]; c.Name == name && c.Path == own && releaseIn(c.Version) == version {
			return true
		}
	}
	return false
}

func planRuntimePackages(in *input, out *output) {
	for _, p := range [...]struct {
		brings *resource.Download
		code   int
	}{{in.containerdPackage, exitcode.ContainerdDownloadFailed}, {in.runcPackage, exitcode.RuncDownloadFailed}} {
		if p.brings != nil {
			out.download(p.code, "the contract brings it in the place of the image's own", p.brings)
		}
	}
	if in.containerdPackage != nil {
		checkContainerdRelease(in, out)
	}
}

// checkContainerdRelease wants to know of which main version a package of containerd is: it reads no configuration that is written
// for another one.
func checkContainerdRelease(in *input, out *output) {
	artifact := in.config.Components.Artifacts[containerdName]
	said, reason := releasesOf(&artifact), ""
	if len(said) == 0 || artifact.Version != "" && releaseIn(artifact.Version) == "" {
		reason = "does not say which version of containerd the package is of, and its configuration depends on that; " +
			"name the version, such as 2.0.4, or use a file's name that says it, such as containerd-2.0.4-linux-amd64.tar.gz"
	} else if criSchemas[majorOf(said[0])].major == "" {
		reason = "is of containerd " + said[0] + ", and it is not known how that is configured; use one of version 1 or 2"
	} else {
		for _, other := range said {
			if major := majorOf(other); major != majorOf(said[0]) && criSchemas[major].major != "" {
				reason = "is of containerd " + said[0] + ", and a name of the package says " + other + "; name the version that the package is of"
			}
		}
	}
	at := ContainerdURLPath
	if artifact.Version != "" {
		at = ContainerdVersionPath
	}
	if reason != "" {
		out.fatal(nodeconfig.Invalid, at, "%s", reason)
	}
}

// majorOf is the main version of a release.
func majorOf(version string) string {
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	return major
}

// containerdMajor is the main version of the containerd that the node runs: of the package that is brought, or else of the installed
// one, or the one that the contract expects, or the current one.
func (in *input) containerdMajor() string {
	artifact := in.config.Components.Artifacts[containerdName]
	versions := []string{in.facts.Version(containerdName), artifact.Version}
	if in.containerdPackage != nil {
		versions = releasesOf(&artifact)
	}
	for _, version := range versions {
		if major := majorOf(version); criSchemas[major].major != "" {
			return major
		}
	}
	return "2"
}
