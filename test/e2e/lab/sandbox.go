// Package lab runs the test's machines: in a separate namespace with a network, a cloud's metadata
// services, a Kubernetes control plane, and virtual machines.
//
// Everything runs in one sandbox: new network, process and mount namespaces, whose first process is
// the test itself. When that process ends, for any reason, the kernel ends all others and removes
// the network. There is nothing to clean up, and no program contacts the outside. The package
// decides nothing about the expectations of a test. test/e2e/cmd/e2e calls it.
package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// insideVariable marks a process as the sandbox's first.
const insideVariable = "SLIPWAY_E2E_SANDBOX"

// Inside reports whether this process is the first of a sandbox.
func Inside() bool { return os.Getenv(insideVariable) != "" && os.Getpid() == 1 }

// Command is this program, with its arguments, as the first process of a new sandbox.
func Command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("the end-to-end test makes namespaces and network devices: run it as root")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd, nil
}

// enter makes the sandbox's own mounts for its processes.
func enter() error {
	if !Inside() {
		return errors.New("not in a sandbox: start it with Command")
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount the sandbox's processes: %w", err)
	}
	return nil
}
