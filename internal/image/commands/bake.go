//go:build linux

package commands

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/bake"
)

// baking has the flags of bake.
type baking struct {
	selection
	root   string
	here   bool
	output command.Choice
	store
}

// baked is the result of bake.
type baked struct {
	Root         string `json:"root"`
	Lock         string `json:"lock"`
	Architecture string `json:"architecture"`
	*bake.Result
}

func newBake(s cli.Streams) *cobra.Command {
	var b baking
	cmd := &cobra.Command{
		Use:   "bake --root DIR|--here [flags]",
		Short: "Put the files of a lock into the tree of an image",
		Long: `Put the files of a lock into the tree of an image: each at its path, with its mode and digest. Files
that the cache lacks are fetched first. A tree that is right is not touched.

A lock can have several kubelets, each at its path. An image then has them all, or with --kubernetes one
of them, to which /usr/bin/kubelet is a link, and the components that serve its version.

What an older lock brought and this one lacks is removed, unless it has changed since. The tree keeps
the lock, and the manifest of its components (/opt/slipway/components.json), which the node reads.

With --here, a builder such as Packer runs the command inside the machine whose disk becomes the image,
as root. It starts and stops nothing. A machine that has joined a cluster is refused, here and with --root.

The tree has a distribution with systemd already. Container images are put into /opt/slipway/images, as a
layout of OCI. After this, apply the parts of a node that need no cluster: slipway-node provision --root
DIR --provision-config FILE.

Exit codes: 0 the tree is as the lock says, 1 an error, 64 wrong usage.`,
		Example: `  slipway image bake --root image
  slipway image bake --root image --lock components.lock --architecture arm64
  slipway image bake --root image --kubernetes 1.36
  slipway image bake --here`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd, s) },
	}
	cmd.Flags().StringVar(&b.root, "root", "", "put the files into the tree below `DIR`")
	command.Must(cmd.MarkFlagDirname("root"))
	cmd.Flags().BoolVar(&b.here, "here", false, "put the files into this machine, from which an image is made")
	b.selection.add(cmd, "take the files for")
	b.store.add(cmd)
	command.AddOutput(cmd, &b.output)
	return cmd
}

func (b *baking) run(cmd *cobra.Command, s cli.Streams) error {
	switch {
	case b.here && b.root != "":
		return cli.Usage("leave out one of them", "--here and --root name two trees")
	case b.here:
		b.root = "/"
	case b.root == "":
		return cli.Usage(command.Hint(cmd), "name the tree with --root DIR, or --here for this machine")
	}
	if b.here {
		b.architecture.Value = cmp.Or(b.architecture.Value, runtime.GOARCH)
	}
	l, architecture, err := b.read(cmd, s)
	if err != nil {
		return err
	}
	held, _, err := b.bring(cmd, s, b.lock, l, []string{architecture}, nil)
	if err != nil {
		return err
	}
	defer held.Close()
	result, err := bake.Tree(cmd.Context(), b.root, l, architecture, held)
	if err != nil {
		return failedComponents(s, err, "put into the tree")
	}
	r := &baked{b.root, b.lock, architecture, result}
	return command.Print(s, b.output.Value, r, r.text)
}

// text is the result for people.
func (r *baked) text(style cli.Style) string {
	var out strings.Builder
	list := func(word string, paths []string, paint func(string) string) {
		for _, path := range paths {
			fmt.Fprintf(&out, "%s %s\n", paint(word), cli.Line(path))
		}
	}
	list("wrote  ", r.Written, style.Green)
	list("removed", r.Removed, style.Red)
	for _, path := range r.Kept {
		fmt.Fprintf(&out, "%s %s, which has changed since an older lock brought it\n", style.Yellow("kept   "), cli.Line(path))
	}
	if r.Link != "" {
		fmt.Fprintf(&out, "%s is a link to %s\n", cli.Line(r.Link), cli.Line(r.Kubelets[0].Path))
	}
	if len(r.Kubelets) > 1 {
		var each []string
		for _, k := range r.Kubelets {
			each = append(each, fmt.Sprintf("%s (%s)", k.Version, cli.Size(k.Bytes)))
		}
		fmt.Fprintf(&out, "the kubelets are %s; --kubernetes puts in one of them\n", cli.Line(cli.List(each, "and")))
	}
	if len(r.Images) > 0 {
		fmt.Fprintf(&out, "the container images are %s\n", cli.Line(cli.List(r.Images, "and")))
	}
	state := "is"
	if r.Same() {
		state = "was already"
	}
	fmt.Fprintf(&out, "%s %s as %s says: %s for %s, %s\n", cli.Line(r.Root), state, cli.Line(command.Title(r.Lock)), cli.Plural(r.Files, "file"), r.Architecture, cli.Size(r.Bytes))
	return out.String()
}
