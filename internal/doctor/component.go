package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/profile"
)

// componentChecks are those of installed programs.
var componentChecks = []Check{
	{
		Name: "components", Asks: "Are the node's programs there, as the image's manifest lists them?", Deadline: 5 * time.Second, Needs: []string{"read-only", "masked-units"}, Look: lookComponents,
		Causes: []Cause{
			{"missing", "the program of a unit is missing, or no program", "install it, or use an image that has it; the verdict names the path"},
			{"changed", "a program is another one than the image's manifest lists", "replace the machine, or write the manifest again if the program was updated on purpose"},
			{"manifest", "the image's manifest cannot be read", "write " + components.Path + " again with the image's build; slipway-node facts shows what is found without it"},
		},
	},
}

func lookComponents(ctx context.Context, p *Patient) *Finding {
	var listed []components.Component
	content, err := p.Machine.ReadLinked(components.Path, components.MaxBytes)
	switch {
	case err == nil:
		if listed, err = components.List(content); err != nil {
			return wrong("manifest", "the image's manifest cannot be read: %s: %v", components.Path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return unknownFor(err)
	}
	f := fine("the programs of kubelet and container runtime are there")
	units := map[string]string{profile.KubeletUnit: "kubelet"}
	order := []string{profile.KubeletUnit}
	if unit := runtimeUnitOf(p.Kubelet()); unit != "" {
		units[unit] = strings.TrimSuffix(unit, ".service")
		order = append(order, unit)
	}
	for _, unit := range order {
		service := kubeletsetup.ConfiguredService(p.Machine, unit)
		if len(service.Words) == 0 || !path.IsAbs(service.Words[0]) {
			continue // the unit is missing, which is a check for itself
		}
		program := service.Words[0]
		at, there := resolved(p.Machine, program)
		if !there && p.Directory {
			return skipped("the directory does not have the programs")
		}
		if !there {
			return wrong("missing", "%s starts %s, which is no program on this machine (%s)", unit, program, service.From)
		}
		f.with(unit, program)
		for _, c := range listed {
			if c.SHA256 == "" || c.Path != program && c.Path != at {
				continue
			}
			digest, err := p.Machine.Digest(at, components.MaxProgram)
			if err != nil {
				return unknownFor(err)
			}
			f.with(program, "sha256 "+digest+", "+components.Path+" has "+c.SHA256)
			if digest != strings.ToLower(c.SHA256) {
				return f.wrong("changed", "%s is not %s %s of the image's manifest: its SHA-256 digest is %.12s, and %s has %.12s", program, c.Name, c.Version, digest, components.Path, c.SHA256)
			}
		}
		if ctx.Err() != nil {
			return f
		}
	}
	return f
}

// resolved follows the links at a program's last name, and reports whether it leads to a program.
func resolved(files Files, program string) (at string, is bool) {
	at = program
	for range 8 {
		entry, err := files.Stat(at)
		if err != nil {
			return at, false
		}
		if entry.Kind != apply.Symlink {
			return at, entry.Kind == apply.RegularFile && entry.Mode&0o111 != 0
		}
		if at = entry.Target; !path.IsAbs(at) {
			at = path.Join(path.Dir(program), at)
		}
		program = at
	}
	return at, false
}
