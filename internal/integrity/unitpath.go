package integrity

import (
	"path"
	"slices"
	"strings"
)

// UnitFiles returns the paths of the file that defines a unit, or "", and of its drop-ins in systemd's order. list lists
// the names in a directory.
func UnitFiles(unit string, list func(dir string) ([]string, error)) (defines string, dropIns []string) {
	own, shared := dropInNames(unit)
	places := make(map[string]string) // of drop-ins, by name: the first place in the order counts
	for _, level := range append(own, shared) {
		for _, dir := range unitDirs {
			names, err := list(path.Join(dir.path, level))
			if err != nil {
				continue
			}
			for _, name := range names {
				if _, has := places[name]; !has && strings.HasSuffix(name, ".conf") {
					places[name] = path.Join(dir.path, level, name)
				}
			}
		}
	}
	for _, dir := range unitDirs {
		if names, err := list(dir.path); err == nil && slices.Contains(names, unit) {
			defines = path.Join(dir.path, unit)
			break
		}
	}
	for _, place := range places {
		dropIns = append(dropIns, place)
	}
	slices.SortFunc(dropIns, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	return defines, dropIns
}
