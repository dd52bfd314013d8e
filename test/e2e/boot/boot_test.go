package boot

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

const repo = "../../.."

func TestVariantsCanBeRead(t *testing.T) {
	cases, err := Load(repo)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if c.Name != Variants[i] || c.About == "" || c.Containerd != cases[0].Containerd {
			t.Errorf("variant %d is %q about %q with containerd %q", i, c.Name, c.About, c.Containerd)
		}
	}
	entries, err := os.ReadDir("variants")
	if err != nil || len(entries) != len(Variants) {
		t.Errorf("there are %d variants, %v, and %d names", len(entries), err, len(Variants))
	}
	if _, err := Load(repo, script, "sleep"); err == nil || !strings.Contains(err.Error(), `"sleep"`) {
		t.Errorf("a variant that is none: %v", err)
	}
}

// timeline is one with the events that are measured.
func timeline(exec, ready float64, more ...scenario.Event) []scenario.Event {
	return append(more, scenario.Event{Name: kubeletExec, At: exec}, scenario.Event{Name: nodeReady, At: ready})
}

func TestMeasure(t *testing.T) {
	var order []string
	out := filepath.Join(t.TempDir(), floor)
	turns := map[string][][]scenario.Event{
		script: {timeline(40, 50), timeline(44, 52), timeline(41, 60)},
		floor:  {timeline(10, 20, scenario.Event{Name: "sysinit", At: 5}), nil, timeline(12, 26)},
	}
	run := func(_ context.Context, c scenario.Case) scenario.Outcome {
		order = append(order, c.Name)
		turn := turns[c.Name][0]
		turns[c.Name] = turns[c.Name][1:]
		if turn == nil {
			return scenario.Outcome{Err: errors.Join(errors.New("no node"), os.Mkdir(out, 0o755)), Out: out}
		}
		return scenario.Outcome{Timeline: turn}
	}
	results, err := Measure(t.Context(), run, []scenario.Case{{Name: script}, {Name: floor}}, 3, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "floor, run 2: no node: see "+out+"-failed-2") {
		t.Errorf("a run that failed: %v", err)
	}
	if !slices.Equal(order, []string{script, floor, script, floor, script, floor}) {
		t.Errorf("the runs are not in turns: %v", order)
	}
	want := [][]string{
		{script, "41.0 s (40.0..44.0)", "52.0 s (50.0..60.0)", "1.00", "2.26"},
		{floor, "11.0 s (10.0..12.0)", "23.0 s (20.0..26.0)", "0.44", "1.00"},
	}
	for i, row := range Summary(results).Rows {
		if !slices.Equal(row, want[i]) {
			t.Errorf("row %d is %q, want %q", i, row, want[i])
		}
	}
	// Of what only one of both has seen there is no difference.
	if rows := AgainstFloor(results).Rows; len(rows) != 1 || !slices.Equal(rows[0], []string{script, nothing, "+30.0", nothing, nothing, "+29.0"}) {
		t.Errorf("against the floor: %q", rows)
	}
	if rows := AgainstFloor(results[:1]).Rows; len(rows) > 0 {
		t.Errorf("without a floor: %q", rows)
	}
	// The founding figures count from the kernel's start; a variant has the first event of a moment that it has seen.
	results[0].Timeline = append(results[0].Timeline, scenario.Event{Name: kernelStart, At: 1}, scenario.Event{Name: "script start", At: 30},
		scenario.Event{Name: "cloud-init final done", At: 45})
	found := Founding(results)
	for _, want := range [][]string{{"provisioning starts", "33", "29.0", nothing}, {"kubelet exec", "47", "40.0", nothing},
		{"guest agent", "20", nothing, nothing}, {"provisioning done", "51", "44.0", nothing}} {
		if !slices.ContainsFunc(found.Rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("no row %q: %q", want, found.Rows)
		}
	}
}

func TestTimelines(t *testing.T) {
	results := []Result{
		summarise(scenario.Case{Name: script}, [][]scenario.Event{timeline(41, 52)}),
		summarise(scenario.Case{Name: floor}, [][]scenario.Event{timeline(10, 20, scenario.Event{Name: "sysinit", At: 5}), timeline(12, 26), timeline(11, 22)}),
	}
	// What half of the runs only have seen is no part of the timeline.
	rows := Timelines(results).Rows
	if len(rows) != 2 || !slices.Equal(rows[0], []string{kubeletExec, "41.0", "11.0"}) {
		t.Errorf("the timelines are %q", rows)
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls int
	run := func(context.Context, scenario.Case) scenario.Outcome {
		calls++
		cancel()
		return scenario.Outcome{Err: context.Canceled}
	}
	if _, err := Measure(ctx, run, []scenario.Case{{Name: script}}, 9, io.Discard); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("after %d runs: %v", calls, err)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{4, 1, 2}, Spread{2, 1, 4}},
		{[]float64{4, 1, 2, 3}, Spread{2.5, 1, 4}},
		{nil, Spread{}},
	} {
		if got := spreadOf(c.values); got != c.want {
			t.Errorf("the spread of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	table := Table{Head: []string{"a", "b"}, Rows: [][]string{{"1", "2"}}}
	if got, want := table.Markdown(), "| a | b |\n|---|---|\n| 1 | 2 |\n"; got != want {
		t.Errorf("the table is %q, want %q", got, want)
	}
}

func TestFillDocument(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "docs", "boot.md")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const marks = "before\n<!-- boot table -->\nold\n<!-- end of boot table -->\nbetween\n<!-- boot floor -->\n<!-- end of boot floor -->\n<!-- boot founding -->\n<!-- end of boot founding -->\n"
	results := []Result{summarise(scenario.Case{Name: script}, [][]scenario.Event{timeline(1, 2)})}
	day := time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	write(marks)
	if err := FillDocument(dir, results, day); err == nil || !strings.Contains(err.Error(), "boot timeline") {
		t.Errorf("without a place for the timeline: %v", err)
	}
	write(marks + "<!-- boot timeline -->\n<!-- end of boot timeline -->\nafter\n")
	for range 2 { // the second time there is something to replace
		if err := FillDocument(dir, results, day); err != nil {
			t.Fatal(err)
		}
	}
	want := "before\n<!-- boot table -->\nMeasured on 2026-11-22.\n\n" + Summary(results).Markdown() + "<!-- end of boot table -->\nbetween\n" +
		"<!-- boot floor -->\n" + AgainstFloor(results).Markdown() + "<!-- end of boot floor -->\n" +
		"<!-- boot founding -->\n" + Founding(results).Markdown() + "<!-- end of boot founding -->\n" +
		"<!-- boot timeline -->\n" + Timelines(results).Markdown() + "<!-- end of boot timeline -->\nafter\n"
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("the document is %q, %v, want %q", got, err, want)
	}
	write("<!-- boot table -->\n")
	if err := FillDocument(dir, results, day); err == nil {
		t.Error("a mark without an end passes")
	}
}
