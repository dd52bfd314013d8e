package difference

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Unit is what happens to a unit.
type Unit struct {
	Unit   string `json:"unit"`
	Effect Effect `json:"effect"`
}

// Effect is what happens to a unit.
type Effect string

// The effects, the weakest first.
const (
	// Reloads is a unit that systemd reads again without a restart.
	Reloads Effect = "reload"
	// Restarts is a unit that is started again.
	Restarts Effect = "restart"
	// Starts is a unit that the earlier plan did not start.
	Starts Effect = "start"
	// Stops is a unit that the later plan does not have.
	Stops Effect = "stop"
)

// units are the units that something happens to, by name.
func (j *judge) units() []Unit {
	effects := make(map[string]Effect)
	for _, d := range j.deltas {
		if unit := unitOf(d.spec()); unit != "" && effects[unit] == "" {
			effects[unit] = Reloads
		}
		for _, unit := range d.reloads {
			if effects[unit] == "" {
				effects[unit] = Reloads
			}
		}
		for _, unit := range d.restarts {
			effects[unit] = Restarts
		}
	}
	for _, d := range j.deltas {
		if spec, ok := d.spec().(*resource.Unit); ok {
			switch d.event() {
			case added:
				effects[spec.Unit] = Starts
			case removed:
				effects[spec.Unit] = Stops
			}
		}
	}
	units := []Unit{}
	for _, name := range slices.Sorted(maps.Keys(effects)) {
		units = append(units, Unit{name, effects[name]})
	}
	return units
}

// unitOf is the unit that a file or link belongs to, as systemd reads them: the unit's own, its drop-ins,
// and the links that enable it (systemd.unit(5)). It is empty for everything else.
func unitOf(spec resource.Spec) string {
	switch spec.(type) {
	case *resource.File, *resource.Symlink:
	default:
		return ""
	}
	below, ok := strings.CutPrefix(spec.Name(), resource.UnitDir+"/")
	if !ok {
		return ""
	}
	if unit, ok := strings.CutSuffix(path.Dir(below), ".d"); ok {
		return unit
	}
	return path.Base(below)
}
