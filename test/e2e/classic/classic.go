// Package classic makes a node without Slipway, as AKS's scripts do: cloud-init writes shell scripts, and its last stage runs them.
// Slipway is measured against it, so it is as quick as such scripts can be: the steps are those of AKS's scripts on every node of
// this kind, no step sleeps unless it fails, and the shell itself does the work of programs that the image lacks.
//
// The files that the scripts write are those of a tree that Slipway has provisioned, except for Slipway's own units. The package
// runs nothing. test/e2e/scenario calls it.
package classic

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/status"
)

// StartPath is the file that the scripts write first.
const StartPath = "/var/log/azure/aks/provision.started"

// Node is what a machine must have to be a node.
type Node struct {
	Files       []File
	Directories []string
	Modules     []string
	// Kubelet is the path of the kubelet in the wanted version.
	Kubelet string
}

// File is a file that belongs to root.
type File struct {
	Path    string
	Mode    fs.FileMode
	Content []byte
}

// kubeletLink is the program in the kubelet's unit.
const kubeletLink = "/opt/bin/kubelet"

// leftOut are the prefixes of paths that AKS's scripts do not write.
var leftOut = []string{
	"/etc/hostname", // cloud-init's
	"/etc/systemd/system/slipway-",
}

// Read reads a node from a tree that Slipway has provisioned from an empty one: all files in its status.
func Read(root string) (*Node, error) {
	document, err := os.ReadFile(filepath.Join(root, "var/lib/slipway/status.json"))
	if err != nil {
		return nil, err
	}
	made, err := status.Parse(document)
	if err != nil {
		return nil, err
	}
	var node Node
	for _, change := range made.Changes {
		kind, name, _ := strings.Cut(change.ID, ":")
		switch {
		case slices.ContainsFunc(leftOut, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		case kind == "File":
			f, err := readFile(root, name)
			if err != nil {
				return nil, err
			}
			node.Files = append(node.Files, f)
		case kind == "Directory":
			node.Directories = append(node.Directories, name)
		case kind == "Module":
			node.Modules = append(node.Modules, name)
		case kind == "Symlink" && name == kubeletLink:
			if node.Kubelet, err = os.Readlink(filepath.Join(root, name)); err != nil {
				return nil, err
			}
		}
	}
	if node.Kubelet == "" {
		return nil, fmt.Errorf("%s: no link %s: there is no kubelet to start", root, kubeletLink)
	}
	slices.SortFunc(node.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return &node, nil
}

func readFile(root, name string) (File, error) {
	path := filepath.Join(root, name)
	info, err := os.Lstat(path)
	if err != nil {
		return File{}, err
	}
	content, err := os.ReadFile(path)
	return File{Path: name, Mode: info.Mode().Perm(), Content: content}, err
}
