package boot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/test/e2e/machineboot"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// The events that measure a boot.
const (
	kubeletExec = "kubelet exec"
	nodeReady   = "Node Ready"
)

// mostApart is how far the test's time of an event and the machine's own may be apart, in milliseconds. A larger difference is printed.
const mostApart = 50

// Result is the result of all runs of a variant.
type Result struct {
	Variant string `json:"variant"`
	About   string `json:"about"`
	// KubeletExec and Ready are in seconds since QEMU's start.
	KubeletExec Spread `json:"kubeletExec"`
	Ready       Spread `json:"ready"`
	// Timeline has the medians of all events that most runs have seen.
	Timeline []scenario.Event `json:"timeline"`
	// Runs are the timelines of all runs that gave a node.
	Runs [][]scenario.Event `json:"runs"`
	// Differences are how the machines' own timelines differ from what the test saw from outside, of all runs.
	Differences []machineboot.Difference `json:"differences,omitempty"`
	// Typical is the timeline of the run whose time to Ready is nearest to the median, from the machine's own records. It may be nil.
	Typical *anatomy.Timeline `json:"typical,omitempty"`
}

// Spread is a median, a minimum and a maximum.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Run runs a case, as scenario's runner does.
type Run func(ctx context.Context, c scenario.Case) scenario.Outcome

// Measure runs every variant runs times, in turns, and reports each run on progress. A run without a node is an error, and is not
// in the results.
func Measure(ctx context.Context, run Run, variants []scenario.Case, runs int, progress io.Writer) ([]Result, error) {
	outcomes := make([][]scenario.Outcome, len(variants))
	var failures []error
	for round := 1; round <= runs; round++ {
		for i, variant := range variants {
			outcome := run(ctx, variant)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if outcome.Err != nil {
				out, err := keepFailed(outcome.Out, round)
				failures = append(failures, fmt.Errorf("%s, run %d: %w: see %s", variant.Name, round, errors.Join(outcome.Err, err), out))
				fmt.Fprintf(progress, "run %d of %d  %-10s FAILED: %v\n", round, runs, variant.Name, outcome.Err)
				continue
			}
			at := scenario.Times(outcome.Timeline)
			fmt.Fprintf(progress, "run %d of %d  %-10s kubelet exec %5.1f s  Ready %5.1f s\n", round, runs, variant.Name, at[kubeletExec], at[nodeReady])
			for _, d := range outcome.Differences {
				if d.LaterMs > mostApart || d.LaterMs < -mostApart {
					fmt.Fprintf(progress, "                       %s: seen from outside %d ms after the machine's own time\n", d.Event, d.LaterMs)
				}
			}
			outcomes[i] = append(outcomes[i], outcome)
		}
	}
	var results []Result
	for i, variant := range variants {
		if len(outcomes[i]) > 0 {
			results = append(results, summarise(variant, outcomes[i]))
		}
	}
	return results, errors.Join(failures...)
}

// keepFailed moves a failed run's files to a path that the variant's next run does not overwrite.
func keepFailed(out string, round int) (string, error) {
	kept := fmt.Sprintf("%s-failed-%d", out, round)
	err := errors.Join(os.RemoveAll(kept), os.Rename(out, kept))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil // the run left no files
	}
	return kept, err
}

// summarise merges a variant's runs.
func summarise(variant scenario.Case, outcomes []scenario.Outcome) Result {
	result := Result{Variant: variant.Name, About: variant.About}
	times := make(map[string][]float64)
	for _, o := range outcomes {
		result.Runs = append(result.Runs, o.Timeline)
		result.Differences = append(result.Differences, o.Differences...)
		for _, e := range o.Timeline {
			times[e.Name] = append(times[e.Name], e.At)
		}
	}
	for name, seconds := range times {
		if len(seconds)*2 > len(outcomes) {
			result.Timeline = append(result.Timeline, scenario.Event{Name: name, At: spreadOf(seconds).Median})
		}
	}
	slices.SortFunc(result.Timeline, func(a, b scenario.Event) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Name, b.Name)) })
	result.KubeletExec, result.Ready = spreadOf(times[kubeletExec]), spreadOf(times[nodeReady])
	nearest := math.Inf(1)
	for _, o := range outcomes {
		if d := math.Abs(scenario.Times(o.Timeline)[nodeReady] - result.Ready.Median); o.Anatomy != nil && d < nearest {
			nearest, result.Typical = d, o.Anatomy
		}
	}
	return result
}

// spreadOf is the spread of some values. Without values it is zero.
func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}
