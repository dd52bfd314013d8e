package integrity

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// systemAttributes are extended attributes, or what they begin with, that the system itself gives to files: labels of security modules,
// measurements, and what file systems keep there (xattr(7)).
var systemAttributes = []string{"security.selinux", "security.SMACK64", "security.apparmor", "security.ima", "security.evm", "trusted.overlay.", "user.overlay.", "btrfs.", "system.nfs4_acl"}

// distributionLinks are links among directories that distributions have: one directory for programs, and the writable places of images
// that are updated as a whole (ostree, "Adapting existing mainstream distributions"; UsrMerge).
var distributionLinks = map[string][]string{
	"/bin": {"/usr/bin"}, "/sbin": {"/usr/sbin", "/usr/bin"}, "/lib": {"/usr/lib"}, "/lib64": {"/usr/lib64", "/usr/lib"},
	"/usr/sbin": {"/usr/bin"}, "/usr/lib64": {"/usr/lib"}, "/var/run": {"/run"}, "/var/lock": {"/run/lock"},
	"/opt": {"/var/opt"}, "/usr/local": {"/var/usrlocal"}, "/srv": {"/var/srv"}, "/home": {"/var/home"}, "/root": {"/var/roothome"}, "/mnt": {"/var/mnt"},
}

// entries finds what is about the node's own files and is not in them: their attributes, and how their paths lead there.
func (s *scan) entries() {
	parents := make(map[string]bool)
	for _, own := range s.node.Paths {
		switch s.stat(own).Kind {
		case apply.RegularFile, apply.Directory:
			s.attributes(own)
		}
		for dir := path.Dir(own); dir != "/"; dir = path.Dir(dir) {
			parents[dir] = parents[dir] || !s.own[dir]
		}
	}
	for dir, others := range parents {
		if others {
			s.parent(dir)
		}
	}
}

// attributes finds extended attributes: capabilities of programs, access control lists.
func (s *scan) attributes(own string) {
	names, err := s.files.Attributes(own)
	s.errs = append(s.errs, err)
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(systemAttributes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
	if len(names) > 0 {
		s.add(Finding{Path: own, Kind: KindAttribute, What: "has the extended attribute " + strings.Join(names, ", "), Identity: strings.Join(names, ",")})
	}
}

// parent finds a directory of the node's files that is a link to another one.
func (s *scan) parent(dir string) {
	entry := s.stat(dir)
	if entry.Kind != apply.Symlink {
		return
	}
	target := entry.Target
	if !path.IsAbs(target) {
		target = path.Join(path.Dir(dir), target)
	}
	if slices.Contains(distributionLinks[dir], target) {
		return
	}
	f := Finding{Path: dir, Kind: KindParent, What: "is a link to another directory, and files of the node are below it", Identity: "-> " + target}
	if !strings.HasPrefix(dir, "/etc") {
		f.Class = OfImage // data on another disk
	}
	s.add(f)
}

// programs compares the programs of the image with their digests: those that the node's author knew, and those of the manifest that the
// machine has.
func (s *scan) programs() {
	own, _ := components.List(s.content(components.Path)) // none without a manifest
	compared := make(map[string]bool)
	for i, c := range slices.Concat(s.node.Programs, own) {
		if i >= len(s.node.Programs) && compared[c.Path] {
			continue
		}
		compared[c.Path] = true
		if c.SHA256 == "" || !path.IsAbs(c.Path) || path.Clean(c.Path) != c.Path {
			continue
		}
		digest, err := s.files.Digest(c.Path, components.MaxProgram)
		switch {
		case err == nil && strings.EqualFold(digest, strings.TrimPrefix(c.SHA256, "sha256:")):
		case err == nil:
			s.add(Finding{Path: c.Path, Kind: KindProgram, What: "is not the program that the image's manifest names: " + strings.TrimSpace(c.Name+" "+c.Version), Class: s.byNetwork(c.Path), Identity: digest})
		case !absent(err):
			s.errs = append(s.errs, err)
		}
		if err == nil {
			s.attributes(c.Path)
		}
	}
}

// brought compares the programs that the agent has brought with the digests that it has recorded.
func (s *scan) brought() {
	for _, store := range s.node.Stores {
		var recorded apply.Stored
		if json.Unmarshal(s.content(store+"/"+resource.OriginFile), &recorded) != nil {
			continue // it is not there, and is brought
		}
		for _, name := range slices.Sorted(maps.Keys(recorded.Digests)) {
			at := path.Join(store, path.Base(name))
			digest, err := s.files.Digest(at, components.MaxProgram)
			switch {
			case err == nil && digest != recorded.Digests[name]:
				s.add(Finding{Path: at, Kind: KindProgram, What: "is not the program that was brought", Identity: digest})
			case err == nil:
				s.attributes(at)
			case !absent(err):
				s.errs = append(s.errs, err)
			}
		}
	}
}

// byNetwork is the class of a program that the image does not have: the network's DaemonSet replaces some plug-ins with its own.
func (s *scan) byNetwork(program string) Class {
	if path.Dir(program) == concern.CNIBinDir {
		return Noted
	}
	return Counted
}
