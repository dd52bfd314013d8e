package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// deferring is a machine with an applied plan whose background command is still owed. ran counts the command's runs.
func deferring(t *testing.T, p resource.Plan) (m *memory, e *apply.Engine, owed []resource.Resource, ran *int) {
	t.Helper()
	m, ran = withTool(), new(int)
	m.run = func(context.Context, *resource.Command) ([]byte, error) { *ran++; return nil, nil }
	e = engine(m)
	e.Defer = true
	report, err := e.Apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if *ran > 0 || len(report.Owed) != 1 || report.Owed[0].ID() != "Command:tool" {
		t.Fatalf("%d runs, owed %v", *ran, report.Owed)
	}
	return m, e, report.Owed, ran
}

// A run with a deferred command counts as done, and the command runs once, after this run or in the next one.
func TestCommandInBackgroundIsRunAfterwards(t *testing.T) {
	for name, repeat := range map[string]bool{"after the run": false, "after the next run": true} {
		t.Run(name, func(t *testing.T) {
			p := trusting("1\n")
			m, e, owed, ran := deferring(t, p)
			if repeat { // as if the agent died between the two
				report, err := e.Apply(t.Context(), p)
				if err != nil || len(report.Changes) > 0 || len(report.Owed) != 1 || *ran > 0 {
					t.Fatalf("the next run: %v, changes %v, owed %v, %d runs", err, changes(report), report.Owed, *ran)
				}
			}
			report, err := e.Afterwards(t.Context(), owed)
			if err != nil || *ran != 1 || !slices.Equal(changes(report), []string{"ran Command:tool"}) {
				t.Fatalf("%v, changes %v, %d runs", err, changes(report), *ran)
			}
			if _, left := m.files[state.Intent.Path]; left {
				t.Error("the record of the intent is left")
			}
			if report, err := e.Afterwards(t.Context(), owed); err != nil || len(report.Changes) > 0 || *ran != 1 {
				t.Errorf("once more: %v, changes %v, %d runs", err, changes(report), *ran)
			}
		})
	}
}

// A command that stops in the middle is owed again.
func TestStoppedCommandInBackgroundIsOwed(t *testing.T) {
	p := trusting("1\n")
	m, e, owed, _ := deferring(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	m.run = func(context.Context, *resource.Command) ([]byte, error) { cancel(); return nil, errors.New("killed") }
	if _, err := e.Afterwards(ctx, owed); err == nil {
		t.Error("a command that was stopped counts as done")
	}
	if report, err := e.Apply(t.Context(), p); err != nil || len(report.Owed) != 1 {
		t.Errorf("the next run: %v, owed %v", err, report.Owed)
	}
}

// If another run has begun meanwhile and has not finished, its record stays for the next run.
func TestAfterwardsLeavesAnotherRunsRecord(t *testing.T) {
	m, e, owed, ran := deferring(t, trusting("1\n"))
	record := m.files[state.Intent.Path]
	record.content = []byte(strings.Replace(string(record.content), "{", `{"restarts":["kubelet.service"],`, 1))
	m.files[state.Intent.Path] = record
	report, err := e.Afterwards(t.Context(), owed)
	if err != nil || len(report.Changes) > 0 || *ran > 0 {
		t.Errorf("%v, changes %v, %d runs", err, changes(report), *ran)
	}
	if kept := m.files[state.Intent.Path]; string(kept.content) != string(record.content) {
		t.Errorf("the record is %s", kept.content)
	}
}
