//go:build linux

package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/changes"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/resolve"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// locking has the flags of lock.
type locking struct {
	file, lock string
	updates    []string
	check      bool
	output     command.Choice
	store
}

// locked is the result of lock.
type locked struct {
	Lock string `json:"lock"`
	// Written reports whether the file has changed.
	Written bool             `json:"written"`
	Changes *changes.Changes `json:"changes"`
	Notes   []string         `json:"notes,omitempty"`
}

func newLock(s cli.Streams) *cobra.Command {
	l := locking{file: usualDocument}
	cmd := &cobra.Command{
		Use:   "lock [flags]",
		Short: "Make the lock of components.yaml",
		Long: `Make the lock of components.yaml: for each component and architecture the version, sources, SHA-256,
size and licence, the files that are taken out of its archive, and their paths, modes and digests in
the image; for each container image its digest.

A component whose entry has not changed stays as the lock has it, and nothing is downloaded for it.
--update looks at one component again: for the newest version of its range, or for the version that
you name, which must be in the range.

The files come into the cache, and are checked: by the maker's checksums or your digests, which
components.yaml names, or by the registry's manifest. If nothing is known, the lock has the digest of
what came, and a note says so. All components are tried, and all errors reported. With an error, the
lock stays as it is.

--check asks no server: it fails if the lock does not belong to components.yaml.

Exit codes: 0 success, 1 an error, or a lock that is stale, 64 wrong usage.`,
		Example: `  slipway image lock
  slipway image lock -f components.yaml --update kubelet=1.36.4
  slipway image lock --check`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd, s) },
	}
	cmd.Flags().StringVarP(&l.file, "file", "f", usualDocument, "read the components from `FILE`, YAML or JSON; - is standard input")
	command.Must(cmd.MarkFlagFilename("file", "yaml", "yml", "json"))
	cmd.Flags().StringVar(&l.lock, "lock", "", "write the lock to `FILE` (default: beside the components, with the extension .lock)")
	command.Must(cmd.MarkFlagFilename("lock", "lock"))
	cmd.Flags().StringArrayVar(&l.updates, "update", nil, "look at the component `NAME[=VERSION]` again; can be repeated")
	cmd.Flags().BoolVar(&l.check, "check", false, "write nothing; fail if the lock does not belong to the components")
	l.add(cmd)
	command.AddOutput(cmd, &l.output)
	return cmd
}

func (l *locking) run(cmd *cobra.Command, s cli.Streams) error {
	if l.lock == "" {
		l.lock = lockBeside(l.file)
	}
	data, err := command.ReadInput(s, l.file)
	if err != nil {
		return err
	}
	document, problems := spec.Parse(data)
	if err := refused(s, l.file, problems); err != nil {
		return err
	}
	before, previous, err := l.previous(s)
	if err != nil {
		return err
	}
	if l.check {
		return l.compare(s, document, previous)
	}
	dir := "."
	if l.file != command.Stdin {
		dir = filepath.Dir(l.file)
	}
	g, err := l.getter(cmd, s, dir)
	if err != nil {
		return err
	}
	defer g.Cache.Close()
	m := cli.NewMeter(s.Err)
	g.Progress = m.Update
	made, notes, err := resolve.Lock(cmd.Context(), g, resolve.Request{Document: document, Previous: previous, Updates: updatesOf(l.updates)})
	m.Clear()
	if err != nil {
		return failedComponents(s, err, "locked")
	}
	if err := refused(s, l.lock, checked(made)); err != nil {
		return err
	}
	result := &locked{Lock: l.lock, Changes: changes.Between(changes.OfLock(previous), changes.OfLock(made))}
	for _, n := range notes {
		result.Notes = append(result.Notes, n.Component+" "+n.Text)
	}
	if encoded := made.Encode(); !bytes.Equal(encoded, before) {
		if err := command.WriteFile(l.lock, encoded, command.Public); err != nil {
			return command.Failed("%w", err)
		}
		result.Written = true
	}
	return command.Print(s, l.output.Value, result, func(style cli.Style) string { return result.text(style, made) })
}

// checked reads a new lock as its readers will: what two components have together shows only there.
func checked(made *lock.Lock) []nodeconfig.Problem {
	_, problems := lock.Parse(made.Encode())
	return problems
}

// updatesOf splits the values of --update.
func updatesOf(values []string) map[string]string {
	updates := make(map[string]string)
	for _, value := range values {
		name, version, _ := strings.Cut(value, "=")
		updates[name] = strings.TrimPrefix(version, "v")
	}
	return updates
}

// previous reads the existing lock, if there is one.
func (l *locking) previous(s cli.Streams) ([]byte, *lock.Lock, error) {
	if _, err := os.Stat(l.lock); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	data, err := command.ReadInput(s, l.lock)
	if err != nil {
		return nil, nil, err
	}
	previous, problems := lock.Parse(data)
	return data, previous, refused(s, l.lock, problems)
}

// compare is --check.
func (l *locking) compare(s cli.Streams, document *spec.Document, previous *lock.Lock) error {
	if previous == nil {
		return &cli.Error{Code: 1, Err: fmt.Errorf("%s does not exist", cli.Line(l.lock)), Hint: "make it with slipway image lock"}
	}
	if stale := resolve.Stale(document, previous); len(stale) > 0 {
		return &cli.Error{
			Code: 1, Err: fmt.Errorf("%s does not belong to %s: %s", cli.Line(l.lock), cli.Line(command.Title(l.file)), cli.Line(cli.List(stale, "and"))),
			Hint: "make it with slipway image lock",
		}
	}
	result := &locked{Lock: l.lock, Changes: changes.Between(changes.OfLock(previous), changes.OfLock(previous))}
	return command.Print(s, l.output.Value, result, func(style cli.Style) string { return result.text(style, previous) })
}

// text is the result for people.
func (r *locked) text(style cli.Style, l *lock.Lock) string {
	var out strings.Builder
	for _, n := range r.Notes {
		fmt.Fprintf(&out, "%s: %s\n", style.Yellow("note"), cli.Line(n))
	}
	if !r.Written {
		fmt.Fprintf(&out, "%s is up to date: %s\n", cli.Line(r.Lock), cli.Plural(len(l.Components), "component"))
		return out.String()
	}
	fmt.Fprintf(&out, "wrote %s: %s\n\n%s", cli.Line(r.Lock), cli.Plural(len(l.Components), "component"), r.Changes.Text(style))
	return out.String()
}
