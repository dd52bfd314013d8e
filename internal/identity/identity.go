// Package identity determines which machine this is, and which data on its disk is another machine's and must be
// removed: a disk can be copied with all its data, and a machine can lose its address.
//
// It keeps the record of the provisioned machine, removes what a kubelet has created on another one, and keeps the
// contract. It does not look for a contract, makes no plan, and takes no lock: its caller must hold the lock when it
// writes or removes anything. internal/agent calls it.
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

// Host is the part of the machine that the package uses.
type Host interface {
	Stat(path string) (apply.Entry, error)
	ReadFile(path string, limit int64) ([]byte, error)
	ReadDir(path string) ([]string, error)
	WriteFileAtomic(file *resource.File) error
	Unstage(path string) error
	Remove(path string) error
	Sync() error
}

// Record identifies the provisioned machine, and the source of its contract.
type Record struct {
	// MachineID is systemd's ID of the installation, ProductUUID the firmware's of the machine.
	MachineID   string `json:"machineID,omitempty"`
	ProductUUID string `json:"productUUID,omitempty"`
	// Instance is the cloud's description of the machine, which came with the contract.
	Instance *facts.Instance `json:"instance,omitempty"`
	// Source is the contract's source, and Sum its checksum. Kept is the path of the agent's copy; it is empty if the
	// contract is at its usual path.
	Source string `json:"source,omitempty"`
	Sum    string `json:"sum,omitempty"`
	Kept   string `json:"kept,omitempty"`
	// Unproven reports that this machine has not been provisioned yet, on a disk that was another's. Sum is then the
	// checksum of the other machine's contract.
	Unproven bool `json:"unproven,omitempty"`
	// Reported reports that the cloud has the report that the machine is provisioned.
	Reported bool `json:"reported,omitempty"`
}

// known reports whether the machine can be distinguished from others; a directory cannot.
func (r *Record) known() bool { return r.MachineID != "" || r.ProductUUID != "" }

// other returns how this machine differs from the provisioned one, or "" if it is the same. If both have a firmware
// UUID, that decides: a machine keeps it for life, and a copy in a cloud never has it. systemd's ID is copied with the
// disk unless an image is cleaned, and some images create a new one at every boot (machine-id(5), "transient").
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

// Read reads the record. It returns nil if there is no record.
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

// Machine is this machine's identity, as far as it is known.
type Machine struct {
	// Facts are the facts for a plan.
	Facts facts.Facts
	// Last is the record of this same machine, Foreign that of the machine that had the disk, or the address, before. A
	// machine that has lost its address has both, and they are equal.
	Last, Foreign *Record
	// self is the new record of this machine.
	self Record
}

// Recall returns the machine with these facts and its record. If the record cannot be read, the machine counts as the
// same.
func Recall(host Host, known facts.Facts) (Machine, error) {
	m := Machine{Facts: known, self: Record{MachineID: known.MachineID, ProductUUID: known.DMI.ProductUUID}}
	last, err := Read(host)
	if last != nil {
		m.Last, m.self.Instance = last, last.Instance
	}
	return m, err
}

// Recognize returns the machine with the record on its disk, and how it differs from the recorded one, or "" if it is
// the same. attached is the description on a disk or in the firmware, or nil.
func (m Machine) Recognize(record *Record, attached *facts.Instance) (Machine, string) {
	now := m.self
	now.Instance = attached
	reason := record.other(&now)
	switch {
	case reason != "":
		m.Last, m.Foreign, m.self.Instance = nil, record, nil
	case record.Unproven: // it has not been provisioned yet, and still has the other machine's disk
		m.Last, m.Foreign = nil, record
	default:
		m.Last, m.Foreign = record, nil
	}
	return m, reason
}

// Described returns the machine with the description that came with its contract. A zero value changes nothing. If it
// has no tags, the known ones stay.
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

// Told returns the machine with its metadata service's description, for this run's plan. Only the tags of it are
// recorded, because the machine is recognized by the description that came with its contract.
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

// Readdressed reports whether an address has changed. An address of a family that the machine has no address of yet may
// still come.
func Readdressed(before, now []string) bool {
	for _, old := range before {
		sameFamily := func(a string) bool { return strings.Contains(a, ":") == strings.Contains(old, ":") }
		if slices.ContainsFunc(now, sameFamily) && !slices.Contains(now, old) {
			return true
		}
	}
	return false
}
