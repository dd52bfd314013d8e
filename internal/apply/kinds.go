package apply

import (
	"context"

	"github.com/slipway-dev/slipway/internal/resource"
)

// diskKind is how the engine treats a kind of resource on the disk. All of these are compared first, and staged and
// committed together (stage.go).
type diskKind struct {
	// compare returns what must be done so that it is as planned, or "".
	compare func(*run, resource.Spec) (Action, error)
	// stale returns what must be done if the plan does not have it any more. If something else is at its path, that
	// belongs to another program and stays.
	stale func(*run, resource.Spec) (Action, error)
	// found returns what the machine has at its path, as [Found] does. It is nil for a kind that cannot be read back.
	found func(Host, resource.Spec) (resource.Spec, bool)
}

// diskKinds are the kinds on the disk, by name.
var diskKinds = map[string]diskKind{
	"Block":     {compare: of((*run).compareBlock), stale: of((*run).staleBlock)},
	"Copy":      {compare: of((*run).compareCopy), stale: of((*run).staleCopy), found: foundCopy},
	"Directory": {compare: of((*run).compareDirectory), stale: leftToPrune, found: foundDirectory},
	"File":      {compare: of((*run).compareFile), stale: staleFile, found: foundFile},
	"Symlink":   {compare: of((*run).compareSymlink), stale: staleFile, found: foundSymlink},
}

// liveKind is how the engine treats a kind of resource that is a state of the machine and not of its disk. They are
// compared and applied one by one, in the order of their requirements (actions.go).
type liveKind struct {
	// compare returns the action that a resource needs, or "".
	compare func(*run, context.Context, *node) (Action, error)
	// bring performs the action.
	bring func(*run, context.Context, *node, Action) error
	// undo returns the action for a resource that the plan does not have any more; bring performs it. It is nil if
	// nothing is undone.
	undo func(*run, context.Context, *node) (Action, error)
	// found returns what the machine has in its place, as [Found] does. It is nil for a kind that cannot be read back.
	found func(Host, resource.Spec) (resource.Spec, bool)
}

// liveKinds are the kinds of machine state, by name. A mount and a component come before the disk's resources
// (storage.go, download.go).
var liveKinds = map[string]liveKind{
	"Attribute":          {compare: compareAttribute, bring: bringAttribute},
	"Certificate":        {compare: compareCertificate, bring: bringCertificate},
	"Check":              {compare: unasked, bring: bringCheck},
	"Command":            {compare: compareCommand, bring: bringCommand, undo: compareCommand},
	"Download":           {compare: compareDownload, bring: bringDownload},
	"Image":              {compare: compareImage, bring: bringImage},
	"Module":             {compare: compareModule, bring: bringModule},
	"Mount":              {compare: compareMount, bring: bringMount, undo: undoMount},
	"ServingCertificate": {compare: compareServingCertificate, bring: bringServingCertificate},
	"Swap":               {compare: compareSwap, bring: bringSwap, undo: undoSwap},
	"Sysctl":             {compare: compareSysctl, bring: bringSysctl, found: foundSysctl},
	"TrustStore":         {compare: compareTrustStore, bring: bringTrustStore, undo: undoTrustStore},
	"Unit":               {compare: compareUnit, bring: bringUnit, undo: undoUnit},
	"UnitState":          {compare: compareUnitState, bring: bringUnitState, undo: undoUnitState},
}

// of converts a function of one kind of resource to a function of any kind.
func of[S resource.Spec](f func(*run, S) (Action, error)) func(*run, resource.Spec) (Action, error) {
	return func(r *run, spec resource.Spec) (Action, error) { return f(r, spec.(S)) }
}
