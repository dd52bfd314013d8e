// Package product says what a release is of: programs, platforms, and the files of their packages.
package product

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Program is a program of a release.
type Program struct {
	// Name is that of its file, its packages and its manual.
	Name string
	// Section is that of its manual: 1 for users, 8 for administrators.
	Section int
	// Summary is one line without a dot, Description a few.
	Summary, Description string
	Platforms            []Platform
	// Installed is its path in a package. Link is a link to it that is in the usual search path; empty if it is there itself.
	Installed, Link string
	// Units are the names of its units. A package has them, and a preset that enables none.
	Units []string
	// Runs reports whether a machine may run it as a service, so that its package has scripts for an installation and a removal.
	Runs bool
}

// Platform is an operating system and an architecture, as Go names them.
type Platform struct{ OS, Architecture string }

// Linux are the platforms that have packages.
var Linux = []Platform{{"linux", "amd64"}, {"linux", "arm64"}}

// Programs are all.
var Programs = []Program{
	{
		Name: "slipway", Section: 1, Summary: "check the contracts of Kubernetes nodes and render them",
		Description: "Slipway turns a Linux machine into a Kubernetes node, from one document:\n" +
			"the contract. This program is for a workstation or a pipeline: it checks\n" +
			"contracts, shows the node that they make, renders the data that a machine is\n" +
			"created with, and makes node images.",
		Platforms: append(Linux[:2:2], Platform{"darwin", "amd64"}, Platform{"darwin", "arm64"}),
		Installed: "/usr/bin/slipway",
	},
	{
		Name: "slipway-node", Section: 8, Summary: "turn this machine into a Kubernetes node",
		Description: "Slipway turns a Linux machine into a Kubernetes node, from one document:\n" +
			"the contract. This program is the agent on the node. Its package enables no\n" +
			"unit: enable slipway-provision.service and slipway-provision.path in a node\n" +
			"image, and slipway-watch.service to follow the contract.",
		Platforms: Linux,
		Installed: "/opt/slipway/bin/slipway-node", Link: "/usr/bin/slipway-node",
		Units: []string{"slipway-provision.path", "slipway-provision.service", "slipway-watch.service"}, Runs: true,
	},
}

// Select returns the programs with some names for some platforms, such as "linux/amd64". No name and no platform mean all.
func Select(names, platforms []string) (selected []Program, err error) {
	for _, p := range Programs {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		p.Platforms = slices.DeleteFunc(slices.Clone(p.Platforms), func(on Platform) bool {
			return len(platforms) > 0 && !slices.Contains(platforms, on.OS+"/"+on.Architecture)
		})
		if len(p.Platforms) > 0 {
			selected = append(selected, p)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("no program is %s for %s", strings.Join(names, " or "), strings.Join(platforms, " or "))
	}
	return selected, nil
}

// What packages and images say of the project.
const (
	Maintainer = "Slipway's maintainers <maintainers@slipway.dev>"
	Homepage   = "https://github.com/slipway-dev/slipway"
	License    = "Apache-2.0"
)

// Document is a file that comes with each program, and its directory in a package.
type Document struct {
	// Name is its path in an archive: "man/man1/slipway.1".
	Name    string
	Content []byte
}

// Licenses is the document with all licences.
const Licenses = "LICENSES"

// places are the directories of a package, by those of an archive. Debian's and Red Hat's zsh look in different ones.
var places = map[string]string{
	"man/man1": "/usr/share/man/man1", "man/man8": "/usr/share/man/man8",
	"completions/bash":    "/usr/share/bash-completion/completions",
	"completions/fish":    "/usr/share/fish/vendor_completions.d",
	"deb completions/zsh": "/usr/share/zsh/vendor-completions",
	"rpm completions/zsh": "/usr/share/zsh/site-functions",
}

// Place is a document's path in a program's package of a format.
func (p *Program) Place(d Document, format string) string {
	in := path.Dir(d.Name)
	return path.Join(cmp.Or(places[in], places[format+" "+in], "/usr/share/doc/"+p.Name), path.Base(d.Name))
}
