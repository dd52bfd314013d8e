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

	"github.com/slipway-dev/slipway/internal/anatomy"
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
		t.Errorf("an unknown variant: %v", err)
	}
}

// timeline is one with the events that are measured.
func timeline(exec, ready float64, more ...scenario.Event) []scenario.Event {
	return append(more, scenario.Event{Name: kubeletExec, At: exec}, scenario.Event{Name: nodeReady, At: ready})
}

// outcomes are runs with these timelines.
func outcomes(timelines ...[]scenario.Event) (list []scenario.Outcome) {
	for _, t := range timelines {
		list = append(list, scenario.Outcome{Timeline: t})
	}
	return list
}

// given is the event that all variants have, independently of the program that waits for the address.
func given(at float64) scenario.Event { return scenario.Event{Name: "address given", At: at} }

func TestMeasure(t *testing.T) {
	var order []string
	out := filepath.Join(t.TempDir(), floor)
	turns := map[string][][]scenario.Event{
		script: {timeline(40, 50, given(15)), timeline(44, 52, given(16)), timeline(41, 60, given(14))},
		floor:  {timeline(10, 20, given(7), scenario.Event{Name: "sysinit", At: 5}), nil, timeline(12, 26, given(8))},
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
		{script, "41.0 s (40.0..44.0)", "52.0 s (50.0..60.0)", "1.00", nothing, nothing, "2.26"},
		{floor, "11.0 s (10.0..12.0)", "23.0 s (20.0..26.0)", "0.44", nothing, nothing, "1.00"},
	}
	for i, row := range Summary(results).Rows {
		if !slices.Equal(row, want[i]) {
			t.Errorf("row %d is %q, want %q", i, row, want[i])
		}
	}
	// An event that only one of two has seen has no difference.
	if rows := AgainstFloor(results).Rows; len(rows) != 1 || !slices.Equal(rows[0], []string{script, nothing, "+7.5", "+30.0", nothing, nothing, "+29.0"}) {
		t.Errorf("against the floor: %q", rows)
	}
	if rows := AgainstFloor(results[:1]).Rows; len(rows) > 0 {
		t.Errorf("without a floor: %q", rows)
	}
	// The founding figures count from the kernel's start; a variant has the first event that it has seen of a moment.
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
		summarise(scenario.Case{Name: script}, outcomes(timeline(41, 52))),
		summarise(scenario.Case{Name: floor}, outcomes(timeline(10, 20, scenario.Event{Name: "sysinit", At: 5}), timeline(12, 26), timeline(11, 22))),
	}
	// An event that only half of the runs have seen is not in the timeline.
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

// documents are those for the tables, in a directory.
type documents struct{ boot, readme string }

func (d documents) write(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{filepath.Join("docs", "boot.md"): d.boot, "README.md": d.readme} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func readDocuments(t *testing.T, dir string) documents {
	t.Helper()
	boot, err := os.ReadFile(filepath.Join(dir, "docs", "boot.md"))
	readme, other := os.ReadFile(filepath.Join(dir, "README.md"))
	if err := errors.Join(err, other); err != nil {
		t.Fatal(err)
	}
	return documents{string(boot), string(readme)}
}

func TestFillDocuments(t *testing.T) {
	const (
		tables  = "before\n<!-- boot table -->\nold\n<!-- end of boot table -->\nbetween\n<!-- boot floor -->\n<!-- end of boot floor -->\n<!-- boot founding -->\n<!-- end of boot founding -->\n"
		rest    = "<!-- boot timeline -->\n<!-- end of boot timeline -->\nafter\n"
		summary = "# Slipway\n<!-- boot summary -->\nold\n<!-- end of boot summary -->\n## More\n"
	)
	dir := t.TempDir()
	results := []Result{
		summarise(scenario.Case{Name: script}, outcomes(timeline(1, 5), timeline(2, 4))),
		summarise(scenario.Case{Name: "agentless"}, outcomes(timeline(2, 3))),
		summarise(scenario.Case{Name: floor}, outcomes(timeline(1, 2))),
	}
	day := time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	for want, spoilt := range map[string]documents{
		"boot timeline":                     {tables, summary},
		"boot summary":                      {tables + rest, "# Slipway\n"},
		`no "<!-- end of boot summary -->"`: {tables + rest, "<!-- boot summary -->\n"},
	} {
		spoilt.write(t, dir)
		if err := FillDocuments(dir, results, day); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without a place: %v, want %q", err, want)
		}
		if got := readDocuments(t, dir); got != spoilt {
			t.Errorf("one of the documents was filled in, and the other not: %q", got)
		}
	}
	documents{tables + rest, summary}.write(t, dir)
	for range 2 { // the second time there is a text to replace
		if err := FillDocuments(dir, results, day); err != nil {
			t.Fatal(err)
		}
	}
	want := documents{
		boot: "before\n<!-- boot table -->\nMeasured on 2026-11-22, 2 runs of each variant, 1 of agentless, 1 of floor.\n\n" + Summary(results).Markdown() + "<!-- end of boot table -->\nbetween\n" +
			"<!-- boot floor -->\n" + AgainstFloor(results).Markdown() + "<!-- end of boot floor -->\n" +
			"<!-- boot founding -->\n" + Founding(results).Markdown() + "<!-- end of boot founding -->\n" +
			"<!-- boot timeline -->\n" + Timelines(results).Markdown() + "<!-- end of boot timeline -->\nafter\n",
		readme: "# Slipway\n<!-- boot summary -->\nMeasured on 2026-11-22, 2 runs of each variant, 1 of floor.\n\n| variant | kubelet exec | Node Ready | Ready, of floor's |\n|---|---|---|---|\n" +
			"| script | 1.5 s | 4.5 s | 2.25 |\n| floor | 1.0 s | 2.0 s | 1.00 |\n<!-- end of boot summary -->\n## More\n",
	}
	if got := readDocuments(t, dir); got != want {
		t.Errorf("the documents are %q, want %q", got, want)
	}
}

// With a timeline of the drawn variant, both documents show its picture.
func TestFillDocumentsDrawsTheBoot(t *testing.T) {
	dir := t.TempDir()
	var marks string
	for _, mark := range []string{"boot table", "boot floor", "boot founding", "boot timeline", "boot summary", "boot picture"} {
		marks += "<!-- " + mark + " -->\n<!-- end of " + mark + " -->\n"
	}
	documents{marks, marks}.write(t, dir)
	drawnRun := scenario.Outcome{Timeline: timeline(1, 2), Anatomy: &anatomy.Timeline{Goal: "Node Ready", GoalUs: 2_000_000}}
	results := []Result{summarise(scenario.Case{Name: drawn}, []scenario.Outcome{drawnRun})}
	if err := FillDocuments(dir, results, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	got := readDocuments(t, dir)
	if !strings.Contains(got.boot, "](boot.svg)") || !strings.Contains(got.readme, "](docs/boot.svg)") {
		t.Errorf("the documents show no picture: %q", got)
	}
	if picture, err := os.ReadFile(filepath.Join(dir, "docs", "boot.svg")); err != nil || !strings.HasPrefix(string(picture), "<svg ") {
		t.Errorf("the picture is %q, %v", picture, err)
	}
}

// TestDocumentsAgree checks that README's figures are those of docs/boot.md.
func TestDocumentsAgree(t *testing.T) {
	have := readDocuments(t, repo)
	between := func(text, mark string) []string {
		_, rest, _ := strings.Cut(text, "<!-- "+mark+" -->\n")
		table, _, found := strings.Cut(rest, "<!-- end of "+mark+" -->\n")
		if !found {
			t.Fatalf("there is no %s", mark)
		}
		return strings.Split(table, "\n")
	}
	median := func(cell string) string { return strings.TrimSpace(strings.Split(cell, "(")[0]) }
	table := between(have.boot, "boot table")
	when := func(line string) string { return strings.Split(line, ",")[0] } // the runs are those of the rows
	want := []string{when(table[0]), "", "| variant | kubelet exec | Node Ready | Ready, of floor's |", "|---|---|---|---|"}
	for _, row := range table {
		// The last column compares with the floor.
		if cells := strings.Split(row, "|"); len(cells) > 5 && slices.Contains(short, strings.TrimSpace(cells[1])) {
			want = append(want, "|"+cells[1]+"| "+median(cells[2])+" | "+median(cells[3])+" |"+cells[len(cells)-2]+"|")
		}
	}
	want = append(want, "")
	got := between(have.readme, "boot summary")
	got[0] = when(got[0])
	if !slices.Equal(got, want) || len(want) != len(short)+5 {
		t.Errorf("README.md has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
