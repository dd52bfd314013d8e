// Package ignition has the parts of an Ignition config that Slipway writes (Ignition, configuration specification 3.4), in the
// order of the output. It decides nothing and reads nothing. The renderers of user data use it.
package ignition

import (
	"encoding/base64"
	"strings"
)

// Version is the version of Ignition's specification: old enough for every maintained Flatcar release.
const Version = "3.4.0"

// Config is a whole config.
type Config struct {
	Ignition Head    `json:"ignition"`
	Storage  Storage `json:"storage"`
	Systemd  Systemd `json:"systemd"`
}

// Head has the config's version, and the configs to merge.
type Head struct {
	Version string `json:"version"`
	Config  *Other `json:"config,omitempty"`
}

// Other are configs that are merged into this one.
type Other struct {
	Merge []Contents `json:"merge"`
}

// Storage has the files on the disk.
type Storage struct {
	Directories []Directory `json:"directories,omitempty"`
	Files       []File      `json:"files,omitempty"`
	Links       []Link      `json:"links,omitempty"`
}

// Directory is a directory. Modes are decimal, here and below, because JSON has no octal numbers.
type Directory struct {
	Path  string `json:"path"`
	Mode  int    `json:"mode"`
	User  *Owner `json:"user,omitempty"`
	Group *Owner `json:"group,omitempty"`
}

// File is a file.
type File struct {
	Path      string   `json:"path"`
	Overwrite bool     `json:"overwrite"`
	Contents  Contents `json:"contents"`
	Mode      int      `json:"mode"`
	User      *Owner   `json:"user,omitempty"`
	Group     *Owner   `json:"group,omitempty"`
}

// Link is a symbolic link.
type Link struct {
	Path      string `json:"path"`
	Overwrite bool   `json:"overwrite"`
	Target    string `json:"target"`
}

// Owner is a user or group.
type Owner struct {
	ID int `json:"id"`
}

// OwnerOf returns the owner with an ID. It is nil for root, who is the default.
func OwnerOf(id int) *Owner {
	if id == 0 {
		return nil
	}
	return &Owner{id}
}

// Contents is the source of a content.
type Contents struct {
	Source string `json:"source"`
	// Compression is "gzip" for a content that Ignition decompresses.
	Compression string `json:"compression,omitempty"`
}

const inline = "data:;base64,"

// Inline returns a content that is part of the config.
func Inline(content []byte) Contents {
	return Contents{Source: inline + base64.StdEncoding.EncodeToString(content)}
}

// Compress compresses the contents in the config, if that makes them smaller.
func (c *Config) Compress(gzip func([]byte) []byte) error {
	for i := range c.Storage.Files {
		if err := c.Storage.Files[i].Contents.compress(gzip); err != nil {
			return err
		}
	}
	if c.Ignition.Config != nil {
		for i := range c.Ignition.Config.Merge {
			if err := c.Ignition.Config.Merge[i].compress(gzip); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Contents) compress(gzip func([]byte) []byte) error {
	text, ok := strings.CutPrefix(c.Source, inline)
	if !ok || c.Compression != "" {
		return nil
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	if small := Inline(gzip(content)); len(small.Source)+len(`,"compression":"gzip"`) < len(c.Source) {
		*c = Contents{small.Source, "gzip"}
	}
	return nil
}

// Systemd has the units.
type Systemd struct {
	Units []Unit `json:"units,omitempty"`
}

// Unit is a unit. The image decides what is not set.
type Unit struct {
	Name    string `json:"name"`
	Enabled *bool  `json:"enabled,omitempty"`
	Mask    *bool  `json:"mask,omitempty"`
}
