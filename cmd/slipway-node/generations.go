package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
)

// showCurrent prints the machine's generation, and the last good one.
func (a *app) showCurrent(node *agent.Agent) error {
	entries, err := node.Generations()
	if err != nil || len(entries) == 0 {
		return err
	}
	current := entries[len(entries)-1]
	text := fmt.Sprintf("\nGeneration %d is %s", current.Number, current.Outcome)
	if good, found := generation.LastGood(entries); found && good.Number != current.Number {
		text += fmt.Sprintf("; the last good one is %d", good.Number)
	}
	return command.Write(a.Streams, text+".\n")
}

// showGenerations lists the generations, newest first.
func (a *app) showGenerations(node *agent.Agent, form string) error {
	entries, err := node.Generations()
	if err != nil {
		return command.Failed("%w", err)
	}
	if form == command.AsJSON {
		return command.WriteJSON(a.Streams, map[string]any{"generations": append([]generation.Entry{}, entries...)})
	}
	if len(entries) == 0 {
		return command.Write(a.Streams, "This machine has no generation yet.\n")
	}
	var table cli.Table
	addRow(&table, "GENERATION", "OUTCOME", "BY", "CONFIG", "STARTED", "TOOK", "")
	good, _ := generation.LastGood(entries)
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		var remarks []string
		if i == len(entries)-1 {
			remarks = append(remarks, "current")
		}
		if e.Number == good.Number {
			remarks = append(remarks, "last good")
		}
		if e.Restores > 0 {
			remarks = append(remarks, "restores "+strconv.Itoa(e.Restores))
		}
		if !e.ConfirmBy.IsZero() && i == len(entries)-1 {
			remarks = append(remarks, "confirm by "+e.ConfirmBy.UTC().Format(time.TimeOnly))
		}
		if i > 0 && e.Number > entries[i-1].Number+1 {
			remarks = append(remarks, strconv.Itoa(e.Number-entries[i-1].Number-1)+" before it are not kept")
		}
		if e.Reason != "" {
			remarks = append(remarks, cli.Shorten(cli.Line(e.Reason), 60))
		}
		took := ""
		if !e.FinishedAt.IsZero() {
			took = e.FinishedAt.Sub(e.StartedAt).Round(10 * time.Millisecond).String()
		}
		addRow(&table, strconv.Itoa(e.Number), string(e.Outcome), string(e.Origin), e.Config[:min(12, len(e.Config))],
			e.StartedAt.UTC().Format(time.DateTime), took, strings.Join(remarks, ", "))
	}
	return command.Write(a.Streams, table.String())
}

func addRow(table *cli.Table, texts ...string) {
	var cells []cli.Cell
	for _, text := range texts {
		cells = append(cells, cli.Cell{Text: text})
	}
	table.Row(cells...)
}

// driftDocument is the drift as JSON.
type driftDocument struct {
	Drift []driftEntry `json:"drift"`
	// Difference is how the machine differs from its current generation.
	Difference *difference.Difference `json:"difference,omitempty"`
}

type driftEntry struct {
	Resource string `json:"resource"`
	// Action is what an apply would do about it.
	Action string `json:"action"`
	// Note describes the state, and what a change of it takes, if an apply does nothing about it.
	Note string `json:"note,omitempty"`
}

// driftOf returns the document of a drift.
func driftOf(changes []apply.Change, d *difference.Difference) driftDocument {
	document := driftDocument{Drift: []driftEntry{}, Difference: d}
	for _, c := range changes {
		document.Drift = append(document.Drift, driftEntry{string(c.ID), string(c.Action), c.Note})
	}
	return document
}

// showDrift lists how the machine differs from the current generation. If there is drift, its exit code is 1.
func (a *app) showDrift(changes []apply.Change, d *difference.Difference, form string) error {
	document := driftOf(changes, d)
	err := command.Print(a.Streams, form, document, func(style cli.Style) string { return driftText(document, style) })
	if err != nil || len(changes) == 0 {
		return err
	}
	return cli.Quit(exitcode.Invalid)
}

// driftText formats the drift for a person. If an apply does not repair an entry, its note has the advice.
func driftText(document driftDocument, style cli.Style) string {
	if len(document.Drift) == 0 {
		return "No drift: the machine matches its current generation.\n"
	}
	var text strings.Builder
	if shown := document.Difference.Text(style); shown != "" {
		text.WriteString("From the machine as it is (-) to its current generation (+):\n" + shown + "\n")
	}
	var table cli.Table
	repairs := false
	addRow(&table, "RESOURCE", "WOULD BE", "")
	for _, d := range document.Drift {
		addRow(&table, d.Resource, d.Action, d.Note)
		repairs = repairs || d.Action != string(apply.Left)
	}
	text.WriteString(table.String())
	if repairs {
		text.WriteString("\nRepair it with: slipway-node provision\n")
	}
	return text.String()
}
