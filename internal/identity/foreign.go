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

// RemoveForeign removes another machine's data: the status of its provisioning, its cloud's certificates, the record of
// its run-once commands, its key in a directory, and its kubelet's identity. The caller has removed the published
// results before. The record of this machine is written last: if a run dies before, the next one repeats it, and if one
// dies later, the next removes nothing from a kubelet that has joined meanwhile. The other machine's contract stays, as
// the last resort for a machine without a contract.
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

// RemoveServingCertificate removes the certificate that the kubelet has signed for an address that the machine has
// lost.
func RemoveServingCertificate(host Host) error {
	for _, file := range plan.ServingCertificate() {
		if err := host.Remove(file); err != nil {
			return fmt.Errorf("remove a certificate for another address: %w", err)
		}
	}
	return nil
}

// removeForeignContract removes another machine's contract from a path at which this machine has a contract now.
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
