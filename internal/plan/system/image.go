package system

import (
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// digestPatience is for the largest program on a slow disk: 200 MB at 2 MB/s.
const digestPatience = resource.Duration(100 * time.Second)

// image checks that the image was built to be a node, and that it is the expected one, where the contract requires that.
var image = concern.Concern{
	Name:  "image",
	Reads: []string{"$.components.manifest", "$.components.preinstalled"},
	Plan:  planImage,
}

func planImage(in *concern.Input, out *concern.Output) {
	planManifest(in, out)
	if preinstalled := in.Config.Components.Preinstalled; preinstalled == nil || !*preinstalled {
		return
	}
	if in.Family.Paths.Installed == "" {
		out.NotApplied("$.components.preinstalled")
		return
	}
	out.AppendTo(concern.ImageGroup, resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.ImageNotBuilt,
		Reason:   concern.Sourced("the contract asks for an image that was built to be a node", in.Family.Sources.Installed),
		Spec:     &resource.Check{Label: "image-built", PathExists: in.Family.Paths.Installed},
	})
}

// planManifest checks the image's component manifest, and the programs in it, where the contract requires a manifest. Without that, a
// manifest that cannot be read is only reported.
func planManifest(in *concern.Input, out *concern.Output) {
	const at = "$.components.manifest"
	m := in.Config.Components.Manifest
	switch {
	case m == nil && in.Facts.ManifestError != "":
		out.Warn(nodeconfig.NotInstalled, at, "the image's manifest cannot be used: %s; the plan is made from what else is found in the image", in.Facts.ManifestError)
		return
	case m == nil || in.Prepares || !in.Joins(): // an image that is being built has no manifest yet
		return
	case in.Agentless:
		out.Fatal(nodeconfig.NotApplied, at, "needs the agent: without it, the kubelet starts in any image; leave it out, and verify the image before machines are made from it")
		return
	}
	check := func(label string, c resource.Check, reason string) {
		c.Label, c.Holds = label, concern.KubeletUnit
		out.Join(concern.KubeletGroup, &c, exitcode.ImageChanged, reason)
	}
	check("image-manifest", resource.Check{Manifest: m}, "the contract requires this manifest of the image")
	digests, version := make(map[string]string), in.Config.Cluster.KubernetesVersion
	_, known := in.Facts.Installed("kubelet", version)
	for _, c := range in.Facts.Components {
		// The node runs one of several kubelets. And the network's DaemonSet replaces plug-ins.
		other := c.Name == "kubelet" && known && c.Version != version
		if c.SHA256 == "" || other || path.Dir(c.Path) == concern.CNIBinDir {
			continue
		}
		before, twice := digests[c.Path]
		digests[c.Path] = c.SHA256
		switch {
		case !path.IsAbs(c.Path) || path.Clean(c.Path) != c.Path || strings.ContainsFunc(c.Path, unicode.IsControl):
			out.Fatal(nodeconfig.Invalid, at, "the image's manifest has a path that is not absolute, in its shortest form and printable; make the image again")
			continue
		case twice && before != c.SHA256:
			out.Fatal(nodeconfig.Invalid, at, "the image's manifest has two digests for %q; make the image again", c.Path)
			continue
		case twice:
			continue
		}
		check("image-program:"+c.Path, resource.Check{Timeout: digestPatience, Digest: &resource.Digest{Path: c.Path, SHA256: c.SHA256}},
			"the image's manifest has this digest of "+c.Name)
	}
}
