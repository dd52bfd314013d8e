package pack

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format

	"github.com/slipway-dev/slipway/release/product"
)

// Formats are the kinds of packages.
var Formats = []string{"deb", "rpm"}

// scripts are those of the agent's packages: their names are FORMAT.WHEN.
//
//go:embed scripts
var scripts embed.FS

// Content is a file of a package, or a link.
type Content struct {
	// Path is absolute.
	Path string
	Data []byte
	Mode os.FileMode
	// Target is that of a link.
	Target string
}

// Package writes a package of a program and returns it with its usual name. scratch is an empty directory: nfpm reads files and scripts by
// their names.
func Package(format string, p *product.Program, architecture, version string, contents []Content, scratch string, at time.Time) (name string, data []byte, err error) {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: p.Name, Arch: architecture, Platform: "linux", Version: version, VersionSchema: "semver", Release: "1",
		Section: "admin", Priority: "optional", Maintainer: product.Maintainer, Homepage: product.Homepage, License: product.License,
		Description: p.Summary + "\n" + p.Description, MTime: at,
	})
	info.RPM.BuildHost = "slipway" // else it is the machine's name
	info.RPM.Summary, info.RPM.Group = strings.ToUpper(p.Summary[:1])+p.Summary[1:], "System Environment/Base"
	info.RPM.Compression, info.Deb.Compression = "gzip", "gzip" // each dpkg and rpm reads it; xz takes a minute a package in Go, for 9 % less
	for i, c := range contents {
		entry := &files.Content{Destination: c.Path, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: c.Mode, MTime: at}}
		if c.Target != "" {
			entry.Type, entry.Source = files.TypeSymlink, c.Target
		} else {
			entry.Source = filepath.Join(scratch, fmt.Sprint(i))
			if err := os.WriteFile(entry.Source, c.Data, 0o600); err != nil {
				return "", nil, err
			}
		}
		if format == "rpm" && entry.Type == "" {
			entry.Type = rpmType(c.Path)
		}
		info.Contents = append(info.Contents, entry)
	}
	if p.Runs {
		for when, place := range map[string]*string{
			"postinst": &info.Scripts.PostInstall, "prerm": &info.Scripts.PreRemove, "postrm": &info.Scripts.PostRemove,
		} {
			script, err := scripts.ReadFile(path.Join("scripts", format+"."+when))
			if err != nil {
				return "", nil, err
			}
			*place = filepath.Join(scratch, when)
			if err := os.WriteFile(*place, script, 0o600); err != nil {
				return "", nil, err
			}
		}
	}
	return write(format, info)
}

// rpmType is what RPM calls a file: an installation can leave out documentation.
func rpmType(file string) string {
	switch {
	case path.Base(file) == product.Licenses:
		return files.TypeRPMLicense
	case strings.HasPrefix(file, "/usr/share/doc/"), strings.HasPrefix(file, "/usr/share/man/"):
		return files.TypeRPMDoc
	}
	return ""
}

func write(format string, info *nfpm.Info) (name string, data []byte, err error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", nil, err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return "", nil, fmt.Errorf("%s: %w", format, err)
	}
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return "", nil, fmt.Errorf("%s: %w", format, err)
	}
	return packager.ConventionalFileName(info), b.Bytes(), nil
}

// Preset is systemd's preset of a program's units: none is enabled unless an administrator or an image's preset of a lower number says so.
func Preset(p *product.Program) []byte {
	var b strings.Builder
	_, _ = io.WriteString(&b, "# An installation enables none of Slipway's units. An image enables those that it wants by name, or with a preset of a lower number.\n")
	for _, unit := range p.Units {
		fmt.Fprintf(&b, "disable %s\n", unit)
	}
	return []byte(b.String())
}
