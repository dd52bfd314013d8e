package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// heldPath is the file that keeps the agent's unit from running.
const heldPath = "/etc/slipway/no-provision"

// bootedUserData has no contract: the machine can be saved when all but the agent's work is done.
const bootedUserData = "#cloud-config\n{}\n"

// booted makes a machine one that goes on from where cloud-init was done and the agent held back. That
// is saved once for an image, and kept among the parts.
func (r *caseRun) booted(ctx context.Context, m lab.Machine) (lab.Machine, error) {
	m, err := r.Lab.In(ctx, "azure", m, lab.Guest{Name: firstName, Number: 1, UserData: []byte(bootedUserData)})
	if err != nil {
		return m, err
	}
	version, err := exec.CommandContext(ctx, "qemu-system-x86_64", "--version").Output()
	if err != nil {
		return m, err
	}
	key := sha256.Sum256([]byte(strings.Join([]string{"2", string(version), m.Disk, r.Lab.MachineKey(m), bootedUserData}, "\x00")))
	name := "booted-containerd" + r.Containerd + "-"
	dir := filepath.Join(r.Cache, name+hex.EncodeToString(key[:])[:16])
	image, seed := m.Disk, m.Seed
	m.Disk, m.Seed = filepath.Join(dir, "held.img"), filepath.Join(dir, "seed.iso")
	saved := m
	saved.Resume = filepath.Join(dir, "disk.qcow2")
	if _, err := os.Stat(saved.Resume); err == nil { // it comes last
		return saved, nil
	}
	begin := time.Now()
	old, err := filepath.Glob(filepath.Join(r.Cache, name+"*"))
	if err != nil {
		return m, err
	}
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return m, err
		}
	}
	if err := holdAgent(ctx, image, m.Disk); err != nil {
		return m, err
	}
	if err := os.Rename(seed, m.Seed); err != nil {
		return m, err
	}
	if err := r.save(ctx, m, saved.Resume); err != nil {
		return m, err
	}
	r.Log.Info("saved a machine for cases to begin from", "containerd", r.Containerd, "seconds", fmt.Sprintf("%.1f", time.Since(begin).Seconds()))
	return saved, nil
}

// holdAgent copies an image, with the file that holds the agent back.
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
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
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
