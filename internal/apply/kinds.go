package apply

import (
	"context"

	"github.com/slipway-dev/slipway/internal/resource"
)

// diskKind is how the engine treats a kind of resource that is on the disk. All of these are compared first, and staged
// and brought into place together (stage.go).
type diskKind struct {
	// compare reports what has to be done for it to be as planned, or nothing.
	compare func(*run, resource.Spec) (Action, error)
	// stale reports what has to be done where a plan has it no more. Where something else has taken its place it is
	// somebody else's, and left alone.
	stale func(*run, resource.Spec) (Action, error)
	// found is what the machine has in its place, as [Found] returns it; nil for a kind that cannot be read back.
	found func(Host, resource.Spec) (resource.Spec, bool)
}

// diskKinds are those kinds, by name.
var diskKinds = map[string]diskKind{
	"Block":     {compare: of((*run).compareBlock), stale: of((*run).staleBlock)},
	"Copy":      {compare: of((*run).compareCopy), stale: of((*run).staleCopy), found: foundCopy},
	"Directory": {compare: of((*run).compareDirectory), stale: leftToPrune, found: foundDirectory},
	"File":      {compare: of((*run).compareFile), stale: staleFile, found: foundFile},
	"Symlink":   {compare: of((*run).compareSymlink), stale: staleFile, found: foundSymlink},
}

// liveKind is how the engine treats a kind of resource that is a state of the machine and not of its disk. They are
// compared and brought about one by one, in the order of their requirements (actions.go).
type liveKind struct {
	// compare reports what a resource needs, or nothing.
	compare func(*run, context.Context, *node) (Action, error)
	// bring does that.
	bring func(*run, context.Context, *node, Action) error
	// undo reports what a resource needs that a plan has no more; bring does that, too. It is nil where nothing is undone.
	undo func(*run, context.Context, *node) (Action, error)
	// found is what the machine has in its place, as [Found] returns it; nil for a kind that cannot be read back.
	found func(Host, resource.Spec) (resource.Spec, bool)
}

// liveKinds are those kinds, by name. A mount and a
// component come before what is on the disk (storage.go, download.go).
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

// of makes a function of one kind of resource one of any.
func of[S resource.Spec](f func(*run, S) (Action, error)) func(*run, resource.Spec) (Action, error) {
	return func(r *run, spec resource.Spec) (Action, error) { return f(r, spec.(S)) }
}
