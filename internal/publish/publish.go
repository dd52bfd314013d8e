// Package publish publishes the outcome of a run: it writes the status, the result and its marker, in this order, and
// an event for programs that collect events, and reports to Azure's platform. It also waits for such a result, and
// reads what earlier runs have published.
//
// It decides nothing about a run, and takes no lock: its caller must hold the lock when it writes or removes anything.
// If a file cannot be written at its usual path because the disk is full, it is published in memory. internal/agent
// calls it.
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

// Host is the part of the machine that the package uses.
type Host interface {
	Files
	// WriteFileAtomic writes a file durably; no reader sees an incomplete one.
	WriteFileAtomic(file *resource.File) error
	Remove(path string) error
	Sync() error
	// CreateExclusive writes a file under the first unused name.
	CreateExclusive(dir string, name func(attempt int) string, mode uint32, content []byte) (path string, err error)
	// WaitForFiles waits until one of the paths exists and returns the first existing one.
	WaitForFiles(ctx context.Context, paths ...string) (string, error)
	// BootTimes returns when the stages of this boot began.
	BootTimes(ctx context.Context) (host.BootTimes, error)
	// ServiceStart returns when a service's main process started, or the zero time if it never did.
	ServiceStart(ctx context.Context, unit string) (time.Time, error)
}

// Publisher publishes on a machine.
type Publisher struct {
	Host Host
	Log  *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// patience limits publishing. The result is published even if the run's time is over.
const patience = 10 * time.Second

// WriteResult writes an event, the status, then the result, then the marker: a reader that sees one sees all earlier
// ones. Write errors are logged, because there is no other reader. It returns the published result: a success that
// cannot be published is a failure.
func (p *Publisher) WriteResult(ctx context.Context, result outcome.Result, target Target) outcome.Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r := &publication{p, result, target}
	_ = r.guarded(r.writeEvent)
	if err := r.guarded(r.writeStatus); err != nil {
		p.Log.Error("the status cannot be written", "path", state.Status.Path, "error", err)
		// Without it in the status, this success would be taken for the run in the present status.
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

// WriteStatus writes only the status, for a run whose result no program waits for. Write errors are logged.
func (p *Publisher) WriteStatus(result outcome.Result, target Target) {
	r := &publication{p, result, target}
	if err := r.guarded(r.writeStatus); err != nil {
		p.Log.Error("the status cannot be written", "path", state.Status.Path, "error", err)
	}
}

// guarded calls f and turns a panic into an error: a program that waits for the result must get one.
func (p *Publisher) guarded(f func() error) error { return apply.Guard(p.Log, "agent", f) }

// publication is one result to publish.
type publication struct {
	*Publisher
	result outcome.Result
	target Target
}

// fail turns the result into a failure.
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

// writeResult writes the result, and the marker after the result is durable.
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

// publishedByScript reports whether the script wrote the result itself.
func (r *publication) publishedByScript() bool {
	if !r.target.Script {
		return false
	}
	_, err := read(r.Host, r.target.destination())
	return err == nil
}

// put publishes a document at its path, or else in memory: on a full disk an earlier run's document would stay there,
// so put removes it, which needs no space. The error is that of the document's path.
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
			return err // the success is a failure, and is published again as one
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

// document is the result in AKS's format.
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

// summary is what was done, for people who see only the result.
func (r *publication) summary() string {
	if len(r.result.Output) > 0 {
		return string(r.result.Output)
	}
	var b strings.Builder
	r.result.Status.Print(&b, false)
	return b.String()
}

// writeEvent writes an event about the end of a provisioning for programs that collect events.
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

// writeEventTo writes one event under a unique name.
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
