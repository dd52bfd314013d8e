// Package spec reads the document in which people write what a node image has: components.yaml.
//
// It reads bytes and reports all problems at once, each with its place. It does no I/O: internal/image/resolve finds the versions and
// the files, and makes internal/image/lock's document of it. cmd/slipway's commands call it.
package spec

// APIVersion and Kind identify the document.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "ImageComponents"
)

// Document is what a node image has, as people write it.
type Document struct {
	// APIVersion is "slipway.dev/v1".
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is "ImageComponents".
	Kind string `json:"kind,omitempty"`
	// Architectures are those of the images: "amd64", "arm64". If empty, it is amd64.
	Architectures []string `json:"architectures,omitempty"`
	// Base is the distribution below the components.
	Base *Base `json:"base,omitempty"`
	// Components are the components, in any order.
	Components []Component `json:"components,omitempty"`
}

// Base is a distribution at one point in time.
type Base struct {
	// Suite is the distribution's release, such as "trixie".
	Suite string `json:"suite,omitempty"`
	// Snapshot is the time of the package archive, as snapshot.debian.org and snapshot.ubuntu.com name it: "20261101T000000Z".
	Snapshot string `json:"snapshot,omitempty"`
	// Packages are further packages of the distribution, by name, for an image that "slipway image build" makes.
	Packages []string `json:"packages,omitempty"`
}

// Component is a program, an archive with programs, a container image or a file.
type Component struct {
	// Name identifies the component in the document.
	Name string `json:"name,omitempty"`
	// Kind is the kind of component. If empty, it is the kind with the component's name.
	Kind string `json:"kind,omitempty"`
	// Version is a version, "1.36.4", or a range: "~1.36" is the newest 1.36, "^2.1" the newest 2 from 2.1 on. A range has no
	// pre-releases.
	Version string `json:"version,omitempty"`
	// Sources are where the file is, in the order of trying: https URLs, references to artifacts of OCI registries
	// (HOST/PATH:TAG), or paths that begin with / or ./; a path is relative to the document. {version}, {arch} and {name}
	// stand for the version, the architecture and the component's name.
	Sources []string `json:"sources,omitempty"`
	// Versions is a list of the existing versions, an https URL or a path, for a range whose sources are URLs. Each word of the
	// list that is a version counts, with or without a leading v. A registry's tags and a directory's files need no list.
	Versions string `json:"versions,omitempty"`
	// Checksums is the maker's list of SHA-256 digests, an https URL or a path: a digest alone, or lines as sha256sum writes them.
	Checksums string `json:"checksums,omitempty"`
	// SHA256 are the files' digests by architecture, in hexadecimal.
	SHA256 map[string]string `json:"sha256,omitempty"`
	// License is the SPDX expression of its licence, "NOASSERTION" if unknown. If empty, it is that of the kind's usual program.
	License string `json:"license,omitempty"`
	// Kubernetes are the minor versions of Kubernetes that it serves, such as "1.36". If empty, it serves all; a kubelet serves its
	// own.
	Kubernetes []string `json:"kubernetes,omitempty"`
	// Architectures are the architectures that have it. If empty, they are the document's.
	Architectures []string `json:"architectures,omitempty"`
	// Files are the files to take out of the archive, and their paths in the image. If empty, they are the kind's.
	Files []File `json:"files,omitempty"`
}

// File is a file of a component.
type File struct {
	// Member is the path of the file in the archive, or a pattern of it: "bin/tool", "*/tool". If empty, the file is the download
	// itself.
	Member string `json:"member,omitempty"`
	// Path is the path in the image. If it ends in a slash, it is a directory, and each matching file keeps its name in it.
	Path string `json:"path,omitempty"`
	// Mode are the permission bits in octal, in quotes. If empty, they are "0755".
	Mode string `json:"mode,omitempty"`
}

// Architectures are the architectures that an image can have, by their names in Go and in OCI registries.
var Architectures = []string{"amd64", "arm64"}
