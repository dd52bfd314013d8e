// Command release makes Slipway's releases.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/make"
	"github.com/slipway-dev/slipway/release/product"
	"github.com/slipway-dev/slipway/release/seal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command.Run(ctx, newRoot, os.Args[1:], cli.Standard()))
}

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use: "release", Short: "Make releases of Slipway",
		Long:    "Make the files of a release from a commit, with their list and its signatures.",
		Example: "  release make --version v0.1.0 --out out/release",
	}
	command.AddGroup(root, "Make a release", newMake(s))
	command.Prepare(root, s)
	return root
}

func newMake(s cli.Streams) *cobra.Command {
	var (
		source, out, version, builder string
		keys, programs, platforms     []string
		modified                      bool
	)
	cmd := &cobra.Command{
		Use: "make --version VERSION [flags]", Short: "Make the files of a release",
		Long: `Make the files of a release from the commit that is checked out. The checkout must have no changes.

With --key, given once for each of both keys, ssh-keygen signs the list of files: a key is a file with a
private key, or with a public key whose private half is in an agent. Without it, two keys sign that anyone
can make: such a release is for tests. The list of allowed signers is then beside the release.`,
		Example: "  release make --version v0.1.0\n  release make --version v0.1.0 --key build.pub --key maintainer.pub --builder https://example.com/run/1",
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			began := time.Now()
			say := func(format string, args ...any) {
				_, _ = fmt.Fprintf(s.Err, "%4.0f s  "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
			}
			made, err := product.Select(programs, platforms)
			if err != nil {
				return command.Failed("%w", err)
			}
			from, err := make.ReadSource(cmd.Context(), source, version)
			if err != nil {
				return command.Failed("%w", err)
			}
			if from.Modified && (!modified || len(keys) > 0) {
				return command.Failed("%s has changes that no commit has: commit or remove them; git status shows them", source)
			}
			if err := run(cmd.Context(), made, from, out, builder, keys, say); err != nil {
				return command.Failed("%w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&version, "version", "", "the release is `VERSION`, such as v0.1.0")
	cmd.Flags().StringArrayVar(&programs, "program", nil, "make only what is of `NAME`; a release has all")
	cmd.Flags().StringArrayVar(&platforms, "platform", nil, "make only what is for `OS/ARCHITECTURE`; a release has all")
	cmd.Flags().StringVar(&source, "source", ".", "the checkout is `DIR`")
	cmd.Flags().StringVar(&out, "out", "out/release", "write the files to `DIR`, in place of an earlier release")
	cmd.Flags().BoolVar(&modified, "modified", false, "take a checkout with changes, too: for tests, and never with --key")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "sign with the key in `FILE`")
	cmd.Flags().StringVar(&builder, "builder", "https://github.com/slipway-dev/slipway/blob/main/docs/release.md#by-hand", "the provenance names `URI` as who has run the build")
	return cmd
}

// run makes a release.
func run(ctx context.Context, programs []product.Program, from *make.Source, out, builder string, keyFiles []string, say func(string, ...any)) error {
	if err := empty(out); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "slipway-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	var keys []seal.Key
	for _, file := range keyFiles {
		keys = append(keys, seal.Key{File: file})
	}
	if len(keys) == 0 {
		if keys, err = seal.TestKeys(scratch); err != nil {
			return err
		}
		signers := filepath.Clean(out) + ".test_signers"
		if err := os.WriteFile(signers, seal.Signers(keys), 0o644); err != nil {
			return err
		}
		say("test keys sign this release, which anyone has: their list is %s", signers)
	}
	m := &make.Maker{Programs: programs, Source: from, Out: out, Scratch: scratch, Keys: keys, Builder: builder, Say: say}
	if err := m.Make(ctx); err != nil {
		return err
	}
	say("made %s in %s", from.Version, out)
	return nil
}

// empty makes a directory for a release, and removes what an earlier one has left there. It removes nothing else.
func empty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); !e.Type().IsRegular() || !strings.HasPrefix(name, "slipway") && !strings.HasPrefix(name, release.SumsName) && name != release.ManifestName {
			return fmt.Errorf("%s is not of a release: name an empty directory with --out", filepath.Join(dir, name))
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
