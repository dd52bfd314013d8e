package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/collect"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

const (
	// driftTimeout limits the drift of a support bundle, which may ask the API server.
	driftTimeout = 5 * time.Second
	// doctorTimeout limits the examination, which asks the network.
	doctorTimeout = 15 * time.Second
	// timelineTimeout limits the records of the boot: systemd's units and the journal.
	timelineTimeout = 10 * time.Second
	// quietly is how long a collection takes before it reports its progress.
	quietly = 2 * time.Second
)

func (a *app) collect() *cobra.Command {
	var (
		output command.Choice
		file   string
		list   bool
	)
	cmd := &cobra.Command{
		Use:   "collect [flags]",
		Short: "Collect a support bundle of the machine",
		Long: `Collect a support bundle: what the agent knows and did, journals, logs and configuration of everything
that makes this machine a node. It is a .tar.gz file that only its owner can read; manifest.json in it
lists its files, and what is missing, with the reason.

Secrets are replaced by placeholders: those of the contract, all others that this machine holds, in any
encoding, and everything that looks like a secret. Private keys, kubeconfigs, container logs and the
environments of processes are not collected.

Nothing is changed on the machine. It takes at most 30 seconds, and 64 MiB before compression. If the
disk is full, the bundle is written to ` + state.RunDir + `, which is in memory.`,
		Example: `  slipway-node collect
  slipway-node collect --list
  slipway-node collect --file - >bundle.tar.gz
  slipway-node collect --root ./out/node --file bundle.tar.gz`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "-" && !list && output.Value == command.AsJSON {
				return cli.Usage(command.Hint(cmd), "--file - prints the bundle, and -o json its manifest: use only one of them")
			}
			if a.root == "" && os.Geteuid() != 0 {
				return a.failed(errors.New("only root can read everything that a support bundle has; --root DIR works on a directory"))
			}
			machine, err := a.opened()
			if err != nil {
				return a.failed(err)
			}
			defer machine.Close()
			c := &collect.Collector{Machine: machine, Documents: a.documents(machine), Version: cli.Version, Now: time.Now}
			if list {
				return a.listBundle(c, output.Value)
			}
			return a.writeBundle(cmd.Context(), c, file, output.Value)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write the bundle to `FILE`, mode 0600; - is standard output (default slipway-HOST-TIME.tar.gz)")
	cmd.Flags().BoolVar(&list, "list", false, "show what would be collected, and write nothing")
	command.AddOutput(cmd, &output)
	return cmd
}

// documents are the documents of a bundle that other commands print as JSON.
func (a *app) documents(machine observed) []collect.Document {
	node := a.observer(machine)
	return []collect.Document{
		{Name: supportbundle.DriftName, Why: "how the machine differs from its generation", Limit: driftTimeout, Produce: func(ctx context.Context) (any, error) {
			changes, d, err := node.DriftDifference(ctx)
			return driftOf(changes, d), err
		}},
		{Name: supportbundle.DoctorName, Why: "what is wrong with the node", Limit: doctorTimeout, Produce: func(ctx context.Context) (any, error) {
			return doctor.Examine(ctx, doctor.Checks, node.Patient()), nil
		}},
		{Name: supportbundle.TimelineName, Why: "the records of the boot, from its beginning", Limit: timelineTimeout, Produce: func(ctx context.Context) (any, error) {
			g := newGatherer(machine) // the bundle has systemd's units already
			g.readRecords(ctx)
			return g.set, nil
		}},
	}
}

// listBundle prints what would be collected.
func (a *app) listBundle(c *collect.Collector, form string) error {
	list := c.List()
	return command.Print(a.Streams, form, list, func(style cli.Style) string {
		var table cli.Table
		addRow(&table, "NAME", "SIZE", "WHY")
		for _, e := range list.Entries {
			size := ""
			if e.Size != nil {
				size = byteSize(*e.Size)
			}
			addRow(&table, e.Name, size, e.Why)
		}
		text := table.String()
		if len(list.Missing) > 0 {
			text += "\n" + style.Bold("Missing:") + "\n"
			for _, m := range list.Missing {
				text += "  " + cli.Line(m.Source) + ": " + cli.Line(m.Reason) + "\n"
			}
		}
		return text
	})
}

// collected is the result of a collection as JSON.
type collected struct {
	File     string                  `json:"file"`
	Manifest *supportbundle.Manifest `json:"manifest"`
}

// writeBundle collects a bundle, and reports where it is.
func (a *app) writeBundle(ctx context.Context, c *collect.Collector, path, form string) error {
	begin := time.Now()
	c.Progress = func(source string) {
		if time.Since(begin) > quietly {
			_, _ = fmt.Fprintln(a.Err, cli.StyleOf(a.Err).Dim("collecting "+cli.Line(source)))
		}
	}
	if path == "-" {
		if cli.IsTerminal(a.Out) {
			return command.Failed("standard output is a terminal, and a support bundle is not text: redirect it, or use --file FILE")
		}
		_, err := c.Write(ctx, a.Out)
		if err != nil {
			return command.Failed("%w", err)
		}
		return nil
	}
	if path == "" {
		path = bundleName(c.Machine, begin)
	}
	elsewhere := ""
	if a.root == "" {
		elsewhere = filepath.Join(state.RunDir, filepath.Base(path))
	}
	to, err := newSpool(path, elsewhere)
	if err != nil {
		return command.Failed("%w; --file - writes the bundle to standard output", err)
	}
	manifest, err := c.Write(ctx, to)
	if err == nil {
		err = to.Commit()
	} else {
		to.Discard()
	}
	if err != nil {
		return command.Failed("%w; --file - writes the bundle to standard output", err)
	}
	return command.Print(a.Streams, form, collected{to.Path(), manifest}, func(cli.Style) string {
		return collectedText(to, manifest)
	})
}

// collectedText describes a bundle for a person.
func collectedText(to *spool, manifest *supportbundle.Manifest) string {
	redactions := 0
	for _, f := range manifest.Files {
		redactions += f.Redactions
	}
	var text strings.Builder
	if to.moved {
		text.WriteString("The disk is full: the bundle is in memory, and gone after a reboot.\n")
	}
	fmt.Fprintf(&text, "%s: %s, %s; %s replaced; %s missing (manifest.json has the reasons)\n", to.Path(), cli.Plural(len(manifest.Files), "file"), byteSize(to.size), cli.Plural(redactions, "secret"), cli.Plural(len(manifest.Missing), "source"))
	text.WriteString("Look through it before you pass it on: tar -xzf " + to.Path() + "\n")
	return text.String()
}

// bundleName is the name of a bundle that has none: the machine's name and the time.
func bundleName(machine collect.Machine, at time.Time) string {
	name := "slipway"
	if data, err := machine.ReadFile("/proc/sys/kernel/hostname", 1<<10); err == nil {
		safe := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
				return r
			}
			return -1
		}, string(data))
		if safe = strings.Trim(safe, "-."); safe != "" {
			name += "-" + safe
		}
	}
	return name + at.UTC().Format("-20060102T150405Z") + ".tar.gz"
}
