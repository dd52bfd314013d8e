package scenario

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// heldPath is the file that stops the agent's unit from running.
const heldPath = "/etc/slipway/no-provision"

// bootedUserData has no contract: the machine can be saved when only the agent's work remains.
const bootedUserData = "#cloud-config\n{}\n"

// savedDisk is the disk of a machine that booted has saved.
const savedDisk = "disk.qcow2"

// booted makes a machine continue from the point where cloud-init has finished and the agent is held. That state is saved once for
// each image, and kept among the parts.
func (r *caseRun) booted(ctx context.Context, m lab.Machine) (lab.Machine, error) {
	m, err := r.Lab.In(ctx, "azure", m, lab.Guest{Name: firstName, Number: 1, UserData: []byte(bootedUserData)})
	if err != nil {
		return m, err
	}
	image, seed := m.Disk, m.Seed
	key := []string{"2", image, r.Lab.MachineKey(m), bootedUserData}
	in := func(dir string) lab.Machine {
		own := m
		own.Disk, own.Seed = filepath.Join(dir, "held.img"), filepath.Join(dir, "seed.iso")
		return own
	}
	dir, err := r.Store.Machine(ctx, "booted-containerd"+r.Containerd, savedDisk, key, func(ctx context.Context, dir string) error {
		m := in(dir)
		if err := holdAgent(ctx, image, m.Disk); err != nil {
			return err
		}
		if err := os.Rename(seed, m.Seed); err != nil {
			return err
		}
		return r.save(ctx, m, filepath.Join(dir, savedDisk))
	})
	if err != nil {
		return m, err
	}
	m = in(dir)
	m.Resume = filepath.Join(dir, savedDisk)
	return m, nil
}

// started makes a machine continue from the point where its kernel has started, with any disk.
func (r *caseRun) started(ctx context.Context, m lab.Machine) (lab.Machine, error) {
	m = lab.Holding(m)
	dir, err := r.Store.Machine(ctx, "started", "state", []string{"1", r.Lab.MachineKey(m)}, func(ctx context.Context, dir string) error {
		return r.Lab.Hold(ctx, m, filepath.Join(dir, "state"))
	})
	m.Held = filepath.Join(dir, "state")
	return m, err
}

// holdAgent copies an image, and adds the file that holds the agent.
func holdAgent(ctx context.Context, image, disk string) error {
	if err := lab.CopyDisk(ctx, image, disk); err != nil {
		return err
	}
	return lab.WithDisk(disk, func(root string) error {
		path := filepath.Join(root, heldPath)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, nil, 0o644)
	})
}

// save boots a machine until cloud-init is done, and saves it.
func (r *caseRun) save(ctx context.Context, m lab.Machine, disk string) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	vm, err := r.Lab.Boot(ctx, m)
	if err != nil {
		return err
	}
	defer vm.Stop()
	if err := vm.Shell.Wait(ctx, vm.Healthy); err != nil {
		return err
	}
	out, err := vm.Shell.Output(ctx, "cloud-init status --wait; systemctl is-system-running --wait; systemctl show -P ConditionResult slipway-provision.service")
	if err != nil {
		return err
	}
	if !strings.HasSuffix(strings.TrimSpace(out), "no") {
		return errors.New("the agent was not held back: " + out)
	}
	return vm.Save(ctx, disk)
}
