//go:build linux

package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/image/cache"
	"github.com/slipway-dev/slipway/internal/image/download"
	"github.com/slipway-dev/slipway/internal/image/fault"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The usual names of both documents.
const (
	usualDocument = "components.yaml"
	usualLock     = "components.lock"
)

// store has the flags of commands that use the cache.
type store struct {
	cache   string
	from    []string
	offline bool
}

func (f *store) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.cache, "cache", "", "keep the files in `DIR` (default: the user's cache directory)")
	cmd.Flags().StringArrayVar(&f.from, "from", nil, "look for files in `DIR` first, a copy of another cache")
	cmd.Flags().BoolVar(&f.offline, "offline", false, "ask no server: take files from the cache and from directories")
	command.Must(cmd.MarkFlagDirname("cache"))
	command.Must(cmd.MarkFlagDirname("from"))
}

// getter opens the cache. dir is the directory of the document. The caller closes the cache.
func (f *store) getter(cmd *cobra.Command, s cli.Streams, dir string) (*download.Getter, error) {
	for _, from := range f.from {
		if info, err := os.Stat(from); err != nil || !info.IsDir() {
			return nil, cli.Usage(command.Hint(cmd), "--from: %s is not a directory", cli.Line(from))
		}
	}
	if f.cache == "" {
		var err error
		if f.cache, err = cache.Default(); err != nil {
			return nil, cli.Usage("name a directory with --cache DIR", "%w", err)
		}
	}
	c, err := cache.Open(cmd.Context(), f.cache, func() {
		_, _ = fmt.Fprintf(s.Err, "another process uses %s; waiting for its end\n", cli.Line(f.cache))
	})
	if err != nil {
		return nil, command.Failed("%w", err)
	}
	g := &download.Getter{Cache: c, Dir: dir, From: f.from}
	if !f.offline {
		g.Client = &fetch.Client{Proxy: fetch.EnvironmentProxy}
		download.Registries(g.Client)
	}
	return g, nil
}

// bring fetches what a lock names and the cache lacks, and shows the progress on a terminal. A file that has come is a line of text, if line
// is not nil. name is that of the lock's file. The caller closes the cache.
func (f *store) bring(cmd *cobra.Command, s cli.Streams, name string, l *lock.Lock, architectures []string, line func(download.Fetched) string) (*cache.Cache, []download.Fetched, error) {
	g, err := f.getter(cmd, s, filepath.Dir(name))
	if err != nil {
		return nil, nil, err
	}
	m := cli.NewMeter(s.Err)
	g.Progress = m.Update
	files, err := g.Lock(cmd.Context(), l, architectures, func(d download.Fetched) {
		if line != nil && d.From != "" {
			m.Say(line(d))
		}
	})
	m.Clear()
	if err != nil {
		_ = g.Cache.Close()
		return nil, nil, failedComponents(s, err, "fetched")
	}
	return g.Cache, files, nil
}

// lockBeside is the usual lock of a document.
func lockBeside(document string) string {
	if document == command.Stdin {
		return usualLock
	}
	return strings.TrimSuffix(document, filepath.Ext(document)) + ".lock"
}

// failedComponents prints the errors of components, each with its next step, and returns the command's error.
func failedComponents(s cli.Streams, err error, what string) error {
	all := []error{err}
	if joined, several := err.(interface{ Unwrap() []error }); several {
		all = joined.Unwrap()
	}
	style := cli.StyleOf(s.Err)
	failed := &cli.Error{Code: exitcode.Invalid}
	for _, one := range all {
		e, ok := errors.AsType[*fault.Error](one)
		if !ok {
			return command.Failed("%w", err)
		}
		_, _ = fmt.Fprintf(s.Err, "%s: %s\n", style.Red("error"), cli.Line(e.Error()))
		if e.Next != "" {
			_, _ = fmt.Fprintln(s.Err, style.Dim("  "+e.Next))
		}
		failed.Problems = append(failed.Problems, nodeconfig.Problem{
			Kind: nodeconfig.Invalid, Path: e.Component, Reason: cli.Line(e.Error()) + "; " + e.Next, Fatal: true,
		})
	}
	failed.Err = fmt.Errorf("%s could not be %s", cli.Plural(len(all), "component"), what)
	return failed
}
