package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/plan/system"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
)

// RemoveForeign removes what is another machine's: the status of its provisioning, the certificates of its cloud, the record
// of the commands that were run on it once, its key in a directory, and its kubelet's identity. The results that somebody may
// wait for are gone by then. The record of this machine comes last: a run that dies before is repeated, and one that dies later
// takes nothing away from a kubelet that has joined meanwhile. The other's contract stays, as the last resort of a machine that
// has none of its own.
func (m Machine) RemoveForeign(host Host) error {
	files := append([]string{state.Status.Path, state.Authorities.Path, state.KubeletDefaults.Path, state.Commands.Path, system.HostKeytab}, plan.KubeletIdentity().Files...)
	for _, dir := range plan.KubeletIdentity().Directories {
		names, err := host.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, name := range names {
			files = append(files, path.Join(dir, name))
		}
	}
	for _, file := range files {
		if err := host.Remove(file); err != nil {
			return fmt.Errorf("remove what belongs to another machine: %w", err)
		}
	}
	if err := host.Sync(); err != nil {
		return err
	}
	record := m.self
	record.Unproven, record.Sum = true, m.Foreign.Sum
	return record.write(host)
}

// RemoveServingCertificate removes the certificate that the kubelet has signed for an address that the machine has lost.
func RemoveServingCertificate(host Host) error {
	for _, file := range plan.ServingCertificate() {
		if err := host.Remove(file); err != nil {
			return fmt.Errorf("remove a certificate for another address: %w", err)
		}
	}
	return nil
}

// removeForeignContract removes the contract of another machine, in whose place there is one of this machine's own.
func (m Machine) removeForeignContract(host Host, own source.Contract) error {
	if m.Foreign == nil || m.Foreign.Sum == "" {
		return nil
	}
	for _, path := range source.Paths {
		there, err := source.File(host, path)
		if err != nil || there.Sum() != m.Foreign.Sum || path == own.Path {
			continue
		}
		if err := host.Remove(path); err != nil {
			return err
		}
	}
	return host.Sync()
}
