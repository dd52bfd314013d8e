package identity_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// Two runs at once may both begin before there is a record. The later one finds the copy of the contract that the other
// has kept, and uses the other's record of its source.
func TestLaterRunKeepsTheRecord(t *testing.T) {
	dir, err := host.OpenDirectory(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	known := facts.Facts{MachineID: "m1"}
	known.DMI.ProductUUID = "u1"
	recall := func() identity.Machine {
		machine, err := identity.Recall(dir, known)
		if err != nil {
			t.Fatal(err)
		}
		return machine
	}
	read := func() string {
		content, err := state.Identity.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	first, second := recall(), recall()
	found := source.Contract{Path: "http://169.254.169.254/user-data", Data: []byte("kind: NodeConfig\n"), Source: "nocloud-net",
		Instance: facts.Instance{Platform: "nocloud", ID: "i-1"}}
	first.Described(found.Instance).Remember(dir, log, found, dialect.Native, false)
	want := read()
	kept, err := source.File(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	second.Remember(dir, log, kept, dialect.Native, false)
	if got := read(); got != want {
		t.Errorf("the record is %s, want %s", got, want)
	}

	// Another contract at that path is the user's.
	kept.Data = []byte("kind: NodeConfig\nmetadata: {name: a}\n")
	second.Remember(dir, log, kept, dialect.Native, false)
	if read() == want {
		t.Error("another contract is taken for the copy")
	}
}
