package make

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/release/pack"
	"github.com/slipway-dev/slipway/release/product"
)

// contents are the files of a package.
func (m *Maker) contents(p *product.Program, format string, program []byte, documents []product.Document) ([]pack.Content, error) {
	contents := []pack.Content{{Path: p.Installed, Data: program, Mode: 0o755}}
	if p.Link != "" {
		contents = append(contents, pack.Content{Path: p.Link, Target: p.Installed})
	}
	for _, d := range documents {
		c := pack.Content{Path: p.Place(d, format), Data: d.Content, Mode: 0o644}
		if strings.HasPrefix(d.Name, "man/") || d.Name == "CHANGELOG.md" { // Debian Policy 12.1 and 12.7
			if d.Name == "CHANGELOG.md" {
				c.Path = path.Join(path.Dir(c.Path), "changelog")
			}
			var err error
			if c.Data, err = pack.Gzip(d.Content); err != nil {
				return nil, err
			}
			c.Path += ".gz"
		}
		contents = append(contents, c)
	}
	for _, unit := range p.Units {
		data, err := m.unit(unit)
		if err != nil {
			return nil, err
		}
		contents = append(contents, pack.Content{Path: "/usr/lib/systemd/system/" + unit, Data: data, Mode: 0o644})
	}
	if p.Runs {
		contents = append(contents, pack.Content{Path: "/usr/lib/systemd/system-preset/80-" + p.Name + ".preset", Data: pack.Preset(p), Mode: 0o644})
	}
	if format == "deb" {
		return m.debian(p, contents)
	}
	return contents, nil
}

// debian adds what Debian's packages have besides: the copyright, the packaging's changelog, and the reasons for what lintian reports.
func (m *Maker) debian(p *product.Program, contents []pack.Content) ([]pack.Content, error) {
	changelog, err := pack.Gzip(fmt.Appendf(nil, "%s (%s-1) unstable; urgency=medium\n\n  * Release %s: see changelog.gz.\n\n -- %s  %s\n",
		p.Name, debianVersion(m.version()), m.Source.Version, product.Maintainer, m.Source.Time.Format(time.RFC1123Z)))
	if err != nil {
		return nil, err
	}
	doc := "/usr/share/doc/" + p.Name
	contents = append(contents,
		pack.Content{Path: doc + "/copyright", Data: copyright(p), Mode: 0o644},
		pack.Content{Path: doc + "/changelog.Debian.gz", Data: changelog, Mode: 0o644},
		pack.Content{Path: "/usr/share/lintian/overrides/" + p.Name, Data: overrides(p), Mode: 0o644},
	)
	return contents, nil
}

// debianVersion sorts a version before a release before that release, as nfpm does.
func debianVersion(version string) string { return strings.Replace(version, "-", "~", 1) }

func copyright(p *product.Program) []byte {
	return fmt.Appendf(nil, `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Slipway
Source: %s
Comment: The licences of the Go modules in the program are in LICENSES.

Files: *
Copyright: 2026 Slipway's authors
License: Apache-2.0
 On Debian systems, the text of the licence is in /usr/share/common-licenses/Apache-2.0.
`, product.Homepage)
}

// overrides are the reports of lintian that are wanted, each with its reason.
func overrides(p *product.Program) []byte {
	var b strings.Builder
	line := func(reason, tag string) { fmt.Fprintf(&b, "# %s\n%s: %s\n", reason, p.Name, tag) }
	line("Go links programs statically, so that one runs on each distribution.", "statically-linked-binary")
	line("No bug of Debian's asked for it.", "initial-upload-closes-no-bugs *")
	line("It tells which packages an image has, also one in a directory.", "uses-dpkg-database-directly *")
	if p.Link != "" {
		line("Node images expect the agent there, also those that have no package of it.", "dir-or-file-in-opt")
		line("Debian's helpers would stop the units at an upgrade, or start them.", "maintainer-script-calls-systemctl *")
	}
	return []byte(b.String())
}
