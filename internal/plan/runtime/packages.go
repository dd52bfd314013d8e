package runtime

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// runtimePackages downloads the container runtime if the contract has its URL (AKS: installStandaloneContainerd, ensureRunc).
// The image's own programs stay: they belong to the image's package manager. containerd's unit and configuration use the
// downloaded ones.
var runtimePackages = concern.Concern{
	Name:  "container runtime's packages",
	Reads: []string{setting.Artifact(concern.ContainerdName), setting.Artifact(concern.RuncName)},
	Plan:  planRuntimePackages,
}

func planRuntimePackages(in *concern.Input, out *concern.Output) {
	for _, p := range [...]struct {
		brings *resource.Download
		code   int
	}{{in.ContainerdPackage, exitcode.ContainerdDownloadFailed}, {in.RuncPackage, exitcode.RuncDownloadFailed}} {
		if p.brings != nil {
			out.Download(p.code, "the contract brings it in the place of the image's own", p.brings)
		}
	}
	if in.ContainerdPackage != nil {
		checkContainerdRelease(in, out)
	}
}

// checkContainerdRelease requires that a package of containerd shows its main version: containerd does not read a configuration for
// another main version.
func checkContainerdRelease(in *concern.Input, out *concern.Output) {
	artifact := in.Config.Components.Artifacts[concern.ContainerdName]
	said, reason := concern.ReleasesOf(&artifact), ""
	if len(said) == 0 || artifact.Version != "" && concern.ReleaseIn(artifact.Version) == "" {
		reason = "does not say which version of containerd the package is of, and its configuration depends on that; " +
			"name the version, such as 2.0.4, or use a file's name that says it, such as containerd-2.0.4-linux-amd64.tar.gz"
	} else if concern.CRISchemas[concern.MajorOf(said[0])].Major == "" {
		reason = "is of containerd " + said[0] + ", and it is not known how that is configured; use one of version 1 or 2"
	} else {
		for _, other := range said {
			if major := concern.MajorOf(other); major != concern.MajorOf(said[0]) && concern.CRISchemas[major].Major != "" {
				reason = "is of containerd " + said[0] + ", and a name of the package says " + other + "; name the version that the package is of"
			}
		}
	}
	at := setting.ContainerdURL
	if artifact.Version != "" {
		at = setting.ContainerdVersion
	}
	if reason != "" {
		out.Fatal(nodeconfig.Invalid, at, "%s", reason)
	}
}
