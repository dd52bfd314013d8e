package userdata

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/slipway-dev/slipway/internal/ignition"
)

// Ignition returns an Ignition config that writes the contract and enables the agent's unit, which the image must have. It contains
// the user's own configs, which Ignition merges. Ignition runs once, before the system starts, and creates missing directories with
// mode 0755. The error is an [*InvalidError]. The size is not limited, because an Ignition config can also come from a server; see
// [Cloud.Check] and [IgnitionCustomData].
func Ignition(c Contract) ([]byte, error) {
	names, err := c.check(checkForIgnition)
	if err != nil {
		return nil, err
	}
	enabled := true
	config := ignition.Config{
		Ignition: ignition.Head{Version: ignition.Version},
		Storage:  ignition.Storage{Files: []ignition.File{newIgnitionFile(c.Path, c.Document)}},
		Systemd:  ignition.Systemd{Units: []ignition.Unit{{Name: c.unit(), Enabled: &enabled}}},
	}
	if features := c.features(names); features != nil {
		config.Storage.Files = append(config.Storage.Files, newIgnitionFile(c.family().Paths.Features, features))
	}
	if len(c.Parts) > 0 {
		config.Ignition.Config = new(ignition.Other)
	}
	for i := range c.Parts {
		config.Ignition.Config.Merge = append(config.Ignition.Config.Merge, ignition.Inline(c.Parts[i].Content))
	}
	return json.Marshal(config)
}

func newIgnitionFile(path string, content []byte) ignition.File {
	return ignition.File{Path: path, Overwrite: true, Contents: ignition.Inline(content), Mode: 0o600}
}

// IgnitionCustomData returns the base64 of [Ignition], as Azure's API takes it. The error is an [*InvalidError] or a
// [*TooLargeError].
func IgnitionCustomData(c Contract) (string, error) {
	document, err := Ignition(c)
	if err == nil {
		err = c.tooLarge(Azure, len(document), Ignition)
	}
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(document), nil
}

// GzipIgnition compresses the contents of a config of [Ignition], for a cloud with a smaller limit. Ignition decompresses each of
// them. The same document gives the same bytes with the same version of Go.
func GzipIgnition(document []byte) ([]byte, error) {
	var config ignition.Config
	if err := json.Unmarshal(document, &config); err != nil {
		return nil, fmt.Errorf("compress an Ignition config: %w", err)
	}
	if err := config.Compress(Gzip); err != nil {
		return nil, fmt.Errorf("compress an Ignition config: %w", err)
	}
	return json.Marshal(config)
}
