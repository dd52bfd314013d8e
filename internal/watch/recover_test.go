package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/source"
)

// An unfinished generation is recovered with every drift policy: at once if the run died, a little later if it failed, and then
// with growing delays until it succeeds.
func TestUnfinishedGenerationIsPutRight(t *testing.T) {
	a, _, _ := contracts(t)
	for _, policy := range []Drift{Mend, Report, Off} {
		for left, first := range map[generation.Outcome]time.Duration{generation.Applying: 0, generation.Failed: 10 * time.Second} {
			onNode(t, a, func(n *node) {
				n.entries[0].Outcome, n.fetchErr = left, source.ErrNotFound // it was applied by hand
				n.watcher.Drift, n.watcher.DriftInterval, n.watcher.Beat = policy, 24*time.Hour, time.Hour
				n.drift, n.outcomes = []apply.Change{{ID: "File:/etc/a"}}, slices.Repeat([]outcome{unreachable}, 3)
				var at []time.Duration
				begin := time.Now()
				n.start()
				for range 200 {
					n.set(func() {
						for range n.attempts[len(at):] {
							at = append(at, time.Since(begin).Truncate(time.Second))
						}
					})
					n.wait(time.Second)
				}
				want := []time.Duration{first, first + 10*time.Second, first + 30*time.Second, first + 70*time.Second}
				if fmt.Sprint(at) != fmt.Sprint(want) || fmt.Sprint(n.attempts) != "[0 1 2 3]" {
					t.Errorf("%s, %s: attempts %v at %v, want %v", policy, left, n.attempts, at, want)
				}
				if n.entries[0].Outcome != generation.Good {
					t.Errorf("%s, %s: it is %s", policy, left, n.entries[0].Outcome)
				}
				n.wantMetric(`slipway_apply_total{outcome="failure"} 3`)
				n.wantMetric(`slipway_apply_total{outcome="success"} 1`)
				if said := strings.Count(n.log.String(), "is not finished; repairing the node"); said != 4 {
					t.Errorf("%s, %s: said %d times", policy, left, said)
				}
				if strings.Contains(n.log.String(), "drift is left") {
					t.Error("drift is left")
				}
				n.attempts = nil
				n.wait(time.Hour)
				if len(n.attempts) > 0 {
					t.Errorf("%s, %s: once more", policy, left)
				}
			})
		}
	}
}

// The process dies during a change. When the watcher comes back, it finishes the change: the source still has that config.
func TestUnfinishedChangeOfASourceIsTriedAgain(t *testing.T) {
	a, b, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.record(b, generation.Applying, generation.Watch)
		n.content = b
		n.start()
		n.wait(5 * time.Second)
		n.want("change well")
		if len(n.attempts) > 0 {
			t.Error("it is rolled back")
		}
	})
}

// Another run may hold the generation. That is no failure, and the watcher looks again later.
func TestGenerationOfAnotherRun(t *testing.T) {
	a, _, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.entries[0].Outcome, n.outcomes, n.fetchErr = generation.Applying, []outcome{atWork, atWork}, source.ErrNotFound
		n.start()
		n.wait(15 * time.Second)
		n.want("repair is busy", "repair is busy")
		if strings.Contains(n.log.String(), "is not finished") {
			t.Error("the generation of another run is reported as unfinished")
		}
		n.set(func() { n.entries[0].Outcome = generation.Good }) // it has ended
		n.wait(time.Hour)
		n.want()
		n.wantMetric(`slipway_apply_total{outcome="failure"} 0`)
	})
}

// The status of a source's config describes the node's state, also after a recovery.
func TestConfigThatIsGoodAfterAll(t *testing.T) {
	a, _, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.entries[0].Outcome = generation.Failed
		n.start()
		n.wantMetric(`slipway_config_rejected{reason="failed"} 1`)
		n.wait(time.Minute)
		n.want("repair")
		n.wantMetric(`slipway_config_rejected{reason="failed"} 0`)
	})
}
