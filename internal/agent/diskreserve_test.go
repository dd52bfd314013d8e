package agent

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/detector"
)

// disk is full from a certain write on, and stays full, except for the space that the reserve frees.
type disk struct {
	n *node
	// from is the first write without space, writes counts all of them.
	from, writes int
	room         int64
	// also is what else goes wrong, for the first time before the write failed.
	also   func(op, name string) error
	failed int
}

// takes are the calls that take room, and how much at most.
var takes = map[string]int64{"Stage": 16 << 10, "WriteFileAtomic": 64 << 10, "MakeDirectory": 4 << 10, "MakeSymlink": 4 << 10, "CreateExclusive": 4 << 10, "Reserve": state.Reserve.Limit}

func (d *disk) before(op, name string) error {
	if d.also != nil {
		if err := d.also(op, name); err != nil {
			d.failed = d.writes
			return err
		}
	}
	if op == "Remove" && name == state.Reserve.Path && d.n.exists(name) {
		d.room += state.Reserve.Limit
	}
	size, ok := takes[op]
	if !ok || strings.HasPrefix(name, "/run/") {
		return nil
	}
	d.writes++
	if d.writes-1 < d.from {
		return nil
	}
	if d.room < size {
		return syscall.ENOSPC
	}
	d.room -= size
	return nil
}

// full makes the node's disk full from a write on.
func (n *node) full(from int, also func(op, name string) error) *disk {
	d := &disk{n: n, from: from, also: also}
	n.host.before = d.before
	return d
}

const never = 1 << 20

// Wherever the disk becomes full in a change and stays full, the machine ends with the old generation, and index and
// status record that. The same is true if it becomes full on the way back of a change that failed for another reason.
func TestRoomForTheWayBack(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	for name, also := range map[string]func(n *node) func(op, name string) error{
		"a change": func(*node) func(op, name string) error { return fine },
		"a change that fails": func(n *node) func(op, name string) error {
			unwell := failing("Probe health-kubelet-healthz")
			return func(op, name string) error {
				if !n.exists(brought) {
					return nil // the node would be healthy without the change
				}
				return unwell(op, name)
			}
		},
	} {
		n := running(t)
		all := n.full(never, also(n))
		n.change(better(t))
		if all.writes < 8 {
			t.Fatalf("%s: %d writes", name, all.writes)
		}
		for from := all.failed; from < all.writes; from++ {
			n := running(t)
			files := n.tree()
			d := n.full(from, also(n))
			got := n.change(better(t))
			s := got.Status
			last, err := n.LastStatus()
			if err != nil || last.ExitCode != s.ExitCode || !n.exists(state.Status.Path) {
				t.Errorf("%s, write %d: the status is %+v, %v", name, from, last, err)
			}
			n.host.before = fine
			entries, _ := n.Generations()
			current := entries[len(entries)-1]
			if s.ExitCode == 0 {
				// Only what follows the change has met the full disk.
				if from < all.writes-2 || current.Outcome != generation.Good || current.Number != 2 {
					t.Errorf("%s, write %d of %d: success, generation %+v", name, from, all.writes, current)
				}
				continue
			}
			same(t, name, n.tree(), files)
			if current.Outcome != generation.Good || current.Number > 1 && (current.Restores != 1 || s.Restored != 1) {
				t.Errorf("%s, write %d: the generation is %+v, restored %d", name, from, current, s.Restored)
			}
			if current.Number > 1 && entries[1].Stands() {
				t.Errorf("%s, write %d: a change that was rolled back is remembered as good: %s", name, from, n.generations())
			}
			if slices.ContainsFunc(s.Errors, func(f status.Failure) bool { return strings.HasPrefix(f.Resource, "Generation:") }) {
				t.Errorf("%s, write %d: %+v", name, from, s.Errors)
			}
			if !n.exists(nativePlace.complete) || n.exists(state.RunStatus.Path) {
				t.Errorf("%s, write %d: the marker is gone, or the status is in memory only", name, from)
			}
			if drift, err := n.Drift(t.Context()); err != nil || len(drift) > 0 {
				t.Errorf("%s, write %d: drift: %v, %v", name, from, drift, err)
			}
			n.left()
			if log := n.log.String(); d.room > 0 != strings.Contains(log, "using the room that was reserved") {
				t.Errorf("%s, write %d: %d bytes are left of the reserve: %s", name, from, d.room, log)
			}
			// The disk has space again.
			if got := n.change(better(t)); got.Status.ExitCode != 0 || !n.exists(state.Reserve.Path) {
				t.Errorf("%s, write %d: once there is room: %v", name, from, got.Status.Error)
			}
		}
	}
}

// The first run makes the reserve, and later runs do not write it again. If there is no space for it, a warning is
// logged and the run succeeds.
func TestReserve(t *testing.T) {
	t.Parallel()
	n := running(t)
	if stat, err := n.host.Stat(state.Reserve.Path); err != nil || stat.Size != state.Reserve.Limit || stat.Mode != state.Reserve.Mode {
		t.Errorf("the reserve is %+v, %v", stat, err)
	}
	before := n.snapshot()
	n.provision()
	if !maps.Equal(before, n.snapshot()) {
		t.Error("a run with nothing to do changes something")
	}

	n = newNode(t)
	n.deliver(nativeContract, example(t, "native/full.yaml"))
	n.host.before = func(op, _ string) error {
		if op == "Reserve" {
			return syscall.EDQUOT
		}
		return nil
	}
	if got := n.provision(); got.ExitCode != 0 || !strings.Contains(n.log.String(), "no room for a reserve") {
		t.Errorf("%d: %v: %s", got.ExitCode, got.Error, n.log)
	}
	n.published(nativePlace, 0)
	if got := n.change(better(t)); got.Status.ExitCode != 0 {
		t.Errorf("without a reserve: %v", got.Status.Error)
	}
}

// The reserve is at least twice as large as all that a way back writes, for every example.
func TestReserveIsLargeEnough(t *testing.T) {
	t.Parallel()
	for dir, path := range map[string]string{"aks": aksContract, "native": nativeContract} {
		names, err := os.ReadDir(examples + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			n := newNode(t)
			n.deliver(path, example(t, dir+"/"+name.Name()))
			var size int64
			n.host.written = func(name string, _ uint32, content []byte) {
				if !strings.HasPrefix(name, "/run/") {
					const block = 4 << 10
					size += (int64(len(content))/block + 2) * block // and one for the directory
				}
			}
			if got := n.provision(); got.ExitCode != 0 {
				t.Fatal(name, got.Error)
			}
			if size < 50<<10 || 2*size > state.Reserve.Limit {
				t.Errorf("%s: %d bytes are written, the reserve has %d", name.Name(), size, state.Reserve.Limit)
			}
		}
	}
}

// On a read-only file system a change and a provisioning start nothing, and the error names the file system.
func TestReadOnlyPlace(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{state.Dir, filepath.Dir(brought)} {
		for name, do := range map[string]func(n *node) (int, string){
			"apply": func(n *node) (int, string) {
				s := n.change(better(t)).Status
				return s.ExitCode, s.Error.Message
			},
			"provision": func(n *node) (int, string) {
				n.deliver(nativeContract, better(t))
				s := n.provision()
				return s.ExitCode, s.Error.Message
			},
		} {
			n := running(t)
			n.Called = ""
			files, generations := n.tree(), n.generations()
			delete(files, nativeContract)
			broken := errors.Join(errors.New("the file system that is mounted at /mnt is read-only"), syscall.EROFS)
			wrote := ""
			n.host.before = func(op, name string) error {
				if op == "Writable" && (name == dir || strings.HasPrefix(name, dir+"/")) {
					return broken
				}
				if slices.Contains(mutating, op) && !strings.HasPrefix(name, "/run/") && op != "Sync" &&
					!slices.Contains(markers, name) && name != state.Status.Path && name != nativePlace.result.Path {
					wrote += op + " " + name + "\n"
				}
				return nil
			}
			code, message := do(n)
			if code != exitcode.AgentFailed || !strings.Contains(message, "mounted at /mnt is read-only") {
				t.Errorf("%s, %s: %d: %s", name, dir, code, message)
			}
			if wrote != "" {
				t.Errorf("%s, %s: is changed: %s", name, dir, wrote)
			}
			after := n.tree()
			delete(after, nativeContract)
			n.host.before = fine
			same(t, name, after, files)
			equal(t, name, n.generations(), generations)
		}
	}
}
