package publish

import (
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/state"
)

// destination is where a result is published.
type destination struct {
	// family is the one of nodes whose place it is; nil for nobody's.
	family *profile.Profile
	// result is the CSEStatus document.
	result state.File
	// complete marks that a provisioning has ended, well or not; it appears after the result.
	complete string
	// baseComplete takes its place where only an image was prepared.
	baseComplete string
}

func destinationOf(family *profile.Profile) destination {
	p := &family.Publication
	return destination{family, state.ResultAt(p.Result), p.Complete, p.BaseComplete}
}

// events is where events go that others collect; its directory is empty for nowhere.
func (p destination) events() profile.Events {
	if p.family == nil {
		return profile.Events{}
	}
	return p.family.Publication.Events
}

// runPlace is where a result is published that cannot be written where it belongs: with the disk full, or read-only,
// the last result must not go on being taken for this one. provision-wait looks there first.
var runPlace = destination{result: state.RunResult, complete: state.RunDir + "/provision.complete"}

// places are all places of a result, in the order in which one is looked for.
var places = func() []destination {
	all := []destination{runPlace}
	for _, family := range profile.All() {
		all = append(all, destinationOf(family))
	}
	return all
}()

// markers are those that somebody may wait for.
var markers = func() (paths []string) {
	for _, p := range places {
		paths = append(paths, p.complete)
	}
	return paths
}()

// Target is whose result it is, and so where it is published and by which code a failure is known there.
type Target struct {
	// Called is the name that the agent is called by, which may be that of a family of nodes.
	Called string
	// Dialect is the contract's, empty where none could be read, and Contract is where it is.
	Dialect, Contract string
	// BaseOnly says that only an image was prepared: the node does not join.
	BaseOnly bool
	// Script says that a script does the work, which may publish the result itself, as AKS's scripts do.
	Script bool
}

func (t Target) destination() destination {
	return destinationOf(profile.Publisher(t.Dialect, t.Called, t.Contract))
}

// marker is what says that the run has ended.
func (t Target) marker() string {
	if t.BaseOnly {
		return t.destination().baseComplete
	}
	return t.destination().complete
}

// Code is the exit code under which a failure is published and returned: the number that those know who have
// called the agent, and who look there.
func (t Target) Code(code int) int { return codeAt(code, t.Called, t.destination()) }

func codeAt(code int, called string, at destination) int {
	code = profile.OfProgram(called).Publication.Code(code)
	if at.family != nil {
		code = at.family.Publication.Code(code)
	}
	return code
}
