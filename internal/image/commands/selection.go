//go:build linux

package commands

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
)

// selection has the flags by which a person selects what of a lock an image has.
type selection struct {
	lock, kubernetes string
	architecture     command.Choice
}

// add adds the flags. does is what the command does with an architecture: "take the files for".
func (f *selection) add(cmd *cobra.Command, does string) {
	f.architecture.Allowed = spec.Architectures
	cmd.Flags().StringVar(&f.lock, "lock", usualLock, "read the lock from `FILE`")
	command.Must(cmd.MarkFlagFilename("lock", "lock"))
	command.AddChoice(cmd, &f.architecture, "architecture", "", does+" `ARCHITECTURE`: "+cli.List(spec.Architectures, "or")+" (default: the lock's, if it has one)")
	cmd.Flags().StringVar(&f.kubernetes, "kubernetes", "", "put in one kubelet, of `VERSION`, and what serves it (1.36, or 1.36.4)")
}

// read reads the lock, leaves out what does not serve a version of Kubernetes if one is named, and returns the architecture: the one that is
// named, or the lock's only one.
func (f *selection) read(cmd *cobra.Command, s cli.Streams) (*lock.Lock, string, error) {
	l, err := readLock(s, f.lock)
	if err != nil {
		return nil, "", err
	}
	if f.kubernetes != "" {
		if l, err = l.Serving(f.kubernetes); err != nil {
			return nil, "", command.Failed("%s: %w", cli.Line(command.Title(f.lock)), err)
		}
	}
	has := make(map[string]bool)
	for _, c := range l.Components {
		for _, a := range c.Artifacts {
			has[a.Architecture] = true
		}
	}
	one := f.architecture.Value
	switch names := slices.Sorted(maps.Keys(has)); {
	case one != "" && !has[one]:
		return nil, "", command.Failed("%s has nothing for %s", cli.Line(command.Title(f.lock)), one)
	case one != "":
		return l, one, nil
	case len(names) != 1:
		return nil, "", cli.Usage(command.Hint(cmd), "the lock is for %s: name one with --architecture", cli.List(names, "and"))
	default:
		return l, names[0], nil
	}
}
