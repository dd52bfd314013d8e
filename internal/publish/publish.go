// Package publish tells whoever waits what came of a run: it writes the status, the result and its marker, in this order,
// an event for those who collect events, and has Azure's platform told; it waits for such a result, and says what earlier
// runs have published.
//
// It decides nothing about a run, and takes no lock: what it writes or removes, it does for a caller that holds it. What
// cannot be written where it belongs, because the disk takes no more, is published in memory. internal/agent calls it.
package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// Host is what the package needs of the machine.
type Host interface {
	Files
	// WriteFileAtomic writes a file durably; no reader sees a part of it.
	WriteFileAtomic(file *resource.File) error
	Remove(path string) error
	Sync() error
	// CreateExclusive writes a file under the first of the names that is not taken.
	CreateExclusive(dir string, name func(attempt int) string, mode uint32, content []byte) (path string, err error)
	// WaitForFiles waits until one of the paths exists and returns the first that does.
	WaitForFiles(ctx context.Context, paths ...string) (string, error)
	// BootTimes reports when the stages of this boot began.
	BootTimes(ctx context.Context) (host.BootTimes, error)
	// ServiceStart reports when a service's main process started; the zero time if it never did.
	ServiceStart(ctx context.Context, unit string) (time.Time, error)
}

// Publisher publishes on a machine.
type Publisher struct {
	Host Host
	Log  *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// patience is how long publishing may take. The result is published even where the time for the run is over.
const patience = 10 * time.Second

// WriteResult writes an event, the status, then the result, then the marker: whoever sees one sees all before it.
// What cannot be written is logged; there is nobody else to tell. The result that is returned is the one that is
// published: a success that cannot be is none.
func (p *Publisher) WriteResult(ctx context.Context, result outcome.Result, target Target) outcome.Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r := &publication{p, result, target}
	_ = r.guarded(r.writeEvent)
	if err := r.guarded(r.writeStatus); err != nil {
		p.Log.Error("the status cannot be written", "path", state.Status.Path, "error", err)
		// A success that the status does not mention would be taken for the success of the run that it mentions.
		if r.result.Succeeded() {
			r.fail(fmt.Errorf("publish the status: %w", err))
			_ = r.guarded(r.writeStatus)
		}
	}
	if err := r.guarded(func() error { return r.writeResult(ctx) }); err != nil {
		p.Log.Error("the result cannot be published where it belongs", "path", target.destination().result.Path, "error", err)
		if r.result.Succeeded() {
			r.fail(fmt.Errorf("publish the result: %w", err))
			_ = r.guarded(r.writeStatus)
			_ = r.guarded(func() error { return r.writeResult(ctx) })
		}
	}
	return r.result
}

// WriteStatus writes the status alone, for a run whose result nobody waits for. What cannot be written is logged.
func (p *Publisher) WriteStatus(result outcome.Result, target Target) {
	r := &publication{p, result, target}
	if err := r.guarded(r.writeStatus); err != nil {
		p.Log.Error("the status cannot be written", "path", state.Status.Path, "error", err)
	}
}

// guarded calls f, and turns a panic into an error: whoever waits for the result must get one.
func (p *Publisher) guarded(f func() error) error { return apply.Guard(p.Log, "agent", f) }

// publication is one result that is published.
type publication struct {
	*Publisher
	result outcome.Result
	target Target
}

// fail makes the result one of a failure.
func (r *publication) fail(err error) {
	r.result = r.result.Conclude(err, r.Now(), r.target.Code)
	r.result.Log(r.Log)
}

func (r *publication) writeStatus() error {
	document, err := r.result.Status.Marshal()
	if err != nil {
		return err
	}
	return r.put(state.Status, state.RunStatus, func(f state.File) error { return f.Write(r.Host, document) })
}

// writeResult writes the result, and the marker once the result is durable.
func (r *publication) writeResult(ctx context.Context) error {
	own, script := r.target.destination().result, r.publishedByScript()
	var document []byte
	var err error
	if script {
		document, err = own.Read(r.Host)
	} else {
		document, err = r.document(ctx).Marshal()
	}
	if err != nil {
		return err
	}
	return r.put(own, runPlace.result, func(f state.File) error {
		marker := r.target.marker()
		if f == runPlace.result {
			marker = runPlace.complete
		}
		if !script || f != own {
			if err := f.Write(r.Host, document); err != nil {
				return err
			}
		}
		return r.Host.WriteFileAtomic(&resource.File{Path: marker, Mode: 0o600})
	})
}

// publishedByScript reports whether a script that was run wrote the result itself.
func (r *publication) publishedByScript() bool {
	if !r.target.Script {
		return false
	}
	_, err := read(r.Host, r.target.destination())
	return err == nil
}

// put publishes a document in its place, or else in memory: a disk that takes nothing more keeps what an earlier
// run has published there, which is removed: that needs no room. The error is that of the document's own place.
func (r *publication) put(own, spare state.File, write func(state.File) error) error {
	stale := func(f state.File) []string {
		switch f {
		case state.Status, state.RunStatus:
			return []string{f.Path}
		case runPlace.result:
			return []string{runPlace.complete, f.Path}
		}
		return []string{r.target.marker(), f.Path}
	}
	if err := write(own); err != nil {
		if _, removing := remove(r.Host, stale(own)...); removing != nil {
			r.Log.Error("what an earlier run has published cannot be removed", "path", own.Path, "error", removing)
		}
		if r.result.Succeeded() {
			return err // it is none, and is published once it says so
		}
		if inMemory := write(spare); inMemory != nil {
			return errors.Join(err, inMemory)
		}
		r.Log.Warn("what came of this run is in memory only, until the next boot", "path", spare.Path, "error", err)
		return err
	}
	if _, err := remove(r.Host, stale(spare)...); err != nil {
		r.Log.Warn("what an earlier run has left in memory cannot be removed", "path", spare.Path, "error", err)
	}
	return nil
}

// document is the result as AKS's consumers read it.
func (r *publication) document(ctx context.Context) status.CSEStatus {
	s := &r.result.Status
	doc := status.CSEStatus{
		ExitCode:     strconv.Itoa(s.ExitCode),
		Output:       r.summary(),
		Error:        r.result.Text,
		ExecDuration: strconv.FormatInt(s.DurationMs/1000, 10),
		CSEStartTime: status.DateTime(s.StartedAt),
	}
	doc.BootDatapoints.CSEStartTime = doc.CSEStartTime
	_ = r.guarded(func() error { r.fill(ctx, &doc); return nil })
	return doc
}

// summary is what was done, for people who see the result and nothing else.
func (r *publication) summary() string {
	if len(r.result.Output) > 0 {
		return string(r.result.Output)
	}
	var b strings.Builder
	r.result.Status.Print(&b, false)
	return b.String()
}

// writeEvent reports the end of a provisioning where others collect events.
func (r *publication) writeEvent() error {
	at := r.target.destination()
	if at.events().Dir == "" {
		return nil
	}
	s := &r.result.Status
	level, message := status.LevelInformational, "Completed"
	switch {
	case s.Error != nil:
		level, message = status.LevelError, at.family.Agent.Called+" exited with error "+r.result.Text
	case len(s.Warnings) > 0:
		level, message = status.LevelWarning, "Completed, with a warning: "+s.Warnings[0].String()
	}
	r.writeEventTo(at.events(), "Provision", level, message, s.StartedAt, s.FinishedAt)
	return nil
}

// writeEventTo writes one event under a name that no other has.
func (p *Publisher) writeEventTo(to profile.Events, task, level, message string, start, end time.Time) {
	message = fmt.Sprintf("%s | startTime=%s endTime=%s durationMs=%d", message,
		start.UTC().Format(time.RFC3339Nano), end.UTC().Format(time.RFC3339Nano), end.Sub(start).Milliseconds())
	content, err := status.NewEvent(to.Task+task, level, message, start, end).Marshal()
	if err == nil {
		name := func(attempt int) string { return status.EventFileName(end, attempt) }
		_, err = p.Host.CreateExclusive(to.Dir, name, 0o644, content)
	}
	if err != nil {
		p.Log.Warn("event cannot be written", "directory", to.Dir, "error", err)
	}
}
