package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/status"
)

// Node is what is watched over.
type Node interface {
	Change(ctx context.Context, opts agent.ChangeOptions) agent.Changed
	Repair(ctx context.Context, opts agent.RepairOptions) agent.Changed
	Drift(ctx context.Context) ([]apply.Change, error)
	ServerAddress() (address string, kept bool, err error)
	Retag(ctx context.Context, tags facts.Tags) agent.Changed
	Generations() ([]generation.Entry, error)
	LastStatus() (*status.Status, error)
	BeforeKubelet(ctx context.Context) (time.Duration, error)
	WaitProvisioning(ctx context.Context) error
}

// Files is the storage for the watcher's decisions and for metrics.
type Files interface {
	source.Files
	WriteFileAtomic(file *resource.File) error
}

// Source is where a contract comes from.
type Source struct {
	// Name distinguishes it from the others, in metrics and in what is remembered.
	Name string
	// Fetch returns the current contract. If the source has none, the error is source.ErrNotFound.
	Fetch func(ctx context.Context) (source.Contract, error)
	// Follow calls changed if there may be another contract, and returns when ctx is done. If nil, the source supports only
	// Fetch.
	Follow func(ctx context.Context, changed func()) error
	// Interval is the polling interval, also of a source with Follow.
	Interval time.Duration
}

// Supervisor is the program that started the watcher and monitors it.
type Supervisor interface {
	// Ready reports that the watcher runs.
	Ready()
	// Status reports the watcher's state on one line.
	Status(text string)
	// Alive reports that the watcher makes progress.
	Alive()
	// Stopping reports that the watcher is about to end.
	Stopping()
}

// Drift is the policy for drift.
type Drift string

// The policies.
const (
	Report  Drift = "report"
	Mend    Drift = "repair"
	MendAll Drift = "repair-all" // also what is an administrator's decision: masks and drop-ins of units
	Off     Drift = "off"
)

// Watcher keeps a node as its sources describe it. Its fields do not change while it runs.
type Watcher struct {
	Node    Node
	Files   Files
	Sources []Source
	// Tags reads the machine's tags once. If nil, the machine has no tags. A node whose API server address comes from a tag
	// follows that tag.
	Tags    func(ctx context.Context) (facts.Tags, error)
	Log     *slog.Logger
	Metrics *Metrics
	// Allow is the greatest class of change that is made, and Force makes those to an older generation.
	Allow difference.Class
	Force bool
	// Drift is looked for every DriftInterval, unless it is Off.
	Drift         Drift
	DriftInterval time.Duration
	// Supervisor receives the watcher's state at least every Beat.
	Supervisor Supervisor
	Beat       time.Duration
	// Grace is the time that a running change has to finish after the watcher is asked to end.
	Grace time.Duration
	// Seed is of this machine alone: by it, machines that were made at once do not ask at once.
	Seed string
	// Textfile is the path of a file with the metrics. Empty means no file.
	Textfile string
}

const (
	// debounce is how long a source must be quiet after a change before it is read, and patience how
	// long it may take to become so: an editor writes a file more than once.
	debounce = time.Second
	patience = 10 * time.Second
	// After changeHang and readHang, an operation that still runs counts as hung. A change may wait for a provisioning's lock, and
	// the contract decides how long the provisioning takes.
	changeHang = 7 * time.Hour
	readHang   = 5 * time.Minute
)

// errAbandoned means that a change is left to the next start. The effect is that of a power failure: the generation stays
// recorded as being applied, the process releases its lock when it ends, and the engine's record of intent lists the
// remaining work.
var errAbandoned = errors.New("a change did not end in time and is abandoned; the next start finishes it")

// run is one run of a watcher.
type run struct {
	*Watcher
	sources []*followed
	memory  *memory
	// events are indices of sources that may have changed.
	events chan int
	// repairs schedules the search for drift and its repairs.
	repairs attempts
	// recovering means that the last look found the current generation unfinished. recovery schedules the attempts to put that right.
	recovering bool
	recovery   attempts
	address    serverAddress
	written    string
	told       string
	// failed means that an operation of this round failed.
	failed bool
}

// Run follows the sources until ctx is done. The error is of a change that had to be abandoned.
func (w *Watcher) Run(ctx context.Context) error {
	w.Supervisor.Ready()
	r := w.begin(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, s := range r.sources {
		if s.Follow != nil {
			go r.follow(ctx, i)
		}
	}
	for {
		err := r.pass(ctx)
		if err == nil && ctx.Err() == nil {
			r.wait(ctx)
		}
		if err != nil || ctx.Err() != nil {
			r.Supervisor.Stopping()
			r.publish()
			return err
		}
	}
}

// awaitProvisioning waits until the boot's provisioning ends: what it has done until then is no drift, and its contract is no other one.
func (w *Watcher) awaitProvisioning(ctx context.Context) {
	w.Supervisor.Status("waiting for the end of the provisioning")
	for ctx.Err() == nil {
		beat, cancel := context.WithTimeout(ctx, w.Beat)
		err := w.Node.WaitProvisioning(beat)
		over := beat.Err() == nil
		cancel()
		if over {
			if err != nil {
				w.Log.Warn("it is not known whether a provisioning still runs", "error", err)
			}
			return
		}
		w.Supervisor.Alive()
	}
}

// Once looks at every source once, and for drift, and reports whether all that was to be done was done.
func (w *Watcher) Once(ctx context.Context) error {
	w.Supervisor.Ready()
	r := w.begin(ctx)
	if err := r.pass(ctx); err != nil {
		return err
	}
	if r.failed {
		return errors.New("the node does not match all sources; the log says why")
	}
	return ctx.Err()
}

// begin waits for the boot's provisioning, and recalls what earlier runs have found.
func (w *Watcher) begin(ctx context.Context) *run {
	w.awaitProvisioning(ctx)
	r := &run{Watcher: w, memory: recall(w.Files, w.Log, w.Sources), events: make(chan int), repairs: attempts{due: time.Now()}}
	for _, s := range w.Sources {
		noted := r.memory.of(s.Name)
		f := &followed{Source: s, due: time.Now(), unknown: noted.Sum == ""}
		if noted.stands(w.Allow, w.Force) {
			f.noted = noted
		}
		r.sources = append(r.sources, f)
	}
	if last, err := w.Node.LastStatus(); err == nil {
		w.Metrics.found(last)
	}
	if before, err := w.Node.BeforeKubelet(ctx); err == nil {
		w.Metrics.beforeKubelet(before)
	} else {
		w.Log.Debug("it is not known how long the boot took until the kubelet started", "error", err)
	}
	for _, s := range w.Sources {
		w.Metrics.source(s.Name)
	}
	w.Metrics.rejected(r.rejectedBy())
	return r
}

// follow passes a source's changes on.
func (r *run) follow(ctx context.Context, i int) {
	s := r.sources[i].Source
	err := s.Follow(ctx, func() {
		select {
		case r.events <- i:
		case <-ctx.Done():
		}
	})
	if ctx.Err() == nil {
		r.Log.Warn("cannot follow a source; checking it from time to time", "source", s.Name, "interval", s.Interval, "error", err)
	}
}

// pass does all that is due.
func (r *run) pass(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.checkSources, r.recover, r.followAddress, r.lookForDrift} {
		if ctx.Err() != nil {
			break
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	r.publish()
	return nil
}

// wait returns when something may be due.
func (r *run) wait(ctx context.Context) {
	next := time.Now().Add(r.Beat)
	for _, s := range r.sources {
		if s.due.Before(next) {
			next = s.due
		}
	}
	if r.recovering && r.recovery.due.Before(next) {
		next = r.recovery.due
	}
	if r.address.kept && r.address.due.Before(next) {
		next = r.address.due
	}
	if r.Drift != Off && r.repairs.due.Before(next) {
		next = r.repairs.due
	}
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case i := <-r.events:
		r.sources[i].touched(time.Now())
	case <-timer.C:
	}
	r.Supervisor.Alive()
}

// during runs a long operation, and reports meanwhile that the watcher is alive. When ctx is done, a change of the machine is not cut
// short: it gets a period of grace, and is then abandoned.
func (r *run) during(ctx context.Context, what string, changes bool, do func(ctx context.Context) error) error {
	inner, hang := ctx, readHang
	if changes {
		inner, hang = context.WithoutCancel(ctx), changeHang
		r.Supervisor.Status(what)
		r.told = what
	}
	done := make(chan error, 1)
	go func() { done <- apply.Guard(r.Log, what, func() error { return do(inner) }) }()
	var grace <-chan time.Time
	begin, stop := time.Now(), ctx.Done()
	beat := time.NewTicker(r.Beat)
	defer beat.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-stop:
			stop = nil
			r.Supervisor.Stopping()
			if changes {
				r.Log.Info("stopping after the current change has ended", "doing", what, "grace", r.Grace)
			}
			grace = time.After(r.Grace)
		case <-grace:
			r.Log.Warn("stopping; the current change is abandoned", "doing", what)
			return errAbandoned
		case <-beat.C:
			if time.Since(begin) < hang {
				r.Supervisor.Alive()
			}
		}
	}
}

// change is during, for something that changes the machine.
func (r *run) change(ctx context.Context, what string, do func(ctx context.Context) agent.Changed) (changed agent.Changed, err error) {
	err = r.during(ctx, what, true, func(ctx context.Context) error {
		changed = do(ctx)
		return nil
	})
	return changed, err
}

// publish reports the watcher's state to the supervisor and to the textfile.
func (r *run) publish() {
	entries, err := r.Node.Generations()
	if err != nil {
		r.Log.Warn("the generations cannot be read", "error", err)
		return
	}
	r.Metrics.generations(entries)
	if text := r.summary(entries); text != r.told {
		r.Supervisor.Status(text)
		r.told = text
	}
	if text := string(r.Metrics.Text()); r.Textfile != "" && text != r.written {
		err := r.Files.WriteFileAtomic(&resource.File{Path: r.Textfile, Mode: 0o644, Content: []byte(text)})
		if err != nil {
			r.Log.Warn("the metrics cannot be written", "path", r.Textfile, "error", err)
			return
		}
		r.written = text
	}
}

// summary is the watcher's state on one line.
func (r *run) summary(entries []generation.Entry) string {
	text := "waiting for this machine to be provisioned"
	if len(entries) > 0 {
		current := entries[len(entries)-1]
		text = fmt.Sprintf("generation %d is %s", current.Number, current.Outcome)
	}
	for _, s := range r.sources {
		if reason := s.noted.Rejected; reason != "" {
			text += fmt.Sprintf("; the config of %s is rejected: %s", s.Name, reason)
		}
	}
	if count, known := r.Metrics.drifted(); known && count > 0 {
		text += fmt.Sprintf("; %d resources have drifted", count)
	}
	return text
}
