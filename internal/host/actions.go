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

// field is one of the fields of an action, or several.
type field uint8

// The fields, in the order of the action's.
const (
	unitField field = 1 << iota
	keyField
	valueField
	moduleField
	labelField
	argvField
	envField
)

// actionFields are the fields of each action: those that it must have, and those that it can have.
var actionFields = map[string]struct{ must, may field }{}

// records declares an action with its fields. The file with the methods of a kind of resource declares that kind's.
func records[Name ~string](name Name, must, may field) string {
	actionFields[string(name)] = struct{ must, may field }{must, may}
	return string(name)
}

var (
	actionReload     = records(failpoint.Reload, 0, 0)
	actionStart      = records("start", unitField, 0)
	actionRestart    = records("restart", unitField, 0)
	actionStop       = records("stop", unitField, 0)
	actionReloadUnit = records("reload", unitField, 0)
	actionMask       = records(failpoint.Mask, unitField, 0)
	actionUnmask     = records(failpoint.Unmask, unitField, 0)
	actionEnable     = records(failpoint.Enable, unitField, 0)
	actionDisable    = records(failpoint.Disable, unitField, 0)
	actionSysctl     = records(failpoint.Sysctl, keyField|valueField, 0)
	actionModule     = records(failpoint.Module, moduleField, 0)
	actionCommand    = records(failpoint.Command, argvField, labelField|envField)
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

// fields are those that are set.
func (a action) fields() (set field) {
	for i, is := range []bool{a.Unit != "", a.Key != "", a.Value != nil, a.Module != "", a.Label != "", len(a.Argv) > 0, len(a.Env) > 0} {
		if is {
			set |= unitField << i
		}
	}
	return set
}

// check wants an action that says what it is about, and nothing else.
func (a action) check() error {
	want, known := actionFields[a.Action]
	switch set := a.fields(); {
	case !known:
		return fmt.Errorf("action %q is unknown", a.Action)
	case want.must&^set != 0:
		return fmt.Errorf("action %q names no target", a.Action)
	case set&^(want.must|want.may) != 0:
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

// did reports whether an action was recorded, with these arguments if it has any.
func (d *Directory) did(a action) (bool, error) {
	actions, err := d.about(a.subject())
	return slices.ContainsFunc(actions, func(done action) bool { return done.Action == a.Action && slices.Equal(done.Argv, a.Argv) }), err
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
