package publish

import (
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/state"
)

// destination is where a result is published.
type destination struct {
	// family is the node family whose paths these are. It may be nil.
	family *profile.Profile
	// result is the CSEStatus document.
	result state.File
	// complete is the marker that a provisioning has ended, successfully or not. It appears after the result.
	complete string
	// baseComplete is the marker if only an image was prepared.
	baseComplete string
}

func destinationOf(family *profile.Profile) destination {
	p := &family.Publication
	return destination{family, state.ResultAt(p.Result), p.Complete, p.BaseComplete}
}

// events is the directory for events that other programs collect. Its path may be empty.
func (p destination) events() profile.Events {
	if p.family == nil {
		return profile.Events{}
	}
	return p.family.Publication.Events
}

// runPlace is where a result is published that cannot be written at its usual path: if the disk is full or read-only,
// the last result must not be taken for this one. provision-wait looks there first.
var runPlace = destination{result: state.RunResult, complete: state.RunDir + "/provision.complete"}

// places are all destinations of a result, in the order of looking.
var places = func() []destination {
	all := []destination{runPlace}
	for _, family := range profile.All() {
		all = append(all, destinationOf(family))
	}
	return all
}()

// markers are the markers that a program may wait for.
var markers = func() (paths []string) {
	for _, p := range places {
		paths = append(paths, p.complete)
	}
	return paths
}()

// Target determines where a result is published, and the exit code of a failure there.
type Target struct {
	// Called is the name that the agent is called by, which may be that of a node family.
	Called string
	// Dialect is the contract's. It is empty if no contract could be read. Contract is its path.
	Dialect, Contract string
	// BaseOnly reports that only an image was prepared: the node does not join.
	BaseOnly bool
	// Script reports that a script does the work. It may publish the result itself, as AKS's scripts do.
	Script bool
}

func (t Target) destination() destination {
	return destinationOf(profile.Publisher(t.Dialect, t.Called, t.Contract))
}

// marker is the path of the marker that the run has ended.
func (t Target) marker() string {
	if t.BaseOnly {
		return t.destination().baseComplete
	}
	return t.destination().complete
}

// Code is the exit code with which a failure is published and returned: the number that the agent's callers and readers
// know.
func (t Target) Code(code int) int { return codeAt(code, t.Called, t.destination()) }

func codeAt(code int, called string, at destination) int {
	code = profile.OfProgram(called).Publication.Code(code)
	if at.family != nil {
		code = at.family.Publication.Code(code)
	}
	return code
}
