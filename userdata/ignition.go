package userdata

import (
	"encoding/base64"
	"encoding/json"
)

// ignitionVersion is the version of Ignition's specification that is written: old enough for every
// Flatcar release that is still maintained.
const ignitionVersion = "3.4.0"

// The parts of an Ignition config that are used, in the order in which they are written.
type (
	ignitionConfig struct {
		Ignition ignitionHead    `json:"ignition"`
		Storage  ignitionStorage `json:"storage"`
		Systemd  ignitionSystemd `json:"systemd"`
	}
	ignitionHead struct {
		Version string `json:"version"`
	}
	ignitionStorage struct {
		Files []ignitionFile `json:"files"`
	}
	ignitionFile struct {
		Path      string           `json:"path"`
		Overwrite bool             `json:"overwrite"`
		Contents  ignitionContents `json:"contents"`
		Mode      int              `json:"mode"` // decimal: Ignition's JSON has no octal numbers
	}
	ignitionContents struct {
		Source string `json:"source"`
	}
	ignitionSystemd struct {
		Units []ignitionUnit `json:"units"`
	}
	ignitionUnit struct {
		Name    string `json:"name"`
		Enabled bool   `json:"enabled"`
	}
)

// Ignition returns an Ignition config that writes the contract and enables the agent's unit, which
// the image must have. Ignition runs before the system starts, once, and makes missing directories
// with mode 0755. The error is an [*InvalidError]. The size is not limited, because an Ignition
// config can also come from a server; see [Cloud.Check] and [IgnitionCustomData].
func Ignition(c Contract) ([]byte, error) {
	names, err := c.check()
	if err != nil {
		return nil, err
	}
	config := ignitionConfig{
		Ignition: ignitionHead{ignitionVersion},
		Storage:  ignitionStorage{[]ignitionFile{newIgnitionFile(c.Path, c.Document)}},
		Systemd:  ignitionSystemd{[]ignitionUnit{{Name: c.unit(), Enabled: true}}},
	}
	if features := c.features(names); features != nil {
		config.Storage.Files = append(config.Storage.Files, newIgnitionFile(c.family().Paths.Features, features))
	}
	return json.Marshal(config)
}

func newIgnitionFile(path string, content []byte) ignitionFile {
	source := "data:;base64," + base64.StdEncoding.EncodeToString(content)
	return ignitionFile{Path: path, Overwrite: true, Contents: ignitionContents{source}, Mode: 0o600}
}

// IgnitionCustomData returns the base64 of [Ignition], as Azure's API takes it. The error is an
// [*InvalidError] or a [*TooLargeError].
func IgnitionCustomData(c Contract) (string, error) {
	return encodeLimited(Ignition(c))
}
