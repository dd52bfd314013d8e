// Package kind has the kinds of components of a node image, a row for each: which files of an archive they are, where the image has
// them, and their licence. It is data; internal/image/spec completes a component of a document with its row.
package kind

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/packed"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Kind is a kind of components.
type Kind struct {
	// Name is its name in documents, and Title what it is, for people.
	Name, Title string
	// License is the SPDX expression of the usual program's licence. Empty means that a document must name it.
	License string
	// Files are the files of an archive. If nil, a document must name them.
	Files []File
	// Image reports that it is a container image, and not a file.
	Image bool
	// Program reports that its files are programs for one architecture.
	Program bool
	// Kubernetes reports that its version is Kubernetes' own.
	Kubernetes bool
}

// File is a file to take out of an archive.
type File struct {
	// Members are patterns (path.Match) of its path in the archive, because packages differ. The file can have any of them. If
	// nil, it is the download itself.
	Members []string
	// Path is its path in the image. If it ends in a slash, it is a directory, and each matching file keeps its name in it.
	Path string
	// Mode are its permission bits, in octal.
	Mode string
	// Optional reports that the archive may lack it.
	Optional bool
	// Except reports whether a matching file is left out. It may be nil.
	Except func(name string) bool
}

// program is the mode of programs.
const program = "0755"

// The names of the kinds that other code refers to.
const (
	Kubelet = "kubelet"
	Image   = "image"
	AnyFile = "file"
)

// all are the rows.
var all = []Kind{
	{
		Name: Kubelet, Title: "the kubelet, alone or in Kubernetes' archive or package", License: "Apache-2.0", Program: true, Kubernetes: true,
		Files: []File{{Members: packed.Kubernetes("kubelet"), Path: "/usr/bin/kubelet", Mode: program}},
	},
	{
		Name: "containerd", Title: "containerd with its shim for runc", License: "Apache-2.0", Program: true,
		Files: programs("/usr/bin", packed.Containerd),
	},
	{
		Name: "runc", Title: "runc", License: "Apache-2.0", Program: true,
		Files: programs("/usr/sbin", packed.Runc), // Debian's package has it there
	},
	{
		Name: "cni-plugins", Title: "the programs of CNI plug-ins", License: "Apache-2.0", Program: true,
		Files: []File{{Members: []string{"*"}, Path: "/opt/cni/bin/", Mode: program, Except: func(name string) bool { return !packed.IsCNIPlugin(name) }}},
	},
	{
		// AKS's images have their provider there; a contract names the directory (kubelet.imageCredentialProvider.binDir).
		Name: "credential-provider", Title: "a program that gets credentials for images", Program: true,
		Files: []File{{Members: []string{"{name}", "*/{name}", "usr/bin/{name}"}, Path: "/var/lib/kubelet/credential-provider/{name}", Mode: program}},
	},
	{
		Name: "slipway-node", Title: "Slipway's agent", License: "Apache-2.0", Program: true,
		Files: []File{{Members: []string{"slipway-node", "*/slipway-node"}, Path: "/opt/slipway/bin/slipway-node", Mode: program}},
	},
	{Name: Image, Title: "a container image", Image: true},
	{Name: AnyFile, Title: "any other file"},
}

// programs are the files of a package in a directory of the image.
func programs(dir string, from []resource.Unpacked) (files []File) {
	for _, f := range from {
		files = append(files, File{Members: f.Members, Path: path.Join(dir, f.Name), Mode: program, Optional: f.Optional})
	}
	return files
}

// Names returns the kinds' names.
func Names() (names []string) {
	for _, k := range all {
		names = append(names, k.Name)
	}
	return names
}

// Named returns the kind of a name, or nil.
func Named(name string) *Kind {
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}
