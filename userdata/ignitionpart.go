package userdata

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ignitionPart has the fields of the user's own Ignition config that are checked (specification 3.x).
type ignitionPart struct {
	Ignition struct {
		Version string `json:"version"`
	} `json:"ignition"`
	Storage struct {
		Files       []ignitionPlace `json:"files"`
		Directories []ignitionPlace `json:"directories"`
		Links       []ignitionPlace `json:"links"`
	} `json:"storage"`
	Systemd struct {
		Units []struct {
			Name     string  `json:"name"`
			Enabled  *bool   `json:"enabled"`
			Mask     *bool   `json:"mask"`
			Contents *string `json:"contents"`
		} `json:"units"`
	} `json:"systemd"`
}

type ignitionPlace struct {
	Path string `json:"path"`
}

// checkForIgnition reports problems of parts for Ignition to merge. A merged config wins over the config that merges it, so a part
// must not contain the contract's file or the agent's unit.
func checkForIgnition(c *Contract, add reporter) {
	for i := range c.Parts {
		field := fmt.Sprintf("Parts[%d]", i)
		if c.Parts[i].kind() != typeIgnition {
			add(field, "is no Ignition config; Ignition reads nothing else")
			continue
		}
		var part ignitionPart
		switch err := json.Unmarshal(c.Parts[i].Content, &part); {
		case err != nil:
			add(field, "is no Ignition config in JSON (one of Butane's is YAML, and must be translated)")
			continue
		case !strings.HasPrefix(part.Ignition.Version, "3."):
			add(field, "has no ignition.version 3.x, which Ignition needs to merge it")
		}
		for _, p := range slices.Concat(part.Storage.Files, part.Storage.Directories, part.Storage.Links) {
			if at := path.Clean(p.Path); at == FeaturesPath || slices.Contains(contractPlaces, at) {
				add(field, "has something at %s, where the contract belongs", at)
			}
		}
		for _, u := range part.Systemd.Units {
			if u.Name == c.unit() && (u.Enabled != nil || u.Mask != nil || u.Contents != nil) {
				add(field, "says whether %s is enabled or what is in it; only drop-ins are the user's own", u.Name)
			}
		}
	}
}
