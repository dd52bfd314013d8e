package costs

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

const repo = "../../.."

var update = flag.Bool("update", false, "measure all figures and write them into the documents")

// tolerance is the allowed relative difference of a run's allocations from those in the documents.
const tolerance = 0.03

// TestFigures checks that the allocations in the documents are today's. With -update it measures everything, and writes the
// figures.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the benchmarks")
	}
	var all, same []row
	for _, table := range tables {
		for _, r := range table.rows {
			if all = append(all, r); !r.varies {
				same = append(same, r)
			}
		}
	}
	figures := figuresOf(t, same, counted)
	if *update {
		times := figuresOf(t, all, timed)
		for m, of := range figures {
			for name, f := range of {
				times[m][name] = figure{times[m][name].nanoseconds, f.bytes, f.allocations}
			}
		}
		figures = times
	}
	for _, table := range tables {
		if *update {
			write(t, table.page, table.name, markdown(table, figures))
			continue
		}
		compare(t, table, figures)
	}
	if *update {
		write(t, "docs/costs.md", "programs", programs(t))
	}
}

// figuresOf measures the rows.
func figuresOf(t *testing.T, rows []row, how mode) map[module]map[string]figure {
	t.Helper()
	figures := make(map[module]map[string]figure)
	for m, benchmarks := range names(rows) {
		measured, err := measure(t.Context(), repo, m, benchmarks, how)
		if err != nil {
			t.Fatal(err)
		}
		figures[m] = measured
	}
	return figures
}

// compare compares a table in its document with today's figures.
func compare(t *testing.T, table table, figures map[module]map[string]figure) {
	t.Helper()
	written := between(t, table.page, table.name)
	for _, r := range table.rows {
		now, measured := figures[r.module][r.benchmark]
		if !measured {
			continue
		}
		line := lineOf(written, r.what)
		if line == "" {
			t.Errorf("%s has no row %q: run make costs", table.page, r.what)
			continue
		}
		if limit, ok := allocationsIn(r.limit); ok && now.allocations > limit {
			t.Errorf("%s: %d allocations, want at most %d", r.what, now.allocations, limit)
		}
		// The first of two numbers is the limit.
		documented, ok := allocationsIn(line[strings.LastIndex(strings.TrimSuffix(line, " |"), "|"):])
		difference := math.Abs(float64(now.allocations) - float64(documented))
		if !ok {
			t.Errorf("%s: the row %q has no allocations: run make costs", table.page, r.what)
		} else if difference > 1+tolerance*float64(documented) {
			t.Errorf("%s: %s: %d allocations, the document has %d: run make costs", table.page, r.what, now.allocations, documented)
		}
	}
}

var allocations = regexp.MustCompile(`([\d,]+) allocations`)

func allocationsIn(text string) (uint64, bool) {
	match := allocations.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(match[1], ",", ""), 10, 64)
	return n, err == nil
}

func lineOf(text, what string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| "+what+" |") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// measuredOn describes when and on which machine the figures were measured.
func measuredOn() string {
	cpu := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if match := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(info); match != nil {
			cpu = string(match[1])
		}
	}
	return fmt.Sprintf("Measured on %s, %d cores of %s.\n\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), cpu)
}

func markdown(table table, figures map[module]map[string]figure) string {
	limits := false
	for _, r := range table.rows {
		limits = limits || r.limit != ""
	}
	text := measuredOn()
	if limits {
		text += "| what | at most | measured |\n|---|---|---|\n"
	} else {
		text += "| what | measured |\n|---|---|\n"
	}
	for _, r := range table.rows {
		f := figures[r.module][r.benchmark]
		cells := []string{r.what}
		if limits {
			cells = append(cells, r.limit)
		}
		cells = append(cells, fmt.Sprintf("%s, %s, %s allocations", duration(f.nanoseconds), size(f.bytes), thousands(f.allocations)))
		text += "| " + strings.Join(cells, " | ") + " |\n"
	}
	return text
}

// duration formats a duration with two digits.
func duration(nanoseconds float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if nanoseconds >= unit.size {
			return twoDigits(nanoseconds/unit.size) + " " + unit.name
		}
	}
	return twoDigits(nanoseconds) + " ns"
}

func twoDigits(x float64) string {
	if x >= 10 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

func size(bytes uint64) string {
	switch {
	case bytes >= 1e6:
		return twoDigits(float64(bytes)/1e6) + " MB"
	case bytes >= 1e3:
		return twoDigits(float64(bytes)/1e3) + " KB"
	}
	return fmt.Sprint(bytes, " B")
}

func thousands(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// markers enclose the written text.
func markers(name string) (begin, end string) {
	return "<!-- costs: " + name + " -->\n", "<!-- end of costs -->"
}

func between(t *testing.T, page, name string) string {
	t.Helper()
	_, text, _ := split(t, page, name)
	return text
}

func split(t *testing.T, page, name string) (before, text, after string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repo, page))
	if err != nil {
		t.Fatal(err)
	}
	begin, end := markers(name)
	before, rest, ok := strings.Cut(string(data), begin)
	text, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %q with an end", page, begin)
	}
	return before, text, after
}

func write(t *testing.T, page, name, text string) {
	t.Helper()
	before, _, after := split(t, page, name)
	begin, end := markers(name)
	if err := os.WriteFile(filepath.Join(repo, page), []byte(before+begin+text+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
