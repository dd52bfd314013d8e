package main

import (
	"context"
	"encoding/json"
	"errors"
	"path"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/host"
)

func (a *app) anatomy() *cobra.Command {
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "anatomy [flags]",
		Short: "Gather the records of this machine's boot for a timeline",
		Long: `Gather what this machine has recorded about its boot: systemd's times and the order of its units, the
journal, the logs of cloud-init and of the guest agent, the agent's own steps. Only lines that a
timeline needs are kept, and secrets are removed. It changes nothing, and needs no cluster.

-o json prints the records for "slipway anatomy", which shows the timeline, adds the cluster's view
and draws a picture. Run it as root: other users cannot read the journal and some logs. What could
not be read is named.`,
		Example: `  slipway-node anatomy -o json >boot.json
  slipway anatomy boot.json   # on a workstation
  slipway-node anatomy --root ./out/node -o json >boot.json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			machine, err := a.opened()
			if err != nil {
				return a.failed(err)
			}
			defer machine.Close()
			g := newGatherer(machine)
			g.readUnits(cmd.Context())
			g.readRecords(cmd.Context())
			return command.Print(a.Streams, output.Value, g.set, func(style cli.Style) string { return gatheredText(g.set, style) })
		},
	}
	command.AddOutput(cmd, &output)
	return cmd
}

// gatheredText lists the documents for people.
func gatheredText(set *gathered.Set, style cli.Style) string {
	var table cli.Table
	for _, d := range set.Documents {
		table.Row(cli.Cell{Text: d.Name, Paint: style.Bold}, cli.Cell{Text: byteSize(int64(len(d.Text)))})
	}
	for _, m := range set.Missing {
		table.Row(cli.Cell{Text: m.Name, Paint: style.Bold}, cli.Cell{Text: "not read: " + m.Why, Paint: style.Yellow})
	}
	return table.String() + "With -o json, this command prints them; \"slipway anatomy\" shows their timeline.\n"
}

// The limits of what is read into memory on a node.
const (
	maxJournal = 24 << 20
	maxFile    = 8 << 20
)

// gatherer gathers documents.
type gatherer struct {
	machine observed
	set     *gathered.Set
	listed  gathered.Listing
}

func newGatherer(machine observed) *gatherer {
	return &gatherer{machine: machine, set: &gathered.Set{APIVersion: gathered.APIVersion, Kind: gathered.Kind, Documents: []gathered.Document{}}}
}

// readRecords adds the journal of this boot, and the files of the places. A directory has no journal.
func (g *gatherer) readRecords(ctx context.Context) {
	records, cut, err := g.machine.ReadJournal(ctx, host.JournalQuery{
		Match: append([]string{"-b"}, gathered.Matches()...), Fields: gathered.Fields, Limit: maxJournal,
	})
	if err != nil && !errors.Is(err, apply.ErrNotProbed) {
		g.note(gathered.JournalName, err.Error())
	}
	if cut {
		g.note(gathered.JournalName, "the journal of this boot is larger than the limit; its end was not read")
	}
	if len(records) > 0 {
		g.add(gathered.JournalName, records)
	}
	g.readPlaces()
}

func (g *gatherer) note(document, reason string) {
	g.set.Missing = append(g.set.Missing, gathered.Missing{Name: document, Why: cli.Line(reason)})
}

func (g *gatherer) add(name string, data []byte) {
	g.set.Documents = append(g.set.Documents, gathered.Document{Name: name, Text: gathered.Reduce(name, data)})
}

// readUnits adds systemd's own times and those of its units. A directory has no systemd.
func (g *gatherer) readUnits(ctx context.Context) {
	snapshot, err := g.machine.Snapshot(ctx)
	if errors.Is(err, apply.ErrNotProbed) {
		return
	}
	var data []byte
	if err == nil {
		data, err = json.Marshal(snapshot)
	}
	if err != nil {
		g.note(gathered.UnitsName, err.Error())
		return
	}
	g.add(gathered.UnitsName, data)
}

// readPlaces adds the files of the places. A file that does not exist is not named: no machine has all.
func (g *gatherer) readPlaces() {
	for _, place := range gathered.Places {
		dir, pattern := path.Split(place.Path)
		names, err := g.machine.ReadDir(path.Clean(dir))
		if err != nil {
			continue
		}
		for _, name := range names {
			if ok, err := path.Match(pattern, name); err == nil && ok {
				g.readFile(path.Join(dir, name), place.Listed)
			}
		}
	}
	if len(g.listed.Files) == 0 {
		return
	}
	if data, err := json.Marshal(g.listed); err == nil {
		g.add(gathered.ListingName, data)
	}
}

func (g *gatherer) readFile(name string, listed bool) {
	limit := int64(maxFile)
	if listed {
		limit = 0
	}
	data, changed, cut, err := g.machine.Head(name, limit)
	switch {
	case listed && err == nil:
		g.listed.Files = append(g.listed.Files, gathered.File{Path: name, Modified: changed.UTC()})
	case listed:
	case err != nil:
		g.note(name, err.Error())
	default:
		if cut {
			g.note(name, "the file is larger than the limit; its end was not read")
		}
		g.add(name, data)
	}
}
