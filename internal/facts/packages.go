package facts

import (
	"path"
	"slices"
	"unicode/utf8"
)

// packageDirs are where AKS's images keep packages that their scripts unpack (AKS: installPkgWithAptGet, /opt/NAME/downloads).
var packageDirs = []string{"/opt/azure-acr-credential-provider/downloads", "/opt/kubectl/downloads", "/opt/kubelet/downloads"}

// maxPackages limits the recorded packages of a directory. An image has three or four.
const maxPackages = 32

// packages finds Debian and RPM packages.
func (g gatherer) packages() (found []string) {
	for _, dir := range packageDirs {
		names, _ := g.ReadDir(dir)
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return path.Ext(name) != ".deb" && path.Ext(name) != ".rpm" || !utf8.ValidString(name)
		})
		for _, name := range names[:min(len(names), maxPackages)] {
			found = append(found, dir+"/"+name)
		}
	}
	return found
}
