package apply

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Every kind of resource has a row in one of the engine's tables, and a value in every column.
func TestEveryKind(t *testing.T) {
	for name, kind := range resource.Kinds {
		spec := kind.New()
		if spec.Kind() != name || resource.KindOf(spec).New == nil || kind.Lasts == nil {
			t.Errorf("%s: its row is not whole", name)
		}
		if kind.NotUndone != nil && kind.NotUndoneSource == "" {
			t.Errorf("%s: why it stays has no source", name)
		}
		disk, onDisk := diskKinds[name]
		live, isLive := liveKinds[name]
		if onDisk == isLive || onDisk != resource.OnDisk(spec) {
			t.Errorf("%s: has %v and %v rows in the tables of the engine, want one", name, onDisk, isLive)
		}
		if onDisk && (disk.compare == nil || disk.stale == nil) || isLive && (live.compare == nil || live.bring == nil) {
			t.Errorf("%s: the engine lacks a function", name)
		}
		// For each kind, either the engine can undo it or the kind documents why it stays.
		if undone := onDisk || live.undo != nil; undone != (kind.NotUndone == nil || name == "Command" || name == "Unit") {
			t.Errorf("%s: undone is %v, and stays is %v", name, undone, kind.NotUndone != nil)
		}
		if spec.Valid() == nil {
			t.Errorf("%s: one that says nothing is valid", name)
		}
	}
	if len(diskKinds)+len(liveKinds) != len(resource.Kinds) {
		t.Error("the engine has a kind that no plan can have")
	}
}
