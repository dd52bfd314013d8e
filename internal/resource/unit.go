package resource

import (
	"fmt"
	"slices"
	"strings"
)

// Unit is a systemd unit that is active.
type Unit struct {
	Unit string `json:"unit"`
	// Stays says that it goes on running when a plan has it no more: one that may be making that very change.
	Stays bool `json:"stays,omitempty"`
	// Ahead is for a unit that the start of another one pulls in: it is started ahead of that, unless there is something in the file
	// of this path, which it makes. What comes of it is for a check to say, and the other unit's start runs it again where it has failed.
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

// UnitState is a systemd unit that must not do what it would do by itself: one of the image's, or of a package's. It is
// stopped in every state.
type UnitState struct {
	Unit  string        `json:"unit"`
	State InactiveState `json:"state"`
	// Was is what the unit was before Slipway, for the way back: "enabled", "active". A plan never says it; the record
	// of a generation does.
	Was []string `json:"was,omitempty"`
}

// InactiveState is how a unit is kept from running.
type InactiveState string

// The states, each stricter than the one before it.
const (
	UnitStopped  InactiveState = "stopped"  // it does not run now
	UnitDisabled InactiveState = "disabled" // nor does it start at boot
	UnitMasked   InactiveState = "masked"   // nor can anything start it
)

// InactiveStates are all of them.
var InactiveStates = []InactiveState{UnitStopped, UnitDisabled, UnitMasked}

// What a unit was before.
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

// withoutWas is the state without what only the record of a generation knows.
func (u *UnitState) withoutWas() *UnitState { return &UnitState{Unit: u.Unit, State: u.State} }

// ShortUnits are units by the names that people call them by.
func ShortUnits(units []string) []string {
	var short []string
	for _, u := range units {
		short = append(short, strings.TrimSuffix(u, ".service"))
	}
	return short
}
