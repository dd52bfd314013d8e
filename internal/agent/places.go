package agent

import (
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/state"
)

// Where the status of the last provisioning is, whatever the dialect, and the facts that its plan was made from.
var (
	StatusPath = state.Status.Path
	FactsPath  = state.Facts.Path
)

// place is where a result is published.
type place struct {
	// family is the one of nodes whose place it is; nil for nobody's.
	family *profile.Profile
	// result is the CSEStatus document.
	result state.File
	// complete marks that a provisioning has ended, well or not; it appears after the result.
	complete string
	// baseComplete takes its place where only an image was prepared.
	baseComplete string
}

func placeOf(family *profile.Profile) place {
	p := &family.Publication
	return place{family, state.ResultAt(p.Result), p.Complete, p.BaseComplete}
}

// events is where events go that others collect; its directory is empty for nowhere.
func (p place) events() profile.Events {
	if p.family == nil {
		return profile.Events{}
	}
	return p.family.Publication.Events
}

// runPlace is where a result is published that cannot be written where it belongs: with the disk full, or read-only,
// the last result must not go on being taken for this one. provision-wait looks there first.
var runPlace = place{result: state.RunResult, complete: state.RunDir + "/provision.complete"}

// places are all places of a result, in the order in which one is looked for.
var places = func() []place {
	all := []place{runPlace}
	for _, family := range profile.All() {
		all = append(all, placeOf(family))
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
