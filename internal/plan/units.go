package plan

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// plannedTexts are the files of a plan, by their paths, with the contract's settings that some of them are the text of.
type plannedTexts struct {
	files map[string]*resource.File
	at    map[string]string
}

// plannedFiles are the files of a plan, by their paths.
func plannedFiles(resources []resource.Resource) map[string]*resource.File {
	files := make(map[string]*resource.File)
	for _, r := range resources {
		if f, ok := r.Spec.(*resource.File); ok {
			files[f.Path] = f
		}
	}
	return files
}

// authoredTexts are the settings of a contract that have the text of a file, by the file's path.
func authoredTexts(c *nodeconfig.NodeConfig) map[string]string {
	at := make(map[string]string)
	for i := range c.Files {
		at[c.Files[i].Path] = document.IndexPath("$.files", i)
	}
	for i := range c.Units {
		u, here := &c.Units[i], document.IndexPath("$.units", i)
		if u.Content != "" {
			at[nodeconfig.UnitPath(u.Name)] = here + ".content"
		}
		for j := range u.DropIns {
			at[nodeconfig.DropInPath(u.Name, u.DropIns[j].Name)] = document.IndexPath(here+".dropIns", j) + ".content"
		}
	}
	return at
}

// unitSources returns the planned files of a unit: the file that defines it, nil if the image has it, and its drop-ins in systemd's
// order.
func unitSources(files map[string]*resource.File, unit string) (file *unitfile.Source, dropIns []unitfile.Source) {
	if f := files[nodeconfig.UnitPath(unit)]; f != nil {
		file = &unitfile.Source{Path: f.Path, Content: string(f.Content)}
	}
	dir := nodeconfig.UnitPath(unit) + ".d/"
	for _, name := range slices.Sorted(maps.Keys(files)) { // which are all in one directory, so their paths have the order of their names
		if strings.HasPrefix(name, dir) && path.Ext(name) == ".conf" {
			dropIns = append(dropIns, unitfile.Source{Path: name, Content: string(files[name].Content)})
		}
	}
	return file, dropIns
}

// checkUnits reports what systemd would refuse or ignore of the units that the contract has a part in.
func checkUnits(in *concern.Input, out *concern.Output, t plannedTexts) {
	for i := range in.Config.Units {
		u := &in.Config.Units[i]
		if u.Content == "" && len(u.DropIns) == 0 || u.Content != "" && profile.IsOwnUnit(u.Name) { // which is an error already
			continue
		}
		file, dropIns := unitSources(t.files, u.Name)
		for _, f := range unitfile.Judge(u.Name, file, dropIns) {
			here, kind := t.at[f.Path], nodeconfig.Unknown
			if here == "" && !f.Refused {
				continue // what Slipway writes for older or newer versions of systemd
			}
			reason := f.Reason
			if f.Line > 0 && here != "" {
				reason = fmt.Sprintf("line %d: %s", f.Line, reason)
			}
			if f.Refused {
				kind = nodeconfig.Invalid
				reason += "; systemd would not start the unit"
			}
			whole := document.IndexPath("$.units", i)
			if u.Content != "" {
				whole += ".content"
			}
			out.Report(f.Refused, kind, cmp.Or(here, whole), reason)
		}
	}
}
