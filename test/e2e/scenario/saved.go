package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
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

// releasePath is the file that lets the agent of a saved machine run.
const releasePath = "/run/e2e-release"

// bootedUserData holds the agent back at the machine's first boot, so that the machine can be saved
// when all but the agent's work is done. It makes no difference to the boots after that.
const bootedUserData = `#cloud-config
bootcmd:
- - cloud-init-per
  - instance
  - hold
  - sh
  - -c
  - >-
    mkdir -p /run/systemd/system/slipway-provision.service.d &&
    printf '[Unit]\nConditionPathExists=` + releasePath + `\n' >/run/systemd/system/slipway-provision.service.d/hold.conf &&
    systemctl daemon-reload
`

// booted makes a machine one that goes on from where cloud-init was done and the agent held back. That
// is saved once for an image, and kept among the parts.
func (r *caseRun) booted(ctx context.Context, m lab.Machine) (lab.Machine, error) {
	m, err := r.Lab.Azure(ctx, m, nodeName, base64.StdEncoding.EncodeToString([]byte(bootedUserData)))
	if err != nil {
		return m, err
	}
	version, err := exec.CommandContext(ctx, "qemu-system-x86_64", "--version").Output()
	if err != nil {
		return m, err
	}
	key := sha256.Sum256([]byte(strings.Join([]string{"1", string(version), m.Disk, r.Lab.MachineKey(m), bootedUserData}, "\x00")))
	name := "booted-containerd" + r.Containerd + "-"
	dir := filepath.Join(r.Cache, name+hex.EncodeToString(key[:])[:16])
	saved := lab.Machine{Dir: m.Dir, Disk: m.Disk, Seed: filepath.Join(dir, "seed.iso"), Firmware: m.Firmware, Resume: filepath.Join(dir, "disk.qcow2")}
	if _, err := os.Stat(dir); err == nil {
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
	scratch := dir + ".new"
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return m, err
	}
	if err := r.save(ctx, m, filepath.Join(scratch, "disk.qcow2")); err != nil {
		return m, err
	}
	if err := os.Rename(m.Seed, filepath.Join(scratch, "seed.iso")); err != nil {
		return m, err
	}
	r.Log.Info("saved a machine for cases to begin from", "containerd", r.Containerd, "seconds", fmt.Sprintf("%.1f", time.Since(begin).Seconds()))
	return saved, os.Rename(scratch, dir)
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
