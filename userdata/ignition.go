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
		Version string          `json:"version"`
		Config  *ignitionMerged `json:"config,omitempty"`
	}
	ignitionMerged struct {
		Merge []ignitionContents `json:"merge"`
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
// the image must have. The user's own configs are in it, for Ignition to merge. Ignition runs before the system starts, once, and makes missing directories
// with mode 0755. The error is an [*InvalidError]. The size is not limited, because an Ignition
// config can also come from a server; see [Cloud.Check] and [IgnitionCustomData].
func Ignition(c Contract) ([]byte, error) {
	names, err := c.check(ignition)
	if err != nil {
		return nil, err
	}
	config := ignitionConfig{
		Ignition: ignitionHead{Version: ignitionVersion},
		Storage:  ignitionStorage{[]ignitionFile{newIgnitionFile(c.Path, c.Document)}},
		Systemd:  ignitionSystemd{[]ignitionUnit{{Name: c.unit(), Enabled: true}}},
	}
	if features := c.features(names); features != nil {
		config.Storage.Files = append(config.Storage.Files, newIgnitionFile(c.family().Paths.Features, features))
	}
	if len(c.Parts) > 0 {
		config.Ignition.Config = new(ignitionMerged)
	}
	for i := range c.Parts {
		config.Ignition.Config.Merge = append(config.Ignition.Config.Merge, ignitionContents{dataURL(c.Parts[i].Content)})
	}
	return json.Marshal(config)
}

func dataURL(content []byte) string {
	return "data:;base64," + base64.StdEncoding.EncodeToString(content)
}

func newIgnitionFile(path string, content []byte) ignitionFile {
	return ignitionFile{Path: path, Overwrite: true, Contents: ignitionContents{dataURL(content)}, Mode: 0o600}
}

// IgnitionCustomData returns the base64 of [Ignition], as Azure's API takes it. The error is an
// [*InvalidError] or a [*TooLargeError].
func IgnitionCustomData(c Contract) (string, error) {
	document, err := Ignition(c)
	if err == nil {
		err = Azure.Check(len(document))
	}
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(document), nil
}
