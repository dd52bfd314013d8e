package hosttest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/systemd"
)

// Bus is a connection to a fake systemd that a test controls.
type Bus struct {
	mu    sync.Mutex
	calls []string
	// Units are the properties of each unit by its name, of all interfaces together; those of systemd itself are under "manager".
	Units map[string]map[string]any
	// OnJob, if not nil, returns the result of a job; "" leaves it without a result.
	OnJob func(method, unit string) (string, error)
	// OnRun, if not nil, runs commands and returns the job's result; otherwise they all succeed.
	OnRun   func(commands [][]string) string
	results []chan<- string // of the jobs
	closed  int
	// Gone is closed to end the connection.
	Gone chan struct{}
	// Err is the error of every call.
	Err error
}

// NewBus returns a connection to a systemd without units, whose jobs all succeed at once.
func NewBus() *Bus {
	return &Bus{Units: map[string]map[string]any{}, Gone: make(chan struct{})}
}

func (f *Bus) note(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	return f.Err
}

// Seen returns the requests so far.
func (f *Bus) Seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Enqueue implements [systemd.Bus].
func (f *Bus) Enqueue(_ context.Context, method, unit string, result chan<- string) error {
	if err := f.note(method + " " + unit); err != nil {
		return err
	}
	text, err := "done", error(nil)
	if f.OnJob != nil {
		text, err = f.OnJob(method, unit)
	}
	if err == nil && text != "" {
		result <- text
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.results = append(f.results, result)
	return err
}

// Run implements [systemd.Bus].
func (f *Bus) Run(_ context.Context, service string, commands [][]string, result chan<- string) error {
	if err := f.note("Run " + service); err != nil {
		return err
	}
	text := "done"
	if f.OnRun != nil {
		text = f.OnRun(commands)
	}
	result <- text
	return nil
}

// Finish ends the last job with a result.
func (f *Bus) Finish(result string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.results[len(f.results)-1] <- result
}

// Reload implements [systemd.Bus].
func (f *Bus) Reload(context.Context) error { return f.note("Reload") }

// UnitFile implements [systemd.Bus].
func (f *Bus) UnitFile(_ context.Context, method, unit string) error {
	return f.note(method + " " + unit)
}

// List implements [systemd.Bus].
func (f *Bus) List(ctx context.Context, states ...string) ([]systemd.Listed, error) {
	f.mu.Lock()
	names := slices.Sorted(maps.Keys(f.Units))
	f.mu.Unlock()
	var all []systemd.Listed
	for _, name := range names {
		if unit, _ := f.Unit(ctx, name); name != "manager" && (states == nil || slices.Contains(states, unit.Active)) {
			all = append(all, unit)
		}
	}
	return all, f.Err
}

// Loaded implements [systemd.Bus].
func (f *Bus) Loaded(_ context.Context, unit string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.Units[unit]; !ok && f.Err == nil {
		return systemd.ErrNoUnit
	}
	return f.Err
}

// Unit implements [systemd.Bus].
func (f *Bus) Unit(_ context.Context, unit string) (systemd.Listed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	properties, ok := f.Units[unit]
	if !ok {
		return systemd.Listed{Name: unit, Load: "not-found", Active: "inactive", Sub: "dead"}, f.Err
	}
	text := func(name string) string {
		value, _ := properties[name].(string)
		return value
	}
	listed := systemd.Listed{Name: unit, Load: text("LoadState"), Active: text("ActiveState"), Sub: text("SubState")}
	if job, ok := properties["Job"].([]any); ok {
		listed.Job, _ = job[0].(uint32)
	}
	return listed, f.Err
}

// Properties implements [systemd.Bus].
func (f *Bus) Properties(_ context.Context, object, iface string, names ...string) (map[string]any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]any{"LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead"}
	if object == systemd.ManagerObject {
		all = f.Units["manager"]
	}
	for unit, properties := range f.Units {
		if object == systemd.UnitObject(unit) {
			all = properties
		}
	}
	asked := make(map[string]any, len(names))
	for _, name := range names {
		if value, ok := all[name]; ok {
			asked[name] = value
		}
	}
	return asked, f.Err
}

// Set sets a unit's state.
func (f *Bus) Set(unit, active, sub string) {
	f.Put(unit, map[string]any{"LoadState": "loaded", "ActiveState": active, "SubState": sub})
}

// Put sets a unit's properties.
func (f *Bus) Put(unit string, properties map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Units[unit] = properties
}

// Lost implements [systemd.Bus].
func (f *Bus) Lost() <-chan struct{} { return f.Gone }

// Close implements [systemd.Bus].
func (f *Bus) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
}

// Closed returns how often it was closed.
func (f *Bus) Closed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Systemd is systemd at the other end of the given connections: each until it is gone, then the next. Its journal is unavailable.
func Systemd(conns ...systemd.Bus) *systemd.Manager {
	return Journalled(func(context.Context, systemd.JournalQuery) ([]byte, bool, error) { return nil, false, nil }, conns...)
}

// Journalled is Systemd with a journal.
func Journalled(journal systemd.Journal, conns ...systemd.Bus) *systemd.Manager {
	return systemd.New(func(context.Context) (systemd.Bus, error) {
		for ; len(conns) > 0; conns = conns[1:] {
			select {
			case <-conns[0].Lost():
			default:
				return conns[0], nil
			}
		}
		return nil, errors.New("no systemd here")
	}, journal)
}

// Record is a record of the journal as a query returns it, with its time in microseconds. A text that cannot be printed is the
// list of its bytes (journalctl(1), "json").
func Record(at int, text string) []byte {
	record := map[string]any{"__REALTIME_TIMESTAMP": strconv.Itoa(at), "MESSAGE": text}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
		numbers := make([]int, len(text))
		for i := range numbers {
			numbers[i] = int(text[i])
		}
		record["MESSAGE"] = numbers
	}
	line, err := json.Marshal(record)
	if err != nil {
		panic(err) // a map of texts and numbers
	}
	return append(line, '\n')
}
