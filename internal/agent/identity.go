package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// IdentityPath is the record of which machine was provisioned: a disk can be copied, with all that is on it.
var IdentityPath = state.Identity.Path

// identity is which machine was provisioned, and from where.
type identity struct {
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
func (i *identity) known() bool { return i.MachineID != "" || i.ProductUUID != "" }

// other reports how another machine than the one that was provisioned is known, "" where it is the same. The
// firmware's name decides where both have one: a machine keeps it for life, and a copy in a cloud never has
// it. systemd's is copied with the disk unless an image is cleaned, and some images make a new one at every
// boot (machine-id(5), "transient").
func (i *identity) other(now *identity) string {
	switch {
	case i.ProductUUID != "" && now.ProductUUID != "":
		if i.ProductUUID != now.ProductUUID {
			return "the firmware's UUID is another"
		}
	case i.MachineID != "" && now.MachineID != "":
		if i.MachineID != now.MachineID {
			return "the machine ID is another"
		}
	}
	if i.Instance != nil && now.Instance != nil && i.Instance.Platform == now.Instance.Platform &&
		i.Instance.ID != "" && now.Instance.ID != "" && i.Instance.ID != now.Instance.ID {
		return "the instance ID is another"
	}
	return ""
}

// identify gathers the facts, and finds out whether the disk has been another machine's. What a kubelet has
// made for itself there is removed, before anybody starts one; and so are the results, which are not this
// machine's.
func (p *provision) identify(ctx context.Context) error {
	last, err := p.recall()
	if err != nil {
		p.Log.Warn("cannot read the record of this machine; assuming that it is the same machine", "path", IdentityPath, "error", err)
	}
	if last == nil {
		return nil
	}
	now := p.self
	now.Instance = p.attached(ctx, last)
	reason := last.other(&now)
	if reason == "" {
		p.same(last)
		return nil
	}
	p.last, p.foreign, p.self.Instance = nil, last, nil
	if p.opts.DryRun {
		return nil
	}
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.unlock()
	if again, err := p.readIdentity(); err == nil && again != nil && again.other(&now) == "" {
		p.same(again) // another run has been quicker
		return nil
	}
	p.Log.Warn("this disk was cloned from another machine; provisioning from scratch", "reason", reason, "source", last.Source)
	p.status.Identity = reason
	return p.forget(last)
}

// same takes over the record of this machine. One that has not been provisioned yet has another's disk still.
func (p *provision) same(record *identity) {
	p.last, p.foreign = record, nil
	if record.Unproven {
		p.last, p.foreign = nil, record
	}
}

// recall gathers the facts, and reads what is recorded of the machine, nil for nothing.
func (p *provision) recall() (*identity, error) {
	begin := p.Now()
	p.known = p.gather()
	p.step(stepFacts, begin)
	p.self = identity{MachineID: p.known.MachineID, ProductUUID: p.known.DMI.ProductUUID}
	last, err := p.readIdentity()
	if last != nil {
		p.last, p.self.Instance = last, last.Instance
	}
	return last, err
}

// attached is what a disk that is attached, or the firmware, says of the machine, where the last contract came
// from there: a copy of a virtual machine can have all names of its original but the one on that disk.
func (p *provision) attached(ctx context.Context, last *identity) *facts.Instance {
	if last.Instance == nil || last.Instance.ID == "" || last.Kept == "" || !source.IsAttached(last.Source) {
		return nil
	}
	search := p.search(p.known)
	search.Only, search.Wait = last.Source, false
	found, err := search.Find(ctx)
	if err != nil {
		return nil // it has been taken away, as Azure does
	}
	return &found.Instance
}

// readIdentity reads the record, nil where there is none.
func (p *provision) readIdentity() (*identity, error) {
	data, err := state.Identity.Read(p.Host)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	last := new(identity)
	if err := json.Unmarshal(data, last); err != nil {
		return nil, fmt.Errorf("%s: %w", IdentityPath, err)
	}
	return last, nil
}

// forget removes what is another machine's: the results of its provisioning first, which are true no more, and
// its kubelet's identity. The record of this machine comes last: a run that dies before is repeated, and one that
// dies later takes nothing away from a kubelet that has joined meanwhile. The other's contract stays, as the last
// resort of a machine that has none of its own. The caller holds the lock.
func (p *provision) forget(last *identity) error {
	if err := p.retract(); err != nil {
		return err
	}
	files := append([]string{StatusPath}, plan.KubeletIdentity().Files...)
	for _, dir := range plan.KubeletIdentity().Directories {
		names, err := p.Host.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, name := range names {
			files = append(files, path.Join(dir, name))
		}
	}
	for _, file := range files {
		if err := p.Host.Remove(file); err != nil {
			return fmt.Errorf("remove what belongs to another machine: %w", err)
		}
	}
	if err := p.Host.Sync(); err != nil {
		return err
	}
	self := p.self
	self.Unproven, self.Sum = true, last.Sum
	return p.writeIdentity(&self)
}

func (p *provision) writeIdentity(record *identity) error {
	content, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	return p.writeIfOther(state.Identity, append(content, '\n'))
}

// moved reports whether the machine has lost an address that the current generation was planned with, and removes the
// certificate that the kubelet has signed for it.
func (p *provision) moved(store *generation.Store) (bool, error) {
	current, _ := store.Current()
	before := strings.Fields(current.Addresses)
	if !readdressed(before, p.known.NodeIPs) {
		return false, nil
	}
	p.Log.Warn("the machine's address has changed; planning the node again", "before", before, "now", p.known.NodeIPs)
	p.status.Identity = "the machine's address is another"
	for _, file := range plan.ServingCertificate() {
		if err := p.Host.Remove(file); err != nil {
			return true, fmt.Errorf("remove a certificate for another address: %w", err)
		}
	}
	return true, nil
}

// readdressed reports whether an address is not what it was. One of a family that the machine has no address of yet
// may still come.
func readdressed(before, now []string) bool {
	for _, old := range before {
		sameFamily := func(a string) bool { return strings.Contains(a, ":") == strings.Contains(old, ":") }
		if slices.ContainsFunc(now, sameFamily) && !slices.Contains(now, old) {
			return true
		}
	}
	return false
}

// recordIdentity records which machine was provisioned, and from where, and reports whether it is recorded.
func (p *provision) recordIdentity() bool {
	if !p.self.known() {
		return true
	}
	record := p.self
	record.Reported = p.last != nil && p.last.Reported
	if p.found.Source == source.FileSource && p.last != nil && p.last.Kept == p.found.Path && p.last.Sum == p.found.Sum() {
		record.Source, record.Sum, record.Kept = p.last.Source, p.last.Sum, p.last.Kept
	} else {
		record.Source, record.Sum, record.Kept = p.found.Source, p.found.Sum(), p.kept
	}
	err := p.writeIdentity(&record)
	if err != nil {
		p.Log.Warn("cannot record this machine; a clone of its disk will not be noticed", "path", IdentityPath, "error", err)
	}
	return err == nil
}

// keep puts a contract that was found elsewhere in its own place, where the next boot and the watcher look
// first: a settings disk is taken away, and a metadata service can be down.
func (p *provision) keep() {
	if p.kept == "" {
		return
	}
	if err := p.writeIfOther(state.File{Path: p.kept, Mode: 0o600, Limit: document.MaxBytes}, p.found.Data); err != nil {
		p.Log.Warn("cannot keep the contract; the next boot looks for it again", "path", p.kept, "error", err)
	}
}

// replaced removes the contract of another machine, in whose place there is one of this machine's own.
func (p *provision) replaced() error {
	if p.foreign == nil || p.foreign.Sum == "" {
		return nil
	}
	for _, path := range source.Paths {
		there, err := source.File(p.Host, path)
		if err != nil || there.Sum() != p.foreign.Sum || path == p.found.Path {
			continue
		}
		if err := p.Host.Remove(path); err != nil {
			return err
		}
	}
	return p.Host.Sync()
}

// remember records the machine, once it is provisioned, and keeps its contract. It is not part of what makes
// the machine a node: what fails is told, and done by the next boot. Another machine's contract goes before the
// record says that this is the one, and this machine's own comes after the record says where it is from.
func (p *provision) remember() {
	if p.opts.DryRun || p.isScript() || p.status.Outcome != status.OutcomeSuccess || p.release == nil {
		return
	}
	if p.found.Source != source.FileSource && p.found.Source != "" {
		p.kept = source.PlaceFor(p.found, p.dialect)
	}
	if err := p.replaced(); err != nil {
		p.Log.Warn("cannot remove another machine's contract; the next boot tries again", "error", err)
		return
	}
	if p.recordIdentity() {
		p.keep()
	}
}
