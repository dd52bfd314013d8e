package watch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/status"
)

// Metrics are a watcher's metrics. They may be read while they change.
type Metrics struct {
	mu sync.Mutex

	current, lastGood int
	driftCount        int
	driftKnown        bool
	// last is the status of the last apply; nil before the first.
	last *status.Status
	// outcomes counts applies by outcome, errors what could not be read by source.
	outcomes map[string]int
	errors   map[string]int
	reasons  map[Rejection]int
	// startup is the time from the boot to the kubelet's start; 0 if it is not known.
	startup time.Duration
}

// outcomeRefused is the outcome of an apply that was not tried.
const outcomeRefused = "refused"

// outcomes are all of them, in the order in which they are shown.
var outcomes = []string{status.OutcomeFailure, outcomeRefused, status.OutcomeSuccess}

// NewMetrics returns the metrics of a watcher that has not done anything yet.
func NewMetrics() *Metrics {
	return &Metrics{outcomes: make(map[string]int), errors: make(map[string]int)}
}

func (m *Metrics) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// applied notes and counts an apply of the watcher's own.
func (m *Metrics) applied(of *status.Status) {
	m.set(func() { m.last, m.outcomes[of.Outcome] = of, m.outcomes[of.Outcome]+1 })
}

// found records the outcome of the last apply before the watcher started.
func (m *Metrics) found(last *status.Status) { m.set(func() { m.last = last }) }

func (m *Metrics) refused()                           { m.set(func() { m.outcomes[outcomeRefused]++ }) }
func (m *Metrics) source(name string)                 { m.set(func() { m.errors[name] += 0 }) }
func (m *Metrics) sourceFailed(name string)           { m.set(func() { m.errors[name]++ }) }
func (m *Metrics) rejected(reasons map[Rejection]int) { m.set(func() { m.reasons = reasons }) }
func (m *Metrics) beforeKubelet(d time.Duration)      { m.set(func() { m.startup = d }) }
func (m *Metrics) drift(count int)                    { m.set(func() { m.driftCount, m.driftKnown = count, true }) }
func (m *Metrics) drifted() (count int, known bool) {
	m.set(func() { count, known = m.driftCount, m.driftKnown })
	return count, known
}

// generations records the existing generations.
func (m *Metrics) generations(entries []generation.Entry) {
	current := 0
	if len(entries) > 0 {
		current = entries[len(entries)-1].Number
	}
	good, _ := generation.LastGood(entries)
	m.set(func() { m.current, m.lastGood = current, good.Number })
}

// Text is the metrics as Prometheus reads them. The same state gives the same bytes.
func (m *Metrics) Text() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return expose(m.families())
}

// families returns all metrics, except those without a known value. No label contains a contract's secret: the watcher defines
// the names of sources and reasons, and steps are the names of resources.
func (m *Metrics) families() []family {
	var drift, success, ended, took, startup []sample
	if m.driftKnown {
		drift = one(float64(m.driftCount))
	}
	if m.last != nil {
		success, ended, took = one(0), one(seconds(m.last.FinishedAt)), steps(m.last)
		if m.last.Outcome == status.OutcomeSuccess {
			success = one(1)
		}
	}
	// Of the kubelet's kubelet_node_startup_* metrics, the agent knows only this one. Only the kubelet and the cluster see when
	// the kubelet registers the Node and when the Node is ready.
	if m.startup > 0 {
		startup = one(m.startup.Seconds())
	}
	return []family{
		{"slipway_generation", gauge, "Number of the current generation, 0 for none.", one(float64(m.current))},
		{"slipway_generation_last_good", gauge, "Number of the newest generation that was good, 0 for none.", one(float64(m.lastGood))},
		{"slipway_drift_resources", gauge, "Resources that are not as the current generation has them, when it was last looked.", drift},
		{"slipway_last_apply_success", gauge, "Whether the last apply succeeded, provisioning included.", success},
		{"slipway_last_apply_timestamp_seconds", gauge, "When the last apply ended, in seconds since 1970.", ended},
		{"slipway_apply_step_duration_seconds", gauge, "How long each step of the last apply took.", took},
		{"slipway_apply_total", counter, "Applies of the watcher's since it started, repairs included, by outcome.", samples("outcome", outcomes, m.outcomes)},
		{"slipway_config_rejected", gauge, "Sources whose present config is not tried again, by reason.", samples("reason", rejections, m.reasons)},
		{"slipway_source_errors_total", counter, "Attempts to read a source that failed, since the watcher started.",
			samples("source", slices.Sorted(maps.Keys(m.errors)), m.errors)},
		{"slipway_node_startup_pre_kubelet_duration_seconds", gauge,
			"Duration in seconds of node startup before kubelet starts, as kubelet_node_startup_pre_kubelet_duration_seconds.", startup},
	}
}

func one(value float64) []sample { return []sample{{value: value}} }

// seconds are those since 1970, to the millisecond: more would not survive a float.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// steps returns the duration of each step. If a step occurs twice, its value is the sum: checks follow a change, and they are
// an apply, too.
func steps(of *status.Status) []sample {
	took := make(map[string]int64)
	for _, s := range of.Steps {
		took[s.Name] += s.DurationMs
	}
	var list []sample
	for _, name := range slices.Sorted(maps.Keys(took)) {
		list = append(list, sample{"step", name, float64(took[name]) / 1000})
	}
	return list
}

// samples are counts by name, in the order of the names.
func samples[K ~string](label string, names []K, counts map[K]int) (list []sample) {
	for _, name := range names {
		list = append(list, sample{label, string(name), float64(counts[name])})
	}
	return list
}
