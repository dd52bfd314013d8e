package agent

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// Where the status of the last provisioning is, whatever the dialect, and the facts that its plan was made from.
var (
	StatusPath = state.Status.Path
	FactsPath  = state.Facts.Path
)

// place is where a result is published.
type place struct {
	// result is the CSEStatus document.
	result state.File
	// complete marks that a provisioning has ended, well or not; it appears after the result.
	complete string
	// baseComplete takes its place where only an image was prepared.
	baseComplete string
	// events is where Azure's guest agent collects events; empty for nowhere.
	events string
}

// The places, by dialect (AKS node contract, completion files and guest agent events).
var (
	aksPlace = place{
		result:       state.AKSResult,
		complete:     "/opt/azure/containers/provision.complete",
		baseComplete: "/opt/azure/containers/base_prep.complete",
		events:       "/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events",
	}
	nativePlace = place{
		result:       state.Result,
		complete:     state.Dir + "/provision.complete",
		baseComplete: state.Dir + "/base.complete",
	}
)

// runPlace is where a result is published that cannot be written where it belongs: with the disk full, or read-only,
// the last result must not go on being taken for this one. provision-wait looks there first.
var runPlace = place{result: state.RunResult, complete: state.RunDir + "/provision.complete"}

// places are all places of a result, in the order in which one is looked for.
var places = []place{runPlace, aksPlace, nativePlace}

// markers are those that somebody may wait for.
var markers = func() (paths []string) {
	for _, p := range places {
		paths = append(paths, p.complete)
	}
	return paths
}()

// placeFor chooses where a result goes: by the contract's dialect, or, where none could be read, by
// what the agent is called as and where the contract should have been.
func (a *Agent) placeFor(dialectName, path string) place {
	switch {
	case dialectName == dialect.AKS:
		return aksPlace
	case dialectName == "" && (a.AsAKS || strings.HasPrefix(path, "/opt/azure/")):
		return aksPlace
	}
	return nativePlace
}
