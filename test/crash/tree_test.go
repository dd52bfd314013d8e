//go:build failpoint

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// The records of a run, which differ between runs.
const (
	actionsPath = "/run/slipway/actions.jsonl"
	statusPath  = "/var/lib/slipway/status.json"
	resultPath  = "/var/log/azure/aks/provision.json"
	ownDir      = "/var/lib/slipway/" // the engine's own records
	markerPath  = "/opt/azure/containers/provision.complete"
	guestAgent  = "/var/log/azure/Microsoft.Azure.Extensions.CustomScript"
	eventsDir   = guestAgent + "/events"
)

// entry is a file, directory or link.
type entry struct {
	mode     fs.FileMode
	uid, gid uint32
	target   string
	content  string
	// room is the size of a file with allocated space and no content.
	room int64
}

func (e entry) String() string {
	if e.mode == 0 && e.content == "" {
		return "nothing"
	}
	return fmt.Sprintf("%s %d:%d %s%.60q (%d bytes)", e.mode, e.uid, e.gid, e.target, e.content, len(e.content))
}

// tree is everything below a directory, by path.
type tree map[string]entry

func snapshot(root string) (tree, error) {
	t := make(tree)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t)
		e := entry{mode: info.Mode(), uid: owner.Uid, gid: owner.Gid}
		switch info.Mode().Type() {
		case 0:
			if strings.TrimPrefix(path, root) == state.Reserve.Path {
				e.room = info.Size()
				break
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			e.content = string(data)
		case fs.ModeSymlink:
			if e.target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		t[strings.TrimPrefix(path, root)] = e
		return nil
	})
	t.samePair()
	return t, err
}

// write creates the tree below a new directory.
func (t tree) write(root string) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(t)) { // a directory before its entries
		e, at := t[path], root+path
		var err error
		switch e.mode.Type() {
		case fs.ModeDir:
			err = os.Mkdir(at, 0o755)
		case fs.ModeSymlink:
			err = os.Symlink(e.target, at)
		default:
			if e.room > 0 {
				err = allocated(at, e.room)
				break
			}
			err = os.WriteFile(at, []byte(e.content), 0o644)
		}
		if err == nil && e.mode.Type() != fs.ModeSymlink && e.mode != 0o644 && e.mode != fs.ModeDir|0o755 {
			err = os.Chmod(at, e.mode)
		}
		if err == nil && int(e.uid) != os.Geteuid() {
			err = os.Lchown(at, int(e.uid), int(e.gid))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allocated creates a file with allocated space and no content.
func allocated(at string, size int64) error {
	f, err := os.Create(at)
	if err != nil {
		return err
	}
	defer f.Close()
	return syscall.Fallocate(int(f.Fd()), 0, 0, size)
}

// isRecord reports whether the content of a path differs between runs.
func isRecord(path string) bool {
	return path == actionsPath || path == statusPath || path == resultPath || path == eventsDir || strings.HasPrefix(path, eventsDir+"/")
}

// times matches times in the agent's own files, which differ between runs.
var times = regexp.MustCompile(`"(startedAt|finishedAt)":\s*"[^"]*"`)

// timeless is an entry without those times.
func (e entry) timeless() entry {
	e.content = times.ReplaceAllString(e.content, "")
	return e
}

// isTemporary reports whether a file has a temporary name.
func isTemporary(path string) bool { return strings.Contains(path, "slipway-tmp") }

// isEvent reports whether a path is only for the guest agent. The agent writes an event once. If it cannot be written, the
// provisioning does not fail.
func isEvent(path string) bool { return path == guestAgent || strings.HasPrefix(path, guestAgent+"/") }

// equal checks that a tree equals that of an uninterrupted run. Of all runs, some could not write their event.
func (t tree) equal(want tree, runs, eventless int) error {
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(union(t, want))) {
		have, wanted := t[path], want[path]
		switch {
		case isEvent(path) && wanted.mode.IsDir() && have.mode == 0 && eventless > 0:
		case isTemporary(path):
			errs = append(errs, fmt.Errorf("%s is left behind", path))
		case strings.HasPrefix(path, ownDir) && have.timeless() == wanted.timeless():
		case !isRecord(path) && have != wanted:
			errs = append(errs, fmt.Errorf("%s is %s, want %s", path, have, wanted))
		}
	}
	errs = append(errs, t.published(want), t.told(want, runs, eventless))
	return errors.Join(errs...)
}

func union(a, b tree) tree {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// published checks that the records report success, and equal those of another tree.
func (t tree) published(want tree) error {
	var errs []error
	got, err := status.Parse([]byte(t[statusPath].content))
	wanted, wantErr := status.Parse([]byte(want[statusPath].content))
	switch {
	case err != nil || wantErr != nil:
		errs = append(errs, fmt.Errorf("the status cannot be read: %w", errors.Join(err, wantErr)))
	case got.Outcome != status.OutcomeSuccess || got.ExitCode != 0 || !want.sameContract(got.Config, wanted.Config):
		errs = append(errs, fmt.Errorf("the status is %s, %d, %+v", got.Outcome, got.ExitCode, got.Config))
	}
	result, err := status.ParseCSE([]byte(t[resultPath].content))
	if code, codeErr := result.Code(); err != nil || codeErr != nil || code != 0 {
		errs = append(errs, fmt.Errorf("the result is %d: %w", code, errors.Join(err, codeErr)))
	}
	for _, path := range []string{statusPath, resultPath} {
		if have, wanted := t[path], want[path]; have.mode != wanted.mode || have.uid != wanted.uid || have.gid != wanted.gid {
			errs = append(errs, fmt.Errorf("%s is %s, want %s", path, have, wanted))
		}
	}
	return errors.Join(errs...)
}

// sameContract reports whether two statuses belong to one contract. A run records the path where it has read the contract: after a
// power cut it may have found the copy that the run before kept as its last action.
func (t tree) sameContract(a, b status.Config) bool {
	there := t[a.Path].content != "" && t[a.Path].content == t[b.Path].content
	a.Path = b.Path
	return there && a == b
}

// told checks that each run that ended has an event, and that no run has more than one.
func (t tree) told(want tree, runs, eventless int) error {
	var errs []error
	events, wantedEvents := t.events(), want.events()
	if len(events) < len(wantedEvents)-eventless || len(events) > len(wantedEvents)+runs-1 {
		errs = append(errs, fmt.Errorf("%d events after %d runs, want at least %d", len(events), runs, len(wantedEvents)))
	}
	for _, path := range events {
		if !json.Valid([]byte(t[path].content)) || t[path].mode != want[wantedEvents[0]].mode {
			errs = append(errs, fmt.Errorf("event %s is %s", path, t[path]))
		}
	}
	return errors.Join(errs...)
}

func (t tree) events() []string {
	var events []string
	for path := range t {
		if strings.HasPrefix(path, eventsDir+"/") {
			events = append(events, path)
		}
	}
	return events
}

// claim is what a waiting program would read: that the run succeeded, and the digest of its contract, of which a result has only
// the first characters. It returns an error if the program would read anything but a complete result.
func (t tree) claim(digests ...string) (digest string, err error) {
	if t[markerPath].mode == 0 {
		return "", nil
	}
	result, err := status.ParseCSE([]byte(t[resultPath].content))
	if err != nil {
		return "", fmt.Errorf("the marker is there, and the result is not: %w", err)
	}
	if code, err := result.Code(); err != nil || code != 0 {
		return "", err
	}
	for _, digest := range digests {
		if strings.Contains(result.Output, digest[:12]) {
			return digest, nil
		}
	}
	return "", fmt.Errorf("success with an unknown contract is published: %s", result.Output)
}

// digest is the digest of the status's contract. It is empty if there is no status.
func (t tree) digest() string {
	last, err := status.Parse([]byte(t[statusPath].content))
	if err != nil {
		return ""
	}
	return last.Config.Digest
}

// machine is the state of units and the kernel according to the record of actions.
type machine struct {
	active  map[string]bool
	values  map[string]string
	modules map[string]bool
}

func (t tree) machine() (machine, error) {
	m := machine{map[string]bool{}, map[string]string{}, map[string]bool{}}
	for line := range bytes.Lines([]byte(t[actionsPath].content)) {
		var a struct{ Action, Unit, Key, Value, Module string }
		if err := json.Unmarshal(line, &a); err != nil {
			return m, fmt.Errorf("the record of actions has %q: %w", line, err)
		}
		switch a.Action {
		case "start", "restart":
			m.active[a.Unit] = true
		case "stop":
			delete(m.active, a.Unit)
		case "sysctl":
			m.values[a.Key] = a.Value
		case "module":
			m.modules[a.Module] = true
		}
	}
	return m, nil
}

// sameMachine checks that units and the kernel are the same.
func (t tree) sameMachine(want tree) error {
	got, err := t.machine()
	wanted, wantErr := want.machine()
	if err := errors.Join(err, wantErr); err != nil {
		return err
	}
	if !maps.Equal(got.active, wanted.active) || !maps.Equal(got.values, wanted.values) || !maps.Equal(got.modules, wanted.modules) {
		return fmt.Errorf("units and kernel are %v, want %v", got, wanted)
	}
	return nil
}
