package make

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/release/bom"
	"github.com/slipway-dev/slipway/release/licence"
	"github.com/slipway-dev/slipway/release/manual"
	"github.com/slipway-dev/slipway/release/pack"
	"github.com/slipway-dev/slipway/release/product"
	"github.com/slipway-dev/slipway/release/seal"
)

// Maker makes the files of a release in a directory.
type Maker struct {
	Source   *Source
	Programs []product.Program
	// Out is the release's directory, Scratch one for what it is made of.
	Out, Scratch string
	// Keys sign the release.
	Keys []seal.Key
	// Builder is the URI of who runs the build.
	Builder string
	// Say reports progress.
	Say func(format string, args ...any)

	files   []release.File
	modules licence.Reader
	// sums are all files but the list, and its signatures.
	sums []release.Sum
}

// Make makes all files, their list, and its signatures.
func (m *Maker) Make(ctx context.Context) error {
	m.modules = licence.Reader{Source: m.Source.Dir}
	for i := range m.Programs {
		if err := m.program(ctx, &m.Programs[i]); err != nil {
			return fmt.Errorf("%s: %w", m.Programs[i].Name, err)
		}
	}
	return m.seal(ctx)
}

// version is the version without the "v" of its tag.
func (m *Maker) version() string { return strings.TrimPrefix(m.Source.Version, "v") }

// built is a program for a platform.
type built struct {
	on      product.Platform
	content []byte
	archive []byte
	modules []licence.Module
}

// program makes the files of a program.
func (m *Maker) program(ctx context.Context, p *product.Program) error {
	documents, err := m.documents(ctx, p)
	if err != nil {
		return err
	}
	var each []built
	for _, on := range p.Platforms {
		m.Say("%s for %s/%s", p.Name, on.OS, on.Architecture)
		b, err := m.platform(ctx, p, on, documents)
		if err != nil {
			return err
		}
		each = append(each, *b)
	}
	return m.image(p, each)
}

// platform makes the files of a program for a platform: its archive, bills and packages.
func (m *Maker) platform(ctx context.Context, p *product.Program, on product.Platform, documents []product.Document) (*built, error) {
	file, err := m.Source.build(ctx, p, on, m.Scratch)
	if err != nil {
		return nil, err
	}
	b := &built{on: on}
	if b.content, err = os.ReadFile(file); err != nil {
		return nil, err
	}
	if b.modules, err = m.modules.Modules(ctx, file); err != nil {
		return nil, err
	}
	own, err := os.ReadFile(filepath.Join(m.Source.Dir, "LICENSE"))
	if err != nil {
		return nil, err
	}
	documents = append(slices.Clone(documents), product.Document{Name: product.Licenses, Content: licence.Write(p.Name, own, b.modules)})
	about := release.File{Program: p.Name, OS: on.OS, Architecture: on.Architecture}
	name := fmt.Sprintf("%s_%s_%s_%s", p.Name, m.version(), on.OS, on.Architecture)
	if b.archive, err = m.archive(p, name, about, b.content, documents); err != nil {
		return nil, err
	}
	if err := m.bills(p, name, about, b); err != nil {
		return nil, err
	}
	if on.OS != "linux" {
		return b, nil
	}
	return b, m.packages(p, about, b.content, documents)
}

func (m *Maker) archive(p *product.Program, name string, about release.File, program []byte, documents []product.Document) ([]byte, error) {
	files := []pack.File{{Name: p.Name, Content: program, Mode: 0o755}}
	for _, d := range documents {
		files = append(files, pack.File{Name: d.Name, Content: d.Content, Mode: 0o644})
	}
	for _, unit := range p.Units {
		content, err := m.unit(unit)
		if err != nil {
			return nil, err
		}
		files = append(files, pack.File{Name: "systemd/" + unit, Content: content, Mode: 0o644})
	}
	data, err := pack.Tar(name, files, m.Source.Time)
	if err != nil {
		return nil, err
	}
	about.Kind = "tar"
	return data, m.add(name+".tar.gz", data, about)
}

func (m *Maker) unit(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(m.Source.Dir, "dist", "systemd", name))
}

func (m *Maker) bills(p *product.Program, name string, about release.File, b *built) error {
	subject := &bom.Subject{Program: *p, Platform: b.on, Version: m.Source.Version, Time: m.Source.Time, SHA256: digest(b.content), Modules: b.modules}
	for _, form := range []struct {
		kind, extension string
		write           func(*bom.Subject) ([]byte, error)
	}{{"spdx", ".spdx.json", bom.SPDX}, {"cyclonedx", ".cdx.json", bom.CycloneDX}} {
		data, err := form.write(subject)
		if err != nil {
			return err
		}
		about.Kind = form.kind
		if err := m.add(name+form.extension, data, about); err != nil {
			return err
		}
	}
	return nil
}

func (m *Maker) packages(p *product.Program, about release.File, program []byte, documents []product.Document) error {
	for _, format := range pack.Formats {
		contents, err := m.contents(p, format, program, documents)
		if err != nil {
			return err
		}
		scratch, err := os.MkdirTemp(m.Scratch, "package-")
		if err != nil {
			return err
		}
		name, data, err := pack.Package(format, p, about.Architecture, m.version(), contents, scratch, m.Source.Time)
		if err != nil {
			return err
		}
		about.Kind = format
		if err := m.add(name, data, about); err != nil {
			return err
		}
	}
	return nil
}

// image makes an image of a program for all of Linux's architectures. The agent's is an artefact: no container runs it.
func (m *Maker) image(p *product.Program, each []built) error {
	var parts []pack.Part
	for _, b := range each {
		if b.on.OS != "linux" {
			continue
		}
		part := pack.Part{Platform: b.on}
		var err error
		if p.Runs {
			part.Image, err = pack.Artefact(p, b.archive, m.Source.Version, m.Source.Commit)
		} else {
			part.Image, err = pack.Image(p, b.on, b.content, m.Source.Version, m.Source.Commit, m.Source.Time)
		}
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	scratch, err := os.MkdirTemp(m.Scratch, "layout-")
	if err != nil {
		return err
	}
	data, err := pack.Layout(parts, m.Source.Version, scratch, m.Source.Time)
	if err != nil {
		return err
	}
	return m.add(fmt.Sprintf("%s_%s_oci.tar", p.Name, m.version()), data, release.File{Kind: "oci", Program: p.Name, OS: "linux"})
}

// add writes a file of the release that the manifest has.
func (m *Maker) add(name string, data []byte, about release.File) error {
	about.Name, about.Size, about.SHA256 = name, int64(len(data)), digest(data)
	m.files = append(m.files, about)
	return m.put(name, data)
}

// put writes a file that the list has.
func (m *Maker) put(name string, data []byte) error {
	m.sums = append(m.sums, release.Sum{Name: name, SHA256: digest(data)})
	return os.WriteFile(filepath.Join(m.Out, name), data, 0o644)
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// seal writes the provenance, the manifest, the list and its signatures.
func (m *Maker) seal(ctx context.Context) error {
	goVersion, err := output(ctx, m.Source.Dir, goEnv, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	manifest := &release.Manifest{
		Version: m.Source.Version, Commit: m.Source.Commit, CommitTime: m.Source.Time.Format(time.RFC3339), GoVersion: goVersion,
		OldestKubelet: fmt.Sprintf("1.%d", kubeletapi.OldestSupported), NewestKubelet: fmt.Sprintf("1.%d", kubeletapi.NewestSupported), Files: m.sorted(),
	}
	for _, d := range dialect.All() {
		manifest.Contracts = append(manifest.Contracts, d.Name+": "+d.Title)
	}
	provenance, err := seal.Provenance(manifest, m.modules.All(), m.Builder)
	if err != nil {
		return err
	}
	if err := m.add("slipway_"+m.version()+"_provenance.json", provenance, release.File{Kind: "provenance"}); err != nil {
		return err
	}
	manifest.Files = m.sorted()
	data, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := m.put(release.ManifestName, append(data, '\n')); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(m.Out, release.SumsName), release.FormatSums(m.sums), 0o644); err != nil {
		return err
	}
	m.Say("signing %s", release.SumsName)
	return seal.Sign(ctx, m.Out, m.Keys)
}

// sorted are the files by name.
func (m *Maker) sorted() []release.File {
	return slices.SortedFunc(slices.Values(m.files), func(a, b release.File) int { return strings.Compare(a.Name, b.Name) })
}

// documents are what comes with a program on each platform: its manual and completions, from the program itself.
func (m *Maker) documents(ctx context.Context, p *product.Program) ([]product.Document, error) {
	here, err := m.Source.build(ctx, p, product.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}, m.Scratch)
	if err != nil {
		return nil, err
	}
	described, err := exec.CommandContext(ctx, here, "help", "-o", "json").Output()
	if err != nil {
		return nil, fmt.Errorf("%s help: %w", here, err)
	}
	var root command.Described
	if err := json.Unmarshal(described, &root); err != nil {
		return nil, fmt.Errorf("%s help: %w", here, err)
	}
	readme, err := os.ReadFile(filepath.Join(m.Source.Dir, "README.md"))
	if err != nil {
		return nil, err
	}
	changelog, err := os.ReadFile(filepath.Join(m.Source.Dir, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	documents := []product.Document{{Name: "README.md", Content: readme}, {Name: "CHANGELOG.md", Content: changelog}}
	for _, page := range manual.Write(&root, p.Section, m.version(), m.Source.Time) {
		documents = append(documents, product.Document{Name: fmt.Sprintf("man/man%d/%s", p.Section, page.Name), Content: page.Text})
	}
	for shell, name := range map[string]string{"bash": p.Name, "zsh": "_" + p.Name, "fish": p.Name + ".fish"} {
		script, err := exec.CommandContext(ctx, here, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("%s completion %s: %w", here, shell, err)
		}
		documents = append(documents, product.Document{Name: "completions/" + shell + "/" + name, Content: script})
	}
	slices.SortFunc(documents, func(a, b product.Document) int { return strings.Compare(a.Name, b.Name) })
	return documents, nil
}
