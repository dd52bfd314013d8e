//go:build linux

package commands

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/build"
	"github.com/slipway-dev/slipway/internal/image/mkosi"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// building has the flags of build.
type building struct {
	selection
	dir, contract       string
	formats             []string
	tree, mirror, tools string
	key, certificate    string
	signature           string
	print               bool
	output              command.Choice
	store
}

// built is the result of build.
type built struct {
	Dir  string `json:"dir"`
	Lock string `json:"lock"`
	*build.Result
}

func newBuild(s cli.Streams) *cobra.Command {
	var b building
	cmd := &cobra.Command{
		Use:   "build [flags]",
		Short: "Make the disk of a node image with mkosi",
		Long: `Make the disk of a node image: a distribution, the components of a lock, the parts of a node that need
no cluster, a boot loader for UEFI, and a root file system that grows with the machine's disk.

The command writes a configuration of mkosi into a directory, and runs mkosi there. The configuration
works without Slipway. "--print" shows it, and builds nothing. The same lock, contract, tools and
packages make the same bytes.

mkosi and its programs come from Debian 13, in a tree that the command makes once with mmdebstrap. The
machine needs Linux, Python 3.9, mmdebstrap, and without root newuidmap. For another architecture than
its own it needs QEMU's emulator of programs (qemu-user-static), because packages run scripts.

The command checks the finished disk as "slipway image check" does. Its manifest is beside it.

Exit codes: 0 the image is built, 1 an error, also one that the check has found, 64 wrong usage.`,
		Example: `  slipway image build
  slipway image build --format qcow2 --format vhd --kubernetes 1.36
  slipway image build --secure-boot-key db.key --secure-boot-certificate db.crt
  slipway image build --print`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd, s) },
	}
	flags := cmd.Flags()
	b.selection.add(cmd, "make the image for")
	flags.StringVar(&b.dir, "dir", "image", "write the configuration to `DIR`, and the image to DIR/output")
	flags.StringVar(&b.contract, "provision-config", "", "apply the contract in `FILE`, which joins no cluster (default: what every node has)")
	flags.StringVar(&b.signature, "manifest-signature", "", "put the signature in `FILE` into the image, for contracts that require it")
	flags.StringArrayVar(&b.formats, "format", nil, "write the disk as `FORMAT`, too: qcow2 or vhd")
	command.CompleteWith(cmd, "format", build.Formats[1:]...)
	flags.StringVar(&b.tree, "tree", "", "take the distribution in `DIR`, and install none")
	addTools(cmd, &b.tools, &b.mirror)
	flags.StringVar(&b.key, "secure-boot-key", "", "sign boot loader and kernel with the private key in `FILE` (PEM)")
	flags.StringVar(&b.certificate, "secure-boot-certificate", "", "the certificate of this key, in `FILE` (PEM)")
	cmd.MarkFlagsRequiredTogether("secure-boot-key", "secure-boot-certificate")
	flags.BoolVar(&b.print, "print", false, "print the configuration, and build nothing")
	for _, name := range []string{"dir", "tree"} {
		command.Must(cmd.MarkFlagDirname(name))
	}
	b.store.add(cmd)
	command.AddOutput(cmd, &b.output)
	return cmd
}

func (b *building) run(cmd *cobra.Command, s cli.Streams) error {
	for _, f := range b.formats {
		if !slices.Contains(build.Formats, f) {
			return cli.Usage(command.Hint(cmd), "--format %s: want %s", cli.Line(f), cli.List(build.Formats, "or"))
		}
	}
	l, architecture, err := b.read(cmd, s)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(b.dir)
	if err != nil {
		return command.Failed("%w", err)
	}
	image := &build.Build{Lock: l, Dir: dir, Formats: b.formats, Log: s.Err, Image: mkosi.Image{Architecture: architecture, Mirror: b.mirror}}
	if err := b.fill(image, s); err != nil {
		return err
	}
	if b.print {
		return b.show(s, image)
	}
	if err := build.CheckRuns(cmd.Context(), architecture); err != nil {
		return command.Failed("%w", err)
	}
	if image.Cache, _, err = b.bring(cmd, s, b.lock, l, []string{architecture}, nil); err != nil {
		return err
	}
	defer image.Cache.Close()
	if image.Tools, err = build.OpenTools(cmd.Context(), b.tools, filepath.Dir(b.cache), image.Base.Snapshot, b.mirror, s.Err); err != nil {
		return command.Failed("%w", err)
	}
	if err := image.Prepare(cmd.Context()); err != nil {
		return failedComponents(s, err, "put into the image")
	}
	result, err := image.Make(cmd.Context())
	if err != nil {
		return command.Failed("%w", err)
	}
	// People see the directory as they have named it.
	named := func(path string) string { return filepath.Join(b.dir, strings.TrimPrefix(path, dir)) }
	result.Manifest = named(result.Manifest)
	for i := range result.Disks {
		result.Disks[i].Path = named(result.Disks[i].Path)
	}
	r := &built{b.dir, b.lock, result}
	return command.Compared(command.Print(s, b.output.Value, r, r.text), !result.Check.Failed())
}

// fill reads what the flags name.
func (b *building) fill(image *build.Build, s cli.Streams) (err error) {
	switch {
	case image.Lock.Base != nil:
		image.Base = *image.Lock.Base
	case b.tree == "":
		return command.Failed("%s has no base: name the distribution in components.yaml (base.suite, base.snapshot), or a tree with --tree", cli.Line(command.Title(b.lock)))
	default:
		release, err := os.ReadFile(filepath.Join(b.tree, "usr/lib/os-release"))
		if err != nil {
			return command.Failed("--tree: it has no distribution: %w", err)
		}
		image.Base.Suite = unitfile.Environment(string(release))["VERSION_CODENAME"]
	}
	if image.Epoch, err = build.EpochOf(image.Lock, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return command.Failed("%w", err)
	}
	image.Contract = []byte(build.EveryNode)
	if b.contract != "" {
		if image.Contract, err = command.ReadInput(s, b.contract); err != nil {
			return err
		}
	}
	if b.signature != "" {
		if image.Signature, err = command.ReadInput(s, b.signature); err != nil {
			return err
		}
	}
	if b.tree != "" {
		if err := build.CheckTree(b.tree); err != nil {
			return command.Failed("--tree: %w", err)
		}
		if image.Tree, err = filepath.Abs(b.tree); err != nil {
			return command.Failed("%w", err)
		}
	}
	if b.key == "" {
		return nil
	}
	image.SecureBoot = new(mkosi.SecureBoot)
	for _, f := range []struct {
		from string
		to   *string
	}{{b.key, &image.SecureBoot.Key}, {b.certificate, &image.SecureBoot.Certificate}} {
		if _, err := os.Stat(f.from); err != nil {
			return command.Failed("%w", err)
		}
		if *f.to, err = filepath.Abs(f.from); err != nil {
			return command.Failed("%w", err)
		}
	}
	return nil
}

// show prints the configuration.
func (b *building) show(s cli.Streams, image *build.Build) error {
	files, err := image.Configuration()
	if err != nil {
		return command.Failed("%w", err)
	}
	type file struct {
		Path    string `json:"path"`
		Mode    string `json:"mode,omitempty"`
		Link    string `json:"link,omitempty"`
		Content string `json:"content,omitempty"`
	}
	all := make([]file, len(files))
	for i, f := range files {
		all[i] = file{Path: f.Path, Link: f.Link, Content: string(f.Content)}
		if f.Link == "" {
			all[i].Mode = fmt.Sprintf("%04o", f.Mode.Perm())
		}
		if f.Mode.IsDir() {
			all[i].Path += "/"
		}
	}
	return command.Print(s, b.output.Value, all, func(style cli.Style) string {
		var out strings.Builder
		for _, f := range all {
			if f.Link != "" {
				fmt.Fprintf(&out, "%s -> %s\n", style.Bold(f.Path), f.Link)
				continue
			}
			fmt.Fprintf(&out, "%s\n", style.Bold(f.Path))
			for line := range strings.Lines(f.Content) {
				out.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
			}
		}
		return out.String()
	})
}

// text is the result for people.
func (r *built) text(style cli.Style) string {
	var out strings.Builder
	c := examined{r.Disks[0].Path, r.Check}
	_, _ = io.WriteString(&out, c.text(style))
	for _, d := range r.Disks {
		fmt.Fprintf(&out, "%s %s\n  %s\n", cli.Line(d.Path), cli.Size(d.Bytes), style.Dim("sha256:"+d.SHA256))
	}
	fmt.Fprintf(&out, "%s\n", cli.Line(r.Manifest))
	return out.String()
}
