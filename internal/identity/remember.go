package identity

import (
	"log/slog"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
)

// Remember records the machine after its provisioning, and keeps its contract. The node does not depend on it: an error
// is only reported, and the next boot does it. Another machine's contract is removed before the record names this
// machine, and this machine's contract is written after the record has its source. A machine for an image keeps no
// copy, which the image would contain.
func (m Machine) Remember(host Host, log *slog.Logger, contract source.Contract, dialect string, image bool) {
	kept := ""
	if !image && contract.Source != source.FileSource && contract.Source != "" {
		kept = source.PlaceFor(contract, dialect)
	}
	if err := m.removeForeignContract(host, contract); err != nil {
		log.Warn("cannot remove another machine's contract; the next boot tries again", "error", err)
		return
	}
	if err := m.record(host, contract, kept); err != nil {
		log.Warn("cannot record this machine; a clone of its disk will not be noticed", "path", state.Identity.Path, "error", err)
		return
	}
	m.recordAuthorities(host, log)
	if kept == "" {
		return
	}
	if err := keep(host, contract, kept); err != nil {
		log.Warn("cannot keep the contract; the next boot looks for it again", "path", kept, "error", err)
	}
}

// record records the provisioned machine and its contract's source.
func (m Machine) record(host Host, contract source.Contract, kept string) error {
	if !m.self.known() {
		return nil
	}
	record, last := m.self, m.Last
	// Another run may have provisioned this machine since this one began, and this one may have found the other's copy
	// of the contract.
	if now, err := Read(host); err == nil && now != nil && !now.Unproven && now.other(&m.self) == "" {
		last = now
		if record.Instance == nil {
			record.Instance = now.Instance
		}
	}
	record.Reported = last != nil && last.Reported
	if contract.Source == source.FileSource && last != nil && last.Kept == contract.Path && last.Sum == contract.Sum() {
		record.Source, record.Sum, record.Kept = last.Source, last.Sum, last.Kept
	} else {
		record.Source, record.Sum, record.Kept = contract.Source, contract.Sum(), kept
	}
	return record.write(host)
}

// keep writes a contract from another source to its usual path, where the next boot and the watcher look first: a
// settings disk may be removed, and a metadata service can be down.
func keep(host Host, contract source.Contract, place string) error {
	return state.File{Path: place, Mode: 0o600, Limit: document.MaxBytes}.WriteOther(host, contract.Data)
}

// RecordTags adds the present tags to the record of this machine, for later plans. There may be no record.
func RecordTags(host Host, tags facts.Tags) error {
	record, err := Read(host)
	if err != nil || record == nil {
		return err
	}
	if record.Instance == nil {
		record.Instance = new(facts.Instance)
	}
	record.Instance.Tags = tags.After(record.Instance.Tags)
	return record.write(host)
}

// RecordReported adds to the record of this machine that the platform has its report. Another run may have written the
// record since.
func (m Machine) RecordReported(host Host) error {
	record, err := Read(host)
	if err != nil || record == nil || record.other(&m.self) != "" {
		return err
	}
	record.Reported = true
	return record.write(host)
}
