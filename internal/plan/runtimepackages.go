package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// runtimePackages brings the container runtime that the contract names a place of (AKS: installStandaloneContainerd, ensureRunc).
// The image's own stays where it is: it belongs to the image's package manager. containerd's unit and its configuration lead to
// what was brought.
var runtimePackages = concern{
	name:  "container runtime's packages",
	reads: []string{artifactOf(containerdName), artifactOf(runcName)},
	plan:  planRuntimePackages,
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
		out.Fatal(nodeconfig.Invalid, at, "%s", reason)
	}
}
