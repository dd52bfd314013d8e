//go:build linux

package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/download"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
)

// fetching has the flags of fetch.
type fetching struct {
	lock         string
	architecture command.Choice
	output       command.Choice
	store
}

// fetched is the result of fetch.
type fetched struct {
	Lock  string             `json:"lock"`
	Cache string             `json:"cache"`
	Files []download.Fetched `json:"files"`
	// Bytes is the size of all files, and Downloaded that of those that the cache did not have.
	Bytes      int64 `json:"bytes"`
	Downloaded int64 `json:"downloaded"`
}

func newFetch(s cli.Streams) *cobra.Command {
	f := fetching{architecture: command.Choice{Allowed: spec.Architectures}}
	cmd := &cobra.Command{
		Use:   "fetch [flags]",
		Short: "Bring the files of a lock into the cache",
		Long: `Bring the files of a lock into the cache: from HTTPS servers, OCI registries and directories, in the
order of the lock's sources, four at a time. Each file has the digest in the lock, or is an error.
Files of the cache are checked again, and a damaged one is fetched again.

A download that was interrupted is continued. A server that is busy is tried again; if it does not
answer, the next source is used. A file has its name in the cache only when it is complete.

The cache has the layout of an OCI image (blobs/sha256/DIGEST). For a machine without a network, copy
the directory, and name the copy there with --from.

Exit codes: 0 all files are there, 1 an error, 64 wrong usage.`,
		Example: `  slipway image fetch
  slipway image fetch --lock components.lock --architecture arm64
  slipway image fetch --offline --from /media/usb/cache`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s) },
	}
	cmd.Flags().StringVar(&f.lock, "lock", usualLock, "read the lock from `FILE`")
	command.Must(cmd.MarkFlagFilename("lock", "lock"))
	command.AddChoice(cmd, &f.architecture, "architecture", "", "fetch for `ARCHITECTURE` alone: "+cli.List(spec.Architectures, "or"))
	f.add(cmd)
	command.AddOutput(cmd, &f.output)
	return cmd
}

func (f *fetching) run(cmd *cobra.Command, s cli.Streams) error {
	l, err := readLock(s, f.lock)
	if err != nil {
		return err
	}
	architectures := spec.Architectures
	if one := f.architecture.Value; one != "" {
		architectures = []string{one}
		if !slices.ContainsFunc(l.Components, func(c lock.Component) bool { return c.For(one) != nil }) {
			return command.Failed("%s has nothing for %s", cli.Line(command.Title(f.lock)), one)
		}
	}
	held, files, err := f.bring(cmd, s, f.lock, l, architectures, func(d download.Fetched) string {
		return fmt.Sprintf("fetched %s %s, %s from %s", cli.Line(d.Component), d.Architecture, cli.Size(d.Bytes), cli.Line(d.From))
	})
	if err != nil {
		return err
	}
	defer held.Close()
	result := &fetched{Lock: f.lock, Cache: f.cache, Files: files}
	for _, file := range files {
		result.Bytes += file.Bytes
		if file.From != "" {
			result.Downloaded += file.Bytes
		}
	}
	return command.Print(s, f.output.Value, result, result.text)
}

// text is the result for people.
func (r *fetched) text(cli.Style) string {
	text := fmt.Sprintf("%s: %s, %s", cli.Line(r.Cache), cli.Plural(len(r.Files), "file"), cli.Size(r.Bytes))
	if r.Downloaded == 0 {
		return text + "; nothing was missing\n"
	}
	return strings.TrimSpace(text+"; fetched "+cli.Size(r.Downloaded)) + "\n"
}
