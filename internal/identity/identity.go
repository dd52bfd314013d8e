// Package identity says which machine this is, and what on its disk is another machine's and must go: a disk can be
// copied, with all that is on it, and a machine can lose its address.
//
// It keeps the record of the machine that was provisioned, removes what a kubelet has made for itself on another one,
// and keeps the contract. It does not look for a contract, makes no plan, and takes no lock: what it removes or writes,
// it does for a caller that holds it. internal/agent calls it.
package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// Host is what the package needs of the machine.
type Host interface {
	Stat(path string) (apply.Entry, error)
	ReadFile(path string, limit int64) ([]byte, error)
	ReadDir(path string) ([]string, error)
	WriteFileAtomic(file *resource.File) error
	Unstage(path string) error
	Remove(path string) error
	Sync() error
}

// Record is which machine was provisioned, and from where.
type Record struct {
	// MachineID is systemd's name for the installation, ProductUUID the firmware's for the machine.
	MachineID   string `json:"machineID,omitempty"`
	ProductUUID string `json:"productUUID,omitempty"`
	// Instance is what the cloud said of the machine, with the contract.
	Instance *facts.Instance `json:"instance,omitempty"`
	// Source is the place that the contract was found in, and Sum what it was; Kept is where the agent has
	// put a copy, empty where the contract is in a place of its own.
	Source string `json:"source,omitempty"`
	Sum    string `json:"sum,omitempty"`
	Kept   string `json:"kept,omitempty"`
	// Unproven says that this machine has not been provisioned yet, on a disk that has been another's: of that
	// one is Sum, the contract.
	Unproven bool `json:"unproven,omitempty"`
	// Reported says that the cloud has been told that the machine is provisioned.
	Reported bool `json:"reported,omitempty"`
}

// known reports whether the machine can be told from others at all; a directory cannot.
func (r *Record) known() bool { return r.MachineID != "" || r.ProductUUID != "" }

// other reports how another machine than the one that was provisioned is known, "" where it is the same. The
// firmware's name decides where both have one: a machine keeps it for life, and a copy in a cloud never has
// it. systemd's is copied with the disk unless an image is cleaned, and some images make a new one at every
// boot (machine-id(5), "transient").
func (r *Record) other(now *Record) string {
	switch {
	case r.ProductUUID != "" && now.ProductUUID != "":
		if r.ProductUUID != now.ProductUUID {
			return "the firmware's UUID is another"
		}
	case r.MachineID != "" && now.MachineID != "":
		if r.MachineID != now.MachineID {
			return "the machine ID is another"
		}
	}
	if r.Instance != nil && now.Instance != nil && r.Instance.Platform == now.Instance.Platform &&
		r.Instance.ID != "" && now.Instance.ID != "" && r.Instance.ID != now.Instance.ID {
		return "the instance ID is another"
	}
	return ""
}

// Read reads the record, nil where there is none.
func Read(host Host) (*Record, error) {
	data, err := state.Identity.Read(host)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	last := new(Record)
	if err := json.Unmarshal(data, last); err != nil {
		return nil, fmt.Errorf("%s: %w", state.Identity.Path, err)
	}
	return last, nil
}

func (r *Record) write(host Host) error {
	return state.Identity.WriteJSON(host, r)
}

// Machine is which machine this is, as far as that is known.
type Machine struct {
	// Facts are those that a plan is made from.
	Facts facts.Facts
	// Last is the record of this same machine, Foreign that of the machine which had the disk, or the address, before.
	// A machine that has lost its address has both, and they are the same.
	Last, Foreign *Record
	// self is what is to be recorded of this one.
	self Record
}

// Recall returns the machine of the facts with what is recorded of it. The machine can be used where the record cannot
// be read: it is taken for the same then.
func Recall(host Host, known facts.Facts) (Machine, error) {
	m := Machine{Facts: known, self: Record{MachineID: known.MachineID, ProductUUID: known.DMI.ProductUUID}}
	last, err := Read(host)
	if last != nil {
		m.Last, m.self.Instance = last, last.Instance
	}
	return m, err
}

// Recognize returns the machine by a record that is on its disk, and how it is another one than that is of, "" where
// it is the same. attached is what a disk or the firmware says of it, nil for nothing.
func (m Machine) Recognize(record *Record, attached *facts.Instance) (Machine, string) {
	now := m.self
	now.Instance = attached
	reason := record.other(&now)
	switch {
	case reason != "":
		m.Last, m.Foreign, m.self.Instance = nil, record, nil
	case record.Unproven: // it has not been provisioned yet, and has another's disk still
		m.Last, m.Foreign = nil, record
	default:
		m.Last, m.Foreign = record, nil
	}
	return m, reason
}

// Described returns the machine with what the place of its contract says of it; the zero value says nothing. What was
// known of its tags counts where that place knows none.
func (m Machine) Described(instance facts.Instance) Machine {
	if !instance.IsZero() {
		if m.self.Instance != nil {
			instance.Tags = instance.After(m.self.Instance.Tags)
		}
		m.self.Instance = &instance
	}
	m.Facts.Instance = m.self.Instance
	return m
}

// Told returns the machine with what its metadata service says of it, for this run's plan. Of that only the tags are
// recorded: by the rest, as the place of its contract has it, the machine is known again.
func (m Machine) Told(said facts.Instance) Machine {
	self := facts.Instance{Platform: said.Platform}
	if m.self.Instance != nil {
		self = *m.self.Instance
	}
	self.Tags = said.After(self.Tags)
	said.Tags = self.Tags
	m.self.Instance, m.Facts.Instance = &self, &said
	return m
}

// Readdressed reports whether an address is not what it was. One of a family that the machine has no address of yet
// may still come.
func Readdressed(before, now []string) bool {
	for _, old := range before {
		sameFamily := func(a string) bool { return strings.Contains(a, ":") == strings.Contains(old, ":") }
		if slices.ContainsFunc(now, sameFamily) && !slices.Contains(now, old) {
			return true
		}
	}
	return false
}
