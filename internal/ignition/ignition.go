// Package ignition holds the parts of an Ignition config that Slipway writes (Ignition, configuration specification 3.4), in
// the order in which they are written. It has no rules of its own and reads nothing. Those who render user data use it.
package ignition

import (
	"encoding/base64"
	"strings"
)

// Version is the version of Ignition's specification that is written: old enough for every Flatcar release that is still
// maintained.
const Version = "3.4.0"

// Config is a whole config.
type Config struct {
	Ignition Head    `json:"ignition"`
	Storage  Storage `json:"storage"`
	Systemd  Systemd `json:"systemd"`
}

// Head says what the config is.
type Head struct {
	Version string `json:"version"`
	Config  *Other `json:"config,omitempty"`
}

// Other are configs that are merged into this one.
type Other struct {
	Merge []Contents `json:"merge"`
}

// Storage is what is on the disk.
type Storage struct {
	Directories []Directory `json:"directories,omitempty"`
	Files       []File      `json:"files,omitempty"`
	Links       []Link      `json:"links,omitempty"`
}

// Directory is a directory. Modes are decimal, here as below: JSON has no octal numbers.
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

// OwnerOf is the owner of a number, nil for the superuser, who is the default.
func OwnerOf(id int) *Owner {
	if id == 0 {
		return nil
	}
	return &Owner{id}
}

// Contents is where a content comes from.
type Contents struct {
	Source string `json:"source"`
	// Compression is "gzip" for a content that Ignition decompresses.
	Compression string `json:"compression,omitempty"`
}

const inline = "data:;base64,"

// Inline is a content that the config itself has.
func Inline(content []byte) Contents {
	return Contents{Source: inline + base64.StdEncoding.EncodeToString(content)}
}

// Compress compresses the contents that the config itself has, where that makes them smaller.
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

// Systemd is what is said of units.
type Systemd struct {
	Units []Unit `json:"units,omitempty"`
}

// Unit is a unit. What is not set is left to the image.
type Unit struct {
	Name    string `json:"name"`
	Enabled *bool  `json:"enabled,omitempty"`
	Mask    *bool  `json:"mask,omitempty"`
}
