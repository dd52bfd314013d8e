package integrity

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// origin is the kind of program that writes to a directory of units.
type origin uint8

const (
	administrator origin = iota
	generated            // by a program at each boot, such as systemd-fstab-generator
	local                // by installations outside of the distribution
	vendor               // by the distribution
)

// unitDir is a directory that systemd reads units from.
type unitDir struct {
	path string
	by   origin
}

// unitDirs are in systemd's order: a file in an earlier directory replaces a file with the same name in a later one (systemd.unit(5),
// "Unit File Load Path"; systemd v258 src/libsystemd/sd-path/path-lookup.c, lookup_paths_init).
var unitDirs = []unitDir{
	{"/etc/systemd/system.control", administrator}, {runtimeProperties, administrator}, {"/run/systemd/transient", administrator},
	{"/run/systemd/generator.early", administrator}, {resource.UnitDir, administrator}, {"/etc/systemd/system.attached", administrator},
	{"/run/systemd/system", administrator}, {"/run/systemd/system.attached", administrator}, {"/run/systemd/generator", generated},
	{"/usr/local/lib/systemd/system", local}, {"/usr/lib/systemd/system", vendor}, {"/lib/systemd/system", vendor},
	{"/run/systemd/generator.late", generated},
}

// runtimeProperties is where systemd keeps the properties of units that are set until the next boot. Those of a slice are
// the kubelet's: it sets the limits of a reserved control group when it starts (k8s.io/kubernetes v1.36.3
// pkg/kubelet/cm/node_container_manager_linux.go, enforceExistingCgroup).
const runtimeProperties = "/run/systemd/system.control"

// imageDropIns are drop-ins below /usr that an image has with its packages: kubeadm's package for the kubelet (kubernetes/release
// cmd/krel/templates/latest/kubeadm/10-kubeadm.conf).
var imageDropIns = []string{"kubelet.service.d/10-kubeadm.conf"}

// harmless are settings of drop-ins, or what they begin with, that change no program and nothing that it reads: limits, times and order
// (systemd.exec(5), systemd.service(5), systemd.resource-control(5)). Distributions ship such drop-ins for all services, and change them
// with updates: service.d/10-timeout-abort.conf of Fedora and Amazon Linux.
var harmless = []string{
	"Timeout", "Limit", "CPU", "Memory", "IO", "Tasks", "OOM", "ManagedOOM", "Nice=", "Restart=", "RestartSec", "RestartSteps", "RestartMax",
	"StartLimit", "Slice=", "Description=", "Documentation=", "LogLevelMax=", "LogRateLimit", "After=", "Before=", "KillMode=", "WatchdogSec=",
	"Protect", "NoNewPrivileges=", "Lock", "Restrict", "PrivateTmp=",
}

// changed are the units that the entries of a directory change; shared means that they may change others, too.
type changed struct {
	units  []string
	shared bool
}

// units finds what changes the node's units.
func (s *scan) units() {
	dropIns := make(map[string]changed)
	for _, unit := range s.node.Units {
		names(dropIns, unit, unit)
	}
	read := make(map[string][]string, len(unitDirs))
	for _, dir := range unitDirs {
		if dir.path == "/lib/systemd/system" && s.stat("/lib").Kind != apply.Directory {
			continue // the same directory as below /usr
		}
		read[dir.path] = s.list(dir.path)
		if dir.by == administrator {
			s.aliases(dir.path, read[dir.path], dropIns)
		}
	}
	for _, dir := range unitDirs {
		for _, name := range read[dir.path] {
			kind := name[strings.LastIndexByte(name, '.')+1:]
			switch of, ours := dropIns[name]; {
			case ours:
				s.dropIns(dir, name, of)
			case slices.Contains(s.node.Units, name):
				s.unitFile(dir, name)
			case kind == "wants" || kind == "requires" || kind == "upholds":
				s.dependencies(dir, name, dropIns[strings.TrimSuffix(name, kind)+"d"])
			}
		}
	}
}

// names adds the directories of drop-ins of a unit, by one of its names.
func names(dropIns map[string]changed, unit, name string) {
	own, shared := dropInNames(name)
	for _, of := range append(own, shared) {
		if of != "" && !slices.Contains(dropIns[of].units, unit) {
			dropIns[of] = changed{append(dropIns[of].units, unit), of == shared}
		}
	}
}

// aliases finds other names of the node's units: systemd reads the drop-ins of each name (systemd.unit(5), "Unit File Load Path").
func (s *scan) aliases(dir string, in []string, dropIns map[string]changed) {
	for _, name := range in {
		if slices.Contains(s.node.Units, name) || !slices.ContainsFunc(s.node.Units, func(u string) bool { return path.Ext(u) == path.Ext(name) }) {
			continue
		}
		at := path.Join(dir, name)
		unit := path.Base(s.stat(at).Target)
		if s.own[at] || !slices.Contains(s.node.Units, unit) {
			continue
		}
		class := OfImage // an [Install] section of the distribution's may ask for it
		if s.own[resource.UnitDir+"/"+unit] {
			class = Counted
		}
		s.add(Finding{Path: at, Kind: KindAlias, What: "is another name of " + unit + ", which systemd reads drop-ins of, too", Units: []string{unit}, Class: class})
		names(dropIns, unit, name)
	}
}

// dropIns finds the drop-ins in one directory.
func (s *scan) dropIns(dir unitDir, name string, of changed) {
	if dir.path == runtimeProperties && strings.HasSuffix(name, ".slice.d") {
		return
	}
	for _, file := range s.list(dir.path + "/" + name) {
		at := path.Join(dir.path, name, file)
		if !strings.HasSuffix(file, ".conf") || s.own[at] {
			continue
		}
		f := Finding{Path: at, Kind: KindDropIn, Units: slices.Sorted(slices.Values(of.units)), Shared: of.shared}
		if dir.by != administrator {
			f.Units = slices.DeleteFunc(f.Units, func(unit string) bool { return s.shadows(unit, file) })
			if len(f.Units) == 0 || s.onlyLimits(at) {
				continue
			}
			if dir.by == generated || slices.Contains(imageDropIns, name+"/"+file) {
				f.Class = OfImage
			}
		}
		f.What = "changes " + strings.Join(f.Units, ", ")
		s.add(f)
	}
}

// shadows reports whether the node has a drop-in of the same name for a unit, which takes the place of others below /usr.
func (s *scan) shadows(unit, file string) bool {
	own, shared := dropInNames(unit)
	return slices.ContainsFunc(append(own, shared), func(dir string) bool { return s.own[path.Join(resource.UnitDir, dir, file)] })
}

// onlyLimits reports whether a drop-in sets nothing but limits and times.
func (s *scan) onlyLimits(at string) bool {
	content, err := s.files.ReadLinked(at, maxFile)
	if err != nil {
		return false
	}
	for _, line := range settings(string(content)) {
		if !slices.ContainsFunc(harmless, func(prefix string) bool { return strings.HasPrefix(line.key+"=", prefix) }) {
			return false
		}
	}
	return true
}

// unitFile finds a file that replaces a unit's own file, or a mask of it.
func (s *scan) unitFile(dir unitDir, unit string) {
	at := dir.path + "/" + unit
	ours := s.own[resource.UnitDir+"/"+unit]
	if s.own[at] || dir.by == vendor || ours && dir.by != administrator {
		return
	}
	f := Finding{Path: at, Kind: KindUnit, What: "takes the place of another file of " + unit, Units: []string{unit}}
	switch {
	case masks(s.stat(at)):
		f.Kind, f.What = KindMask, "masks "+unit
	case dir.by != administrator || dir.path == resource.UnitDir:
		f.Class = OfImage
	}
	if ours && slices.Index(unitDirs, dir) > slices.Index(unitDirs, unitDir{resource.UnitDir, administrator}) {
		f.What += ", once " + resource.UnitDir + "/" + unit + " is gone"
	}
	s.add(f)
}

// dependencies finds what starts with the node's units, and what else starts them.
func (s *scan) dependencies(dir unitDir, name string, of changed) {
	if len(of.units) == 0 && dir.by != administrator {
		return
	}
	for _, entry := range s.list(dir.path + "/" + name) {
		at := path.Join(dir.path, name, entry)
		switch {
		case s.own[at]:
		case len(of.units) > 0:
			units := slices.Sorted(slices.Values(of.units))
			f := Finding{Path: at, Kind: KindDependency, What: "starts " + entry + " together with " + strings.Join(units, ", "), Units: units}
			if dir.by != administrator && !slices.ContainsFunc(units, func(unit string) bool { return s.own[resource.UnitDir+"/"+unit] }) {
				f.Class = OfImage // the distribution's own unit
			}
			s.add(f)
		case slices.Contains(s.node.Units, entry):
			f := Finding{Path: at, Kind: KindEnabled, What: "starts " + entry + " together with " + strings.TrimSuffix(name, path.Ext(name)), Units: []string{entry}}
			// A package enables the unit that it brings.
			if name == "multi-user.target.wants" || !s.own[resource.UnitDir+"/"+entry] {
				f.Class = OfImage
			}
			s.add(f)
		}
	}
}

// Masked returns the masked units of a node, with the mask of each. If the node has a file of the unit in resource.UnitDir, a
// mask in a later directory has no effect.
func Masked(files Files, node *Node) (map[string]string, error) {
	s := newScan(files, node)
	masked := make(map[string]string)
	for _, unit := range node.Started {
		for _, dir := range unitDirs {
			at := dir.path + "/" + unit
			entry := s.stat(at)
			if entry.Kind != apply.Absent && masks(entry) && dir.by == administrator {
				masked[unit] = at
			}
			if entry.Kind != apply.Absent || dir.path == resource.UnitDir && s.own[at] {
				break
			}
		}
	}
	return masked, errors.Join(s.errs...)
}
