package agentless

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/ignition"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Ignition renders the machine as an Ignition config. Ignition does all of it before the system starts for the first
// time; otherwise the system does not start.
func (m *Machine) Ignition() ([]byte, error) {
	config := ignition.Config{Ignition: ignition.Head{Version: ignition.Version}}
	for _, d := range m.Directories {
		config.Storage.Directories = append(config.Storage.Directories, ignition.Directory{
			Path: d.Path, Mode: int(d.Mode), User: ignition.OwnerOf(d.UID), Group: ignition.OwnerOf(d.GID),
		})
	}
	for _, f := range m.Files {
		config.Storage.Files = append(config.Storage.Files, ignition.File{
			Path: f.Path, Overwrite: true, Contents: ignition.Inline(f.Content), Mode: int(f.Mode),
			User: ignition.OwnerOf(f.UID), Group: ignition.OwnerOf(f.GID),
		})
	}
	for _, l := range m.Links {
		config.Storage.Links = append(config.Storage.Links, ignition.Link{Path: l.Path, Overwrite: true, Target: l.Target})
	}
	no, yes := false, true
	for _, s := range m.States {
		unit := ignition.Unit{Name: s.Unit, Enabled: &no}
		if s.State == resource.UnitMasked {
			unit = ignition.Unit{Name: s.Unit, Mask: &yes}
		}
		config.Systemd.Units = append(config.Systemd.Units, unit)
	}
	return json.Marshal(config)
}
