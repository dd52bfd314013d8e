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

// field is a set of an action's fields.
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

// actionFields has the required and the optional fields of each action.
var actionFields = map[string]struct{ must, may field }{}

// records declares an action with its fields. The file with the methods of a resource kind declares that kind's
// actions.
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

// action is a change of a machine that a directory only records. The JSON form of equal actions is equal: no times, no
// counters.
type action struct {
	Action string   `json:"action"`
	Unit   string   `json:"unit,omitempty"`
	Key    string   `json:"key,omitempty"`
	Value  *string  `json:"value,omitempty"`
	Module string   `json:"module,omitempty"`
	Label  string   `json:"label,omitempty"`
	Argv   []string `json:"argv,omitempty"`
	// Env are the names of the variables that a command gets in addition to those of all commands. Their values may be
	// secret.
	Env []string `json:"env,omitempty"`
}

// fields are the fields that are set.
func (a action) fields() (set field) {
	for i, is := range []bool{a.Unit != "", a.Key != "", a.Value != nil, a.Module != "", a.Label != "", len(a.Argv) > 0, len(a.Env) > 0} {
		if is {
			set |= unitField << i
		}
	}
	return set
}

// check requires an action with its fields and no others.
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

// line is the recorded form of the action.
func (a action) line() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(a)
	return buf.Bytes(), err
}

// parseActions reads recorded actions. before is the number of earlier lines and name is the file's name, for errors.
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

// subject is the name of an action's object. One module has two spellings.
func (a action) subject() string {
	return a.Unit + a.Key + strings.ReplaceAll(a.Module, "-", "_") + a.Label
}

// history is the part of a tree's record that has been read. Each question reads only what this or another process has
// added since the last one, so a plan's time grows with its size and not with its square.
type history struct {
	mu    sync.Mutex
	read  rootfs.Lines
	lines int                 // the number of lines read
	about map[string][]action // by subject, in the order of the file
}

// about returns the recorded actions of a subject, in order.
func (d *Directory) about(subject string) ([]action, error) {
	d.history.mu.Lock()
	defer d.history.mu.Unlock()
	err := d.history.catchUp(d.Tree)
	return d.history.about[subject], err
}

// did reports whether an action was recorded, with the same arguments if it has any.
func (d *Directory) did(a action) (bool, error) {
	actions, err := d.about(a.subject())
	return slices.ContainsFunc(actions, func(done action) bool { return done.Action == a.Action && slices.Equal(done.Argv, a.Argv) }), err
}

// units returns the names of all units with a recorded action, sorted.
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

// catchUp reads what was added to the file. After an error it reads all of that again.
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

// record appends an action. Until it is recorded, it is not done.
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
