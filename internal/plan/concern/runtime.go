package concern

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The CRI plug-ins in containerd's configuration (containerd: docs/cri/config.md): version 2 has one for images and one for
// runtimes.
const (
	CRI1        = containerdapi.CRI1
	CRI2Images  = containerdapi.Images
	CRI2Runtime = containerdapi.Runtime
)

// CRISchemas by main version (containerd: docs/cri/config.md; AKS node contract, containerd
// configuration rules).
var CRISchemas = map[string]CRISchema{
	"1": {
		Major:        "1",
		Version:      2,
		Images:       CRI1,
		Runtime:      CRI1,
		Sandbox:      []string{"sandbox_image"},
		Snapshotters: []string{"plugins", CRI1, "containerd"},
		CDI:          true,
	},
	"2": {
		Major:         "2",
		Version:       3,
		Images:        CRI2Images,
		Runtime:       CRI2Runtime,
		Sandbox:       []string{"pinned_images", "sandbox"},
		Snapshotters:  []string{"plugins", CRI2Images},
		Platforms:     "runtime_platforms",
		systemdCgroup: true,
	},
}

// runtimeDriver is containerd's cgroup driver.
func runtimeDriver(c *nodeconfig.NodeConfig, schema CRISchema) string {
	switch driver := c.Runtime.CgroupDriver; {
	case driver != "":
		return driver
	case schema.systemdCgroup:
		return "systemd"
	}
	return "cgroupfs"
}

// containerdVersion is the version of containerd on the node: that of the contract's package, or else of the installed containerd, or
// else the version that the contract expects, or else the current main version.
func (in *Input) containerdVersion() string {
	artifact := in.Config.Components.Artifacts[ContainerdName]
	versions := []string{in.Facts.Version(ContainerdName), artifact.Version}
	if in.ContainerdPackage != nil {
		versions = ReleasesOf(&artifact)
	}
	for _, version := range versions {
		if CRISchemas[MajorOf(version)].Major != "" {
			return version
		}
	}
	return "2"
}

// MajorOf is the main version of a release.
func MajorOf(version string) string {
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	return major
}

// runtimeProgram returns the path of a program of the container runtime, and the download that replaces the image's program, or nil.
// If the image has this version, there is no download, unless the contract decides otherwise.
func (in *Input) runtimeProgram(name, own string, files []resource.Unpacked, unpackCode int) (string, *resource.Download) {
	artifact := in.Config.Components.Artifacts[name]
	from, version := Places(artifact), ""
	if said := ReleasesOf(&artifact); len(said) > 0 {
		version = said[0]
	}
	if len(from) == 0 || !artifact.Force && version != "" && hasRelease(in.Facts.Components, name, own, version) {
		return own, nil
	}
	codes := map[resource.Cause]int{resource.CauseUnpack: unpackCode}
	if slices.ContainsFunc(from, in.isolatedPlace) {
		maps.Copy(codes, RegistryCodes)
	}
	d := &resource.Download{Component: name, Version: version, From: from, SHA256: artifact.SHA256, Files: files, ExitCodes: codes}
	return d.Path(name), d
}

// ReleasesOf returns the releases that an artifact's version, URL and file name contain. The first counts.
func ReleasesOf(a *nodeconfig.Artifact) (said []string) {
	for _, release := range []string{ReleaseIn(a.Version), packageRelease(a.URL), packageRelease(a.File)} {
		if release != "" {
			said = append(said, release)
		}
	}
	return said
}

// hasRelease reports whether the image has a program of a release in its own place.
func hasRelease(has []components.Component, name, own, version string) bool {
	for i := range has {
		if c := &has[i]; c.Name == name && c.Path == own && ReleaseIn(c.Version) == version {
			return true
		}
	}
	return false
}

// programPlace is the path of a program of the container runtime: the facts' path, if that is a usual one of the distribution. Otherwise
// it is the family's path if that is a usual one, or else the first usual one.
func (in *Input) programPlace(name, family string, usual []string) string {
	known := slices.DeleteFunc(slices.Clone(in.Facts.Components), func(c components.Component) bool { return c.Name != name })
	switch {
	case slices.ContainsFunc(known, func(c components.Component) bool { return c.Path == family }):
	case len(known) > 0 && slices.Contains(usual, known[0].Path):
		return known[0].Path
	case in.Seen() && !slices.Contains(usual, family):
		return usual[0]
	}
	return family
}

// Overlaybd is the snapshotter that starts containers before their image has arrived.
const Overlaybd = "overlaybd"

const (
	SOCI       = "soci"
	SOCISocket = "/run/soci-snapshotter-grpc/soci-snapshotter-grpc.sock"
)

func (in *Input) UsesSOCI() bool { return in.Config.Runtime.LazyPull == SOCI }

// Streams reports whether overlaybd starts containers before their image has arrived.
func (in *Input) Streams() bool { return in.Config.Runtime.LazyPull == Overlaybd }

// Mirrors reports whether they are read through a mirror on the machine.
func (in *Input) Mirrors() bool { return in.Streams() && in.Family.Runtime.Mirror }
