package scenario

import (
	"context"
	"fmt"
	"strings"
)

// unit is a unit's state in the machine.
type unit struct {
	// active is systemd's ActiveState.
	active string
	// invocation differs after each start of the unit.
	invocation string
}

// unitState asks systemd for a unit's state.
func (r *caseRun) unitState(ctx context.Context, name string) (unit, error) {
	out, err := r.vm.Shell.Output(ctx, "systemctl show -p ActiveState -p InvocationID "+name)
	if err != nil {
		return unit{}, err
	}
	return parseUnit(out), nil
}

// parseUnit parses the output of "systemctl show".
func parseUnit(text string) unit {
	var u unit
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "ActiveState":
			u.active = value
		case "InvocationID":
			u.invocation = value
		}
	}
	return u
}

type noteArgs struct {
	Units []string `yaml:"units"`
}

// note records the units' invocations, for a later units step.
func (r *caseRun) note(ctx context.Context, args noteArgs) error {
	r.units = make(map[string]unit)
	for _, name := range args.Units {
		u, err := r.unitState(ctx, name)
		if err != nil {
			return err
		}
		r.units[name] = u
	}
	return nil
}

// unitsArgs are the required states of units.
type unitsArgs struct {
	Active   []string `yaml:"active"`
	Inactive []string `yaml:"inactive"`
	// Kept are units that have run without a restart since the note step; Restarted are units that
	// run after a restart.
	Kept      []string `yaml:"kept"`
	Restarted []string `yaml:"restarted"`
}

// checkUnits compares the units, and reports all differences at once.
func (r *caseRun) checkUnits(ctx context.Context, args unitsArgs) error {
	var wrong []string
	check := func(names []string, differs func(was, is unit) bool, want string) error {
		for _, name := range names {
			is, err := r.unitState(ctx, name)
			if err != nil {
				return err
			}
			if was := r.units[name]; differs(was, is) {
				wrong = append(wrong, fmt.Sprintf("%s is %s (invocation %q, noted %q), want %s", name, is.active, is.invocation, was.invocation, want))
			}
		}
		return nil
	}
	for _, c := range []struct {
		names   []string
		differs func(was, is unit) bool
		want    string
	}{
		{args.Active, func(_, is unit) bool { return is.active != "active" }, "active"},
		{args.Inactive, func(_, is unit) bool { return is.active != "inactive" }, "inactive"},
		{args.Kept, func(was, is unit) bool { return is.active != "active" || is.invocation != was.invocation }, "kept"},
		{args.Restarted, func(was, is unit) bool {
			return is.active != "active" || was.invocation == "" || is.invocation == was.invocation
		}, "restarted"},
	} {
		if err := check(c.names, c.differs, c.want); err != nil {
			return err
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("units differ: %s", strings.Join(wrong, "; "))
	}
	return nil
}
