package costs

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/benchmark/parse"
)

// figure is a row's measured values.
type figure struct {
	nanoseconds float64
	bytes       uint64
	allocations uint64
}

// mode is how benchmarks are run: each count times, for a time or a number of rounds (as in -benchtime).
type mode struct {
	benchtime string
	count     int
	env       []string
}

// timed measures how long it takes. counted counts allocations: one processor and no garbage collection make them the same on each machine,
// because neither empties a pool. The rounds are so many that the allocations of the first one do not matter.
var (
	timed   = mode{benchtime: "1s", count: 3}
	counted = mode{benchtime: "1000x", count: 1, env: []string{"GOMAXPROCS=1", "GOGC=off"}}
)

// measure runs the benchmarks of a module's rows, and returns the median of each by its name.
func measure(ctx context.Context, repo string, m module, names []string, how mode) (map[string]figure, error) {
	var pattern []string
	for _, name := range names {
		top, _, _ := strings.Cut(name, "/")
		pattern = append(pattern, top)
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark("+strings.Join(pattern, "|")+")$", "-benchmem",
		"-benchtime", how.benchtime, "-count", strconv.Itoa(how.count), "-timeout", "60m", m.pkg)
	cmd.Dir, cmd.Stderr, cmd.Env = repo+"/"+m.dir, os.Stderr, append(os.Environ(), how.env...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w\n%s", cmd, m.dir, err, out)
	}
	set, err := parse.ParseSet(strings.NewReader(string(out)))
	if err != nil {
		return nil, fmt.Errorf("output of %s: %w", cmd, err)
	}
	figures := make(map[string]figure)
	for full, runs := range set {
		name := strings.TrimPrefix(full, "Benchmark")
		if dash := strings.LastIndexByte(name, '-'); dash > 0 { // the number of processors
			name = name[:dash]
		}
		if slices.Contains(names, name) {
			figures[name] = median(runs)
		}
	}
	for _, name := range names {
		if _, ok := figures[name]; !ok {
			return nil, fmt.Errorf("%s has no benchmark %s", m.pkg, name)
		}
	}
	return figures, nil
}

func median(runs []*parse.Benchmark) figure {
	slices.SortFunc(runs, func(a, b *parse.Benchmark) int { return cmp.Compare(a.NsPerOp, b.NsPerOp) })
	middle := runs[len(runs)/2]
	return figure{middle.NsPerOp, middle.AllocedBytesPerOp, middle.AllocsPerOp}
}

// names returns the benchmarks of each module of the rows.
func names(rows []row) map[module][]string {
	all := make(map[module][]string)
	for _, r := range rows {
		all[r.module] = append(all[r.module], r.benchmark)
	}
	return all
}
