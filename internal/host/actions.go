package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/internal/state"
)

// The kinds of action, and what each is about.
const (
	actionReload  = string(failpoint.Reload)
	actionStart   = "start"                   // a unit
	actionRestart = "restart"                 // a unit
	actionStop    = "stop"                    // a unit
	actionSysctl  = string(failpoint.Sysctl)  // a key and a value
	actionModule  = string(failpoint.Module)  // a module
	actionCommand = string(failpoint.Command) // a label and arguments

	actionReloadUnit = "reload"                    // a unit
	actionMask       = string(failpoint.Mask)      // a unit
	actionUnmask     = string(failpoint.Unmask)    // a unit
	actionEnable     = string(failpoint.Enable)    // a unit
	actionDisable    = string(failpoint.Disable)   // a unit
	actionAttribute  = string(failpoint.Attribute) // a path and a value
	actionMount      = string(failpoint.Mount)     // a directory that is mounted at, and what is
	actionUnmount    = string(failpoint.Unmount)   // a directory that was mounted at
	actionSwapOn     = string(failpoint.SwapOn)    // a path and a size
	actionSwapOff    = string(failpoint.SwapOff)   // a path
	actionDownload   = string(failpoint.Download)  // a label, and places
	actionPull       = string(failpoint.Pull)      // an image
)

// actionsPath is the file of actions.
var actionsPath = state.Actions.Path

// action is something done to a machine that a directory only takes note of. Its JSON form is the
// same for the same action: no times, no counters.
type action struct {
	Action string   `json:"action"`
	Unit   string   `json:"unit,omitempty"`
	Key    string   `json:"key,omitempty"`
	Value  *string  `json:"value,omitempty"`
	Module string   `json:"module,omitempty"`
	Label  string   `json:"label,omitempty"`
	Argv   []string `json:"argv,omitempty"`
	// Env are the names of the variables that a command is given besides those of all commands; their values may be
	// secret.
	Env []string `json:"env,omitempty"`
}

// check wants an action that says what it is about, and nothing else.
func (a action) check() error {
	want := action{Action: a.Action}
	ok := true
	switch a.Action {
	case actionReload:
	case actionStart, actionRestart, actionStop, actionReloadUnit, actionMask, actionUnmask, actionEnable, actionDisable:
		want.Unit, ok = a.Unit, a.Unit != ""
	case actionUnmount, actionSwapOff, actionPull:
		want.Key, ok = a.Key, a.Key != ""
	case actionSysctl, actionAttribute, actionMount, actionSwapOn:
		want.Key, want.Value, ok = a.Key, a.Value, a.Key != "" && a.Value != nil
	case actionModule:
		want.Module, ok = a.Module, a.Module != ""
	case actionDownload:
		want.Label, want.Argv, ok = a.Label, a.Argv, a.Label != "" && len(a.Argv) > 0
	case actionCommand:
		want.Label, want.Argv, want.Env, ok = a.Label, a.Argv, a.Env, len(a.Argv) > 0
	default:
		return fmt.Errorf("action %q is unknown", a.Action)
	}
	if !ok {
		return fmt.Errorf("action %q names no target", a.Action)
	}
	if a.Unit != want.Unit || a.Key != want.Key || a.Value != want.Value || a.Module != want.Module ||
		a.Label != want.Label || len(a.Argv) != len(want.Argv) {
		return fmt.Errorf("action %q has fields of another action", a.Action)
	}
	return nil
}

// line is the action as it is recorded.
func (a action) line() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(a)
	return buf.Bytes(), err
}

// parseActions reads what was recorded, after so many lines before it; name is the file's, for the error that names its line.
func parseActions(name string, before int, data []byte) ([]action, error) {
	var actions []action
	for line := range bytes.Lines(data) {
		a, err := parseAction(line)
		if err != nil {
			return nil, fmt.Errorf("%s line %d is damaged: %w", name, before+len(actions)+1, err)
		}
		actions = append(actions, a)
	}
	return actions, nil
}

func parseAction(line []byte) (action, error) {
	var a action
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	if !whole {
		return a, io.ErrUnexpectedEOF
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return a, errors.New("more than one value")
	}
	return a, a.check()
}

// subject is the name of what an action is about. One module has two spellings.
func (a action) subject() string {
	return a.Unit + a.Key + strings.ReplaceAll(a.Module, "-", "_") + a.Label
}

// history is what was recorded in a tree, as far as it was read. Each question reads only what this or another process
// has added since the last one, so the time that a plan takes grows with its size and not with its square.
type history struct {
	mu    sync.Mutex
	read  rootfs.Lines
	lines int                 // the number of lines read
	about map[string][]action // by subject, in the order of the file
}

// about returns what was recorded about a subject, in order.
func (d *Directory) about(subject string) ([]action, error) {
	d.history.mu.Lock()
	defer d.history.mu.Unlock()
	err := d.history.catchUp(d.Tree)
	return d.history.about[subject], err
}

// units returns the names of all units that something was recorded about, sorted.
func (d *Directory) units() ([]string, error) {
	d.history.mu.Lock()
	defer d.history.mu.Unlock()
	err := d.history.catchUp(d.Tree)
	var units []string
	for subject, actions := range d.history.about {
		if slices.ContainsFunc(actions, func(a action) bool { return a.Unit != "" }) {
			units = append(units, subject)
		}
	}
	slices.Sort(units)
	return units, err
}

// catchUp reads what was added to the file. After an error nothing counts as read.
func (h *history) catchUp(tree *rootfs.Tree) error {
	lines, first, err := tree.ReadLines(actionsPath, state.Actions.Limit, &h.read)
	if first {
		h.lines, h.about = 0, map[string][]action{}
	}
	var actions []action
	if err == nil {
		actions, err = parseActions(tree.Root()+actionsPath, h.lines, lines)
	}
	if err != nil {
		h.read, h.lines, h.about = rootfs.Lines{}, 0, nil
		return err
	}
	h.lines += len(actions)
	for _, a := range actions {
		h.about[a.subject()] = append(h.about[a.subject()], a)
	}
	return nil
}

// record appends an action. What is not yet recorded has not been done.
func (d *Directory) record(a action) error {
	d.history.mu.Lock()
	defer d.history.mu.Unlock()
	c := failpoint.Change{Kind: failpoint.Kind(a.Action), Root: d.Root(), Name: a.subject()}
	if err := failpoint.Pass(c, func() error { return d.append(a) }); err != nil {
		return rootfs.Failed("record "+a.Action+" in", actionsPath, err)
	}
	return nil
}

func (d *Directory) append(a action) error {
	if err := a.check(); err != nil {
		return err
	}
	line, err := a.line()
	if err != nil {
		return err
	}
	return d.AppendLine(actionsPath, line, state.Actions.Mode, state.Actions.Limit)
}
