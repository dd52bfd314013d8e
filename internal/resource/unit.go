package resource

import (
	"fmt"
	"slices"
	"strings"
)

// Unit is a systemd unit that is active.
type Unit struct {
	Unit string `json:"unit"`
	// Stays reports that it keeps running when a plan does not have it any more: it may be making that very change.
	Stays bool `json:"stays,omitempty"`
	// Ahead is for a unit that another unit's start pulls in: it is started before that, unless the file at this path,
	// which it creates, is non-empty. A check reports its outcome, and the other unit's start runs it again if it has
	// failed.
	Ahead string `json:"ahead,omitempty"`
}

// Kind implements Spec.
func (*Unit) Kind() string { return "Unit" }

// Name implements Spec.
func (u *Unit) Name() string { return u.Unit }

// Paths implements Spec.
func (*Unit) Paths() []string { return nil }

// Valid implements Spec.
func (u *Unit) Valid() error {
	if u.Ahead != "" {
		if err := checkPath(u.Ahead); err != nil {
			return fmt.Errorf("unit %s: %w", u.Unit, err)
		}
	}
	return named(u)
}

// Describe implements Spec.
func (u *Unit) Describe() Description { return Description{Title: u.Unit} }

// UnitState is a systemd unit of the image or of a package that must not do its normal work. It is stopped in every
// state.
type UnitState struct {
	Unit  string        `json:"unit"`
	State InactiveState `json:"state"`
	// Was is the unit's state before Slipway, for a rollback: "enabled", "active". Only the record of a generation has
	// it, never a plan.
	Was []string `json:"was,omitempty"`
}

// InactiveState is how a unit is kept from running.
type InactiveState string

// The states, each stricter than the one before it.
const (
	UnitStopped  InactiveState = "stopped"  // it does not run now
	UnitDisabled InactiveState = "disabled" // and it does not start at boot
	UnitMasked   InactiveState = "masked"   // and nothing can start it
)

// InactiveStates are all states.
var InactiveStates = []InactiveState{UnitStopped, UnitDisabled, UnitMasked}

// The states of a unit before Slipway.
const (
	WasEnabled = "enabled"
	WasActive  = "active"
)

// Kind implements Spec.
func (*UnitState) Kind() string { return "UnitState" }

// Name implements Spec.
func (u *UnitState) Name() string { return u.Unit }

// Paths implements Spec.
func (*UnitState) Paths() []string { return nil }

// Valid implements Spec.
func (u *UnitState) Valid() error {
	if !slices.Contains(InactiveStates, u.State) {
		return fmt.Errorf("unit %s has no state %q", u.Unit, u.State)
	}
	return named(u)
}

// Describe implements Spec.
func (u *UnitState) Describe() Description {
	return Description{Title: u.Unit, What: string(u.State)}
}

// withoutWas is the state without the part that only a generation's record has.
func (u *UnitState) withoutWas() *UnitState { return &UnitState{Unit: u.Unit, State: u.State} }

// ShortUnits are units by their short names.
func ShortUnits(units []string) []string {
	var short []string
	for _, u := range units {
		short = append(short, strings.TrimSuffix(u, ".service"))
	}
	return short
}
