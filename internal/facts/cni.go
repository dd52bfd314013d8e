package facts

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// The directories of network plug-ins on an AKS image: the one that container runtimes search, and the one with
// unpacked packages that are not installed there yet (AKS: CNI_BIN_DIR, CNI_DOWNLOADS_DIR).
const (
	CNIBinDir       = "/opt/cni/bin"
	CNIDownloadsDir = "/opt/cni/downloads"
)

// azureConflist is the configuration that Azure's packages ship with their plug-ins.
const azureConflist = "10-azure.conflist"

// The limits of what is recorded about network plug-ins. An image has three or four packages, and the largest has 20
// files.
const (
	maxCNIPackages = 32
	maxCNIFiles    = 64
	maxConflist    = 16 << 10
)

// CNI are the machine's network plug-ins.
type CNI struct {
	// Plugins are the file names in CNIBinDir, sorted.
	Plugins []string `json:"plugins,omitempty"`
	// Conflist is Azure's configuration there, in JSON.
	Conflist string `json:"conflist,omitempty"`
	// Packages are the directories in CNIDownloadsDir, by name.
	Packages []CNIPackage `json:"packages,omitempty"`
}

// CNIPackage is an unpacked package of network plug-ins.
type CNIPackage struct {
	// Name is the directory's name: "azure-vnet-cni-linux-amd64-v1.6.30".
	Name string `json:"name"`
	// Files are the names of its files, sorted.
	Files []string `json:"files,omitempty"`
	// Conflist is Azure's configuration in it.
	Conflist string `json:"conflist,omitempty"`
}

// Package returns a package by its name.
func (c *CNI) Package(name string) (CNIPackage, bool) {
	i := slices.IndexFunc(c.Packages, func(p CNIPackage) bool { return p.Name == name })
	if i < 0 {
		return CNIPackage{}, false
	}
	return c.Packages[i], true
}

// cni returns the network plug-ins, or nil if the machine has neither directory.
func (g gatherer) cni() *CNI {
	plugins, err := g.ReadDir(CNIBinDir)
	names, errPackages := g.ReadDir(CNIDownloadsDir)
	if err != nil && errPackages != nil {
		return nil
	}
	found := &CNI{Plugins: bounded(plugins), Conflist: g.conflist(CNIBinDir, plugins)}
	for _, name := range names[:min(len(names), maxCNIPackages)] {
		dir := CNIDownloadsDir + "/" + name
		if files, err := g.ReadDir(dir); err == nil && utf8.ValidString(name) {
			found.Packages = append(found.Packages, CNIPackage{name, bounded(files), g.conflist(dir, files)})
		}
	}
	return found
}

// bounded returns as many names as are recorded.
func bounded(names []string) []string {
	kept := slices.Clone(names[:min(len(names), maxCNIFiles)])
	return slices.DeleteFunc(kept, func(name string) bool { return !utf8.ValidString(name) })
}

// conflist returns Azure's configuration from a directory's files. It is empty if it is missing or not JSON.
func (g gatherer) conflist(dir string, files []string) string {
	if !slices.Contains(files, azureConflist) {
		return ""
	}
	text, err := g.ReadFile(dir+"/"+azureConflist, maxConflist)
	if err != nil || !json.Valid(text) || !utf8.Valid(text) {
		return ""
	}
	return string(text)
}
