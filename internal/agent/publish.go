package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// lastSuccess reports whether the last provisioning was of the same plan, succeeded, and is published.
func (p *provision) lastSuccess(desired resource.Plan) bool {
	last, err := p.LastStatus()
	if err != nil || last.Outcome != status.OutcomeSuccess || desired.Config == "" || last.Config.Digest != desired.Config {
		return false
	}
	entry, err := p.Host.Stat(p.marker())
	if err != nil || entry.Kind != apply.RegularFile {
		return false
	}
	result, err := p.readResult()
	if err != nil {
		return false
	}
	code, err := result.Code()
	return err == nil && code == exitcode.Success
}

func (p *provision) place() place {
	return placeOf(profile.Publisher(p.dialect, p.Called, p.account.Status.Config.Path))
}

// published is the exit code under which a failure is published and returned: the number that those know who have
// called the agent, and who look there.
func (a *Agent) published(code int, at place) int {
	code = profile.OfProgram(a.Called).Publication.Code(code)
	if at.family != nil {
		code = at.family.Publication.Code(code)
	}
	return code
}

// marker is what says that this provisioning has ended.
func (p *provision) marker() string {
	if p.baseOnly {
		return p.place().baseComplete
	}
	return p.place().complete
}

// retract removes the markers of earlier runs, so that nobody takes their result for this one's:
// all that anybody may be waiting for, and the result itself where a script may leave it as it is.
func (p *provision) retract() error {
	stale := append([]string{p.marker()}, markers...)
	if p.isScript() {
		stale = append(stale, p.place().result.Path)
	}
	removed, err := p.removeAll(stale...)
	if err != nil {
		return fmt.Errorf("take back the result of an earlier provisioning: %w", err)
	}
	if !removed {
		return nil
	}
	return p.Host.Sync()
}

// removeAll removes files, and reports whether there was one.
func (a *Agent) removeAll(paths ...string) (removed bool, err error) {
	for _, path := range paths {
		entry, err := a.Host.Stat(path)
		if err == nil && entry.Kind != apply.Absent {
			err = a.Host.Remove(path)
			removed = true
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// retractFailure removes the marker of an earlier run that failed, before a contract is waited for: whoever
// waits meanwhile is to get the result of this boot.
func (p *provision) retractFailure(ctx context.Context) error {
	for _, place := range places {
		marker, err := p.Host.Stat(place.complete)
		if err != nil {
			return err
		}
		data, err := place.result.Read(p.Host)
		if marker.Kind == apply.Absent || err != nil {
			continue
		}
		result, err := status.ParseCSE(data)
		if code, unclear := result.Code(); err == nil && unclear == nil && code == exitcode.Success {
			continue
		}
		if err := p.lock(ctx); err != nil {
			return err
		}
		err = p.retract()
		p.unlock()
		return err
	}
	return nil
}

// publish writes the status, then the result, then the marker: whoever sees one sees all before it.
// What cannot be written is logged; there is nobody else to tell.
func (p *provision) publish(ctx context.Context) {
	if p.unchanged && p.result.Succeeded() {
		p.Log.Debug("nothing changed; the published result stays")
		return
	}
	if !p.mayPublish(ctx) {
		p.Log.Error("another provisioning is running; its result is published, not this one's")
		return
	}
	// The result is published even where the time for the provisioning is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = p.guarded(func() error { p.event("Provision"); return nil })
	if err := p.guarded(p.publishStatus); err != nil {
		p.Log.Error("the status cannot be written", "path", StatusPath, "error", err)
		// A success that the status does not mention would be taken for the success of the run that it mentions.
		if p.result.Succeeded() {
			p.conclude(fmt.Errorf("publish the status: %w", err))
			_ = p.guarded(p.publishStatus)
		}
	}
	if err := p.guarded(func() error { return p.publishResult(ctx) }); err != nil {
		p.Log.Error("the result cannot be published where it belongs", "path", p.place().result.Path, "error", err)
		if p.result.Succeeded() {
			p.conclude(fmt.Errorf("publish the result: %w", err))
			_ = p.guarded(p.publishStatus)
			_ = p.guarded(func() error { return p.publishResult(ctx) })
		}
	}
}

// mayPublish takes the lock where the run ended before it did so. Only a lock that another run holds is
// a reason not to publish: that one ends within its own time, and is waited for.
func (p *provision) mayPublish(ctx context.Context) bool {
	if p.release != nil || p.yielded {
		return !p.yielded
	}
	ctx, cancel := context.WithTimeout(ctx, nodeconfig.DefaultTimeout.Std())
	defer cancel()
	if err := p.guarded(func() error { return p.lock(ctx) }); err != nil {
		p.Log.Warn("the lock cannot be taken", "path", apply.LockPath, "error", err)
	}
	return !p.yielded
}

func (p *provision) isScript() bool { return p.opts.Script != "" && p.opts.Config == "" }

// publishedByScript reports whether a script that was run wrote the result itself.
func (p *provision) publishedByScript() bool {
	if !p.isScript() {
		return false
	}
	_, err := p.readResult()
	return err == nil
}

// readResult reads the result that is published where this run's goes.
func (p *provision) readResult() (status.CSEStatus, error) {
	data, err := p.place().result.Read(p.Host)
	if err != nil {
		return status.CSEStatus{}, err
	}
	return status.ParseCSE(data)
}

func (p *provision) publishStatus() error {
	document, err := p.result.Status.Marshal()
	if err != nil {
		return err
	}
	return p.put(state.Status, state.RunStatus, func(f state.File) error { return f.Write(p.Host, document) })
}

// publishResult writes the result, and the marker once the result is durable.
func (p *provision) publishResult(ctx context.Context) error {
	own, script := p.place().result, p.publishedByScript()
	var document []byte
	var err error
	if script {
		document, err = own.Read(p.Host)
	} else {
		document, err = p.cse(ctx).Marshal()
	}
	if err != nil {
		return err
	}
	return p.put(own, runPlace.result, func(f state.File) error {
		marker := p.marker()
		if f == runPlace.result {
			marker = runPlace.complete
		}
		if !script || f != own {
			if err := f.Write(p.Host, document); err != nil {
				return err
			}
		}
		return p.Host.WriteFileAtomic(&resource.File{Path: marker, Mode: 0o600})
	})
}

// put publishes a document in its place, or else in memory: a disk that takes nothing more keeps what an earlier
// run has published there, which is removed: that needs no room. The error is that of the document's own place.
func (p *provision) put(own, spare state.File, write func(state.File) error) error {
	stale := func(f state.File) []string {
		switch f {
		case state.Status, state.RunStatus:
			return []string{f.Path}
		case runPlace.result:
			return []string{runPlace.complete, f.Path}
		}
		return []string{p.marker(), f.Path}
	}
	if err := write(own); err != nil {
		if _, removing := p.removeAll(stale(own)...); removing != nil {
			p.Log.Error("what an earlier run has published cannot be removed", "path", own.Path, "error", removing)
		}
		if p.result.Succeeded() {
			return err // it is none, and is published once it says so
		}
		if inMemory := write(spare); inMemory != nil {
			return errors.Join(err, inMemory)
		}
		p.Log.Warn("what came of this run is in memory only, until the next boot", "path", spare.Path, "error", err)
		return err
	}
	if _, err := p.removeAll(stale(spare)...); err != nil {
		p.Log.Warn("what an earlier run has left in memory cannot be removed", "path", spare.Path, "error", err)
	}
	return nil
}

// cse is the result as AKS's consumers read it.
func (p *provision) cse(ctx context.Context) status.CSEStatus {
	s := &p.result.Status
	doc := status.CSEStatus{
		ExitCode:     strconv.Itoa(s.ExitCode),
		Output:       p.summary(),
		Error:        p.result.Text,
		ExecDuration: strconv.FormatInt(s.DurationMs/1000, 10),
		CSEStartTime: status.DateTime(s.StartedAt),
	}
	doc.BootDatapoints.CSEStartTime = doc.CSEStartTime
	_ = p.guarded(func() error { p.fill(ctx, &doc); return nil })
	return doc
}

// summary is what was done, for people who see the result and nothing else.
func (p *provision) summary() string {
	if len(p.result.Output) > 0 {
		return string(p.result.Output)
	}
	var b strings.Builder
	p.result.Status.Print(&b, false)
	return b.String()
}

// event reports the end of a provisioning where others collect events.
func (p *provision) event(task string) {
	at := p.place()
	if at.events().Dir == "" {
		return
	}
	s := &p.result.Status
	level, message := status.LevelInformational, "Completed"
	if s.Error != nil {
		level, message = status.LevelError, at.family.Agent.Called+" exited with error "+p.result.Text
	}
	p.writeEvent(at.events(), task, level, message, s.StartedAt, s.FinishedAt)
}

// writeEvent writes one event under a name that no other has.
func (a *Agent) writeEvent(to profile.Events, task, level, message string, start, end time.Time) {
	message = fmt.Sprintf("%s | startTime=%s endTime=%s durationMs=%d", message,
		start.UTC().Format(time.RFC3339Nano), end.UTC().Format(time.RFC3339Nano), end.Sub(start).Milliseconds())
	content, err := status.NewEvent(to.Task+task, level, message, start, end).Marshal()
	if err == nil {
		name := func(attempt int) string { return status.EventFileName(end, attempt) }
		_, err = a.Host.CreateExclusive(to.Dir, name, 0o644, content)
	}
	if err != nil {
		a.Log.Warn("event cannot be written", "directory", to.Dir, "error", err)
	}
}
