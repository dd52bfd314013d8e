package boot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// Table is a table of texts.
type Table struct {
	Head []string
	Rows [][]string
}

// nothing replaces a missing value.
const nothing = "–"

// Summary has a row for each variant.
func Summary(results []Result) Table {
	t := Table{Head: []string{"variant", "kubelet exec", "Node Ready", "Ready, of script's", "Ready, of userdata's", "Ready, of stock's", "Ready, of floor's"}}
	for _, r := range results {
		t.Rows = append(t.Rows, []string{r.Variant, r.KubeletExec.String(), r.Ready.String(),
			ratio(results, r, script), ratio(results, r, userdata), ratio(results, r, stock), ratio(results, r, floor)})
	}
	return t
}

// String is a spread in seconds.
func (s Spread) String() string {
	return fmt.Sprintf("%s (%.1f..%.1f)", seconds(s.Median), s.Min, s.Max)
}

// ratio compares a variant's time with another's.
func ratio(results []Result, r Result, with string) string {
	i := slices.IndexFunc(results, func(other Result) bool { return other.Variant == with })
	if i < 0 || results[i].Ready.Median == 0 {
		return nothing
	}
	return fmt.Sprintf("%.2f", r.Ready.Median/results[i].Ready.Median)
}

// short are the variants for a reader who wants one figure: the usual way, Slipway's own, and the floor.
var short = []string{script, "boothook", "azure", "ec2", "nocloud", floor}

// few are the results of these.
func few(results []Result) []Result {
	return slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return !slices.Contains(short, r.Variant) })
}

// Short has a row for each of a few variants, with the medians.
func Short(results []Result) Table {
	t := Table{Head: []string{"variant", "kubelet exec", "Node Ready", "Ready, of floor's"}}
	for _, r := range few(results) {
		t.Rows = append(t.Rows, []string{r.Variant, seconds(r.KubeletExec.Median), seconds(r.Ready.Median), ratio(results, r, floor)})
	}
	return t
}

// seconds is a time in a table's format.
func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

// phases are the events that divide a node's way, in their order; all variants have each.
var phases = []string{"containerd ready", "address given", kubeletExec, "certificate issued", "Node registered", nodeReady}

// AgainstFloor has a row for each variant except the floor: how much later each phase ends than the floor's.
func AgainstFloor(results []Result) Table {
	t := Table{Head: append([]string{"seconds after the floor's"}, phases...)}
	i := slices.IndexFunc(results, func(r Result) bool { return r.Variant == floor })
	if i < 0 {
		return t
	}
	least := scenario.Times(results[i].Timeline)
	for _, r := range results {
		if r.Variant == floor {
			continue
		}
		at, row := scenario.Times(r.Timeline), []string{r.Variant}
		for _, phase := range phases {
			cell := nothing
			if at[phase] > 0 && least[phase] > 0 {
				cell = fmt.Sprintf("%+.1f", at[phase]-least[phase])
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Apart has a row for each event that the test saw from outside: how much later than in the machine's own timelines, in all runs.
func Apart(results []Result) Table {
	t := Table{Head: []string{"seen from outside", "runs", "median", "least", "most"}}
	var events []string
	later := make(map[string][]float64)
	for _, r := range results {
		for _, d := range r.Differences {
			if later[d.Event] == nil {
				events = append(events, d.Event)
			}
			later[d.Event] = append(later[d.Event], float64(d.LaterMs))
		}
	}
	for _, event := range events {
		s := spreadOf(later[event])
		ms := func(n float64) string { return fmt.Sprintf("%+.0f ms", n) }
		t.Rows = append(t.Rows, []string{event, fmt.Sprint(len(later[event])), ms(s.Median), ms(s.Min), ms(s.Max)})
	}
	return t
}

// Timelines has a row for each event, and a column for each variant: the seconds since QEMU's start.
func Timelines(results []Result) Table {
	t := Table{Head: []string{"seconds since QEMU start"}}
	type row struct {
		name  string
		mean  float64
		cells []string
	}
	var rows []row
	for column, r := range results {
		t.Head = append(t.Head, r.Variant)
		for _, e := range r.Timeline {
			i := slices.IndexFunc(rows, func(r row) bool { return r.name == e.Name })
			if i < 0 {
				i = len(rows)
				rows = append(rows, row{name: e.Name, mean: meanOf(results, e.Name), cells: slices.Repeat([]string{nothing}, len(results))})
			}
			rows[i].cells[column] = fmt.Sprintf("%.1f", e.At)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.mean, b.mean), cmp.Compare(a.name, b.name)) })
	for _, r := range rows {
		t.Rows = append(t.Rows, append([]string{r.name}, r.cells...))
	}
	return t
}

// meanOf is the mean time of an event over the variants that have it.
func meanOf(results []Result, event string) float64 {
	var sum, n float64
	for _, r := range results {
		if i := slices.IndexFunc(r.Timeline, func(e scenario.Event) bool { return e.Name == event }); i >= 0 {
			sum, n = sum+r.Timeline[i].At, n+1
		}
	}
	return sum / max(n, 1)
}

// Markdown formats the table for a document.
func (t Table) Markdown() string {
	var out strings.Builder
	line := func(cells []string) { out.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.Head)
	out.WriteString(strings.Repeat("|---", len(t.Head)) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return out.String()
}

// Print writes the table for people.
func (t Table) Print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}
