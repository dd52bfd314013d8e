//go:build failpoint

package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/status"
)

// fault is a failing call in a run.
type fault struct {
	at    int // the mutation, from 0
	errno syscall.Errno
	// short is how many bytes of a write are written.
	short int
	// stays reports whether all later calls fail, too, as on a full disk.
	stays bool
}

func (f fault) String() string {
	text := fmt.Sprintf("%s at mutation %d", errName[f.errno], f.at)
	if f.short > 0 {
		text += fmt.Sprintf(" after %d bytes", f.short)
	}
	if f.stays {
		text += " and all that follow"
	}
	return text
}

var errName = map[syscall.Errno]string{
	syscall.ENOSPC: "ENOSPC", syscall.EROFS: "EROFS", syscall.EIO: "EIO", syscall.EACCES: "EACCES", syscall.EINTR: "EINTR",
}

// needSpace are the kinds of mutation that fail on a full disk.
var needSpace = []string{"create", "write", "mkdir", "link", "symlink", "allocate"}

// block is the disk space of the smallest file.
const block = 4 << 10

// takes is the maximum disk space of a mutation: a file's blocks, and one for a name.
func takes(m *failpoint.Mutation) int64 { return (int64(len(m.Data))/block+1)*block + m.Size }

// faults are all faults of the scenario's run. A close releases its file whatever it returns, and only a system call is ever
// interrupted.
func (s *scenario) faults(stays bool) []fault {
	var all []fault
	for n := range s.events {
		e := &s.events[n]
		if stays {
			all = append(all, fault{at: n, errno: syscall.ENOSPC, stays: true}, fault{at: n, errno: syscall.EROFS, stays: true})
			continue
		}
		for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.EACCES, syscall.EINTR} {
			if errno == syscall.EINTR && isAction(&e.Mutation) {
				continue
			}
			all = append(all, fault{at: n, errno: errno})
		}
		if size := len(e.Data); e.Kind == "write" && size > 1 {
			all = append(all, fault{at: n, errno: syscall.ENOSPC, short: 1}, fault{at: n, errno: syscall.ENOSPC, short: size - 1})
		}
	}
	return all
}

// fate is the fault's effect on a mutation in a run. A disk that stays full has as much room as the run has freed of the reserve.
func (f fault) fate(s *session, n int, m *failpoint.Mutation) failpoint.Fate {
	switch {
	case n == f.at:
		return failpoint.Fate{Err: f.errno, Short: f.short}
	case n > f.at && f.stays && f.errno == syscall.ENOSPC && !isAction(m) && takes(m) <= s.freed:
		s.freed -= takes(m)
		return failpoint.Fate{}
	case n < f.at || !f.stays || isAction(m) || f.errno == syscall.ENOSPC && !slices.Contains(needSpace, m.Kind):
		return failpoint.Fate{}
	}
	return failpoint.Fate{Err: f.errno}
}

// Every call fails once, or all calls from there on, with every possible error. The run loses no data and reports the error. After
// the fault is repaired, the next run reaches the same state as an uninterrupted one.
func TestFaults(t *testing.T) {
	onEach(t, func(t *testing.T, s *scenario) {
		for _, stays := range []bool{false, true} {
			name := "a call fails, "
			if stays {
				name = "a disk fails and stays so, "
			}
			c := begin(t, name+s.name)
			faults := sample(s.faults(stays), size{part: 15}.now(), func(f fault) string {
				return fmt.Sprint(s.events[f.at].Kind, errName[f.errno], f.short > 0)
			})
			each(len(faults), func(i int) {
				e := &s.events[faults[i].at]
				c.point(fmt.Sprintf("%s, %s %s", faults[i], e.Kind, e.Path), s.endures(faults[i]))
			})
			c.end()
		}
	})
}

// endures checks that a run reports a fault and damages nothing, and that the next run repairs the rest.
func (s *scenario) endures(f fault) error {
	n, err := s.node()
	if err != nil {
		return err
	}
	defer n.remove()
	run := &session{death: death{at: -1}, fault: f.fate}
	got := n.provision(run)
	now, err := snapshot(n.root)
	if err != nil {
		return err
	}
	if err := errors.Join(s.whole(now, f), s.honest(now)); err != nil {
		return err
	}
	if f.errno == syscall.EINTR {
		if got.ExitCode != 0 {
			return fmt.Errorf("was not tried again: exit code %d: %v", got.ExitCode, got.Error)
		}
		return n.converged()
	}
	if err := n.told(got, run, f); err != nil {
		return err
	}
	return n.finish()
}

// whole checks that every path has its old or its new state, and none in between.
func (s *scenario) whole(now tree, f fault) error {
	var errs []error
	for path := range union(now, union(s.base, s.want)) {
		have := now[path]
		switch {
		case s.retires(path):
		case isTemporary(path):
			if !f.stays && s.events[f.at].Kind != "unlink" {
				errs = append(errs, fmt.Errorf("%s is left behind", path))
			}
		case isPart(path): // only the run that resumes the download reads it
		case isRecord(path), strings.HasPrefix(path, ownDir):
			if strings.HasSuffix(path, ".json") && have.mode != 0 && !json.Valid([]byte(have.content)) {
				errs = append(errs, fmt.Errorf("%s is torn: %s", path, have))
			}
		case path == markerPath && have.mode == 0: // it is being removed
		case path == contractPath && s.kept && have.mode == 0: // another machine's contract is removed before this one's is written
		case have.mode.IsDir() && s.want[path].mode.IsDir(): // its mode is set after its creation
		case have != s.base[path] && have != s.want[path]:
			errs = append(errs, fmt.Errorf("%s is %s, was %s, is to be %s", path, have, s.base[path], s.want[path]))
		}
	}
	return errors.Join(errs...)
}

// told checks that the run reports the fault: one error that names what failed, with the plan's exit code for it.
func (n *node) told(got *status.Status, run *session, f fault) error {
	e := &run.events[f.at]
	about := untemporary(e.Path)
	if e.Kind == "link" { // of a downloaded program, to its final path
		about = untemporary(e.To)
	}
	if e.cause != "" {
		about = e.cause
	}
	if got.ExitCode == 0 {
		if now, err := snapshot(n.root); err == nil && now.published(n.want) == nil && now[markerPath].mode != 0 {
			return nil // the fault had no effect, or only on an event
		}
		return fmt.Errorf("no error is reported, and the published records are incomplete: %s", n.log.String())
	}
	message := ""
	for _, failure := range got.Errors {
		message += failure.Resource + ": " + failure.Message + "\n"
	}
	codes := n.codes(e, about)
	// A run does not fail if it cannot hold back the kubelet of the machine that the disk was copied from. On a disk that stays so, it fails
	// at the next write.
	holds := f.stays && e.cause == plan.KubeletUnit && e.action == string(failpoint.Disable)
	if holds {
		codes = append(codes, exitcode.AKSNodeController)
	}
	switch {
	case strings.Contains(message, "panic"):
		return fmt.Errorf("panic: %s", message)
	case !slices.Contains(codes, got.ExitCode):
		return fmt.Errorf("exit code %d, want one of %v: %s", got.ExitCode, codes, message)
	case !f.stays && len(got.Errors) != 1:
		return fmt.Errorf("%d errors, want one: %s", len(got.Errors), message)
	case !strings.Contains(message, about) && !(f.stays && isOfEvents(about)) && !holds:
		return fmt.Errorf("the error does not name %s: %s", about, message)
	case !strings.Contains(message, f.errno.Error()):
		return fmt.Errorf("the error does not say %q: %s", f.errno.Error(), message)
	}
	return nil
}

// isOfEvents reports whether a path is a guest agent's event, or its temporary name. A run does not fail if it cannot write one; on
// a disk that stays full it fails at the next write.
func isOfEvents(name string) bool {
	const events = "/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/"
	return strings.HasPrefix(events, name+"/") || strings.HasPrefix(name+"/", events)
}

// untemporary is the final path of a temporary file.
func untemporary(name string) string {
	dir, base := path.Split(name)
	if inner, ok := strings.CutSuffix(base, ".slipway-tmp"); ok {
		base = strings.TrimPrefix(inner, ".")
	}
	return dir + base
}

// codes are the exit codes that a failure at a path may have: that of the resource with this path, or with a path below the
// directory; the agent's own if there is no such resource.
func (n *node) codes(e *event, about string) []int {
	codes := make(map[int]bool)
	c := n.certificate()
	besides := c != nil && (about == c.Kubeconfig || strings.HasPrefix(about+"/", c.Directory+"/") || about == path.Dir(c.Directory) && e.Kind == "fsync-directory")
	for _, r := range n.plan.Resources {
		code := r.ExitCode
		if code == 0 {
			code = exitcode.AKSNodeController
		}
		switch spec := r.Spec.(type) {
		case *resource.Check:
		case *resource.Command:
			if spec.Label == about && spec.Advisory { // if it fails, that is a warning and what follows fails; if it cannot start, that is an error
				return []int{code, exitcode.AKSNodeController}
			}
			if spec.Label == about {
				return []int{code}
			}
			if e.Kind == "syncfs" { // the data that it syncs is durable before it runs
				codes[code] = true
			}
		case *resource.Download:
			if strings.HasPrefix(about, spec.Store()+"/") {
				return []int{code}
			}
			if strings.HasPrefix(spec.Store()+"/", strings.TrimSuffix(about, "/")+"/") {
				codes[code] = true
			}
		case *resource.TrustStore:
			for _, at := range []string{spec.Bundle, spec.Links} {
				if at != "" && (strings.HasPrefix(about+"/", at+"/") || strings.HasPrefix(at+"/", strings.TrimSuffix(about, "/")+"/")) {
					codes[code] = true
				}
			}
		default:
			if r.Spec.Name() == about && !besides {
				return []int{code}
			}
			if strings.HasPrefix(r.Spec.Name(), strings.TrimSuffix(about, "/")+"/") {
				codes[code] = true
			}
		}
	}
	if besides {
		for _, r := range n.plan.Resources { // it is written in parallel with other resources
			codes[r.ExitCode] = true
		}
		codes[exitcode.AKSNodeController] = true
	}
	if len(codes) == 0 || e.Kind == "fsync-directory" {
		codes[exitcode.AKSNodeController] = true
	}
	return slices.Sorted(maps.Keys(codes))
}
