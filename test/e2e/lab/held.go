package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// heldSign is the message of the initial RAM disk when it waits; holdArgument makes it wait (test/e2e/parts/hold.go).
const (
	heldSign     = "e2e: held"
	holdArgument = " rdinit=/hold"
)

// Holding is the machine for Hold, for a machine that will continue from there. Its writes are not recorded.
func Holding(m Machine) Machine {
	m.KernelArgs, m.Kernel.Initrd, m.Record = m.KernelArgs+holdArgument, m.Kernel.HeldInitrd, false
	return m
}

// Hold boots the kernel of a machine of Holding to a point before it has seen a disk, and saves it in a file. Any machine that
// continues from there (Machine.Held), with any Dir and Disk, does not have to start its kernel again. The file exists only when it
// is complete.
func (l *Lab) Hold(ctx context.Context, m Machine, state string) error {
	vm, err := l.Boot(ctx, m)
	if err != nil {
		return err
	}
	defer vm.Stop()
	if err := vm.AwaitConsole(ctx, heldSign); err != nil {
		return err
	}
	if said, err := vm.monitor(ctx, fmt.Sprintf("migrate \"exec:cat >%s\"", state+".part")); err != nil {
		return fmt.Errorf("keep the held machine: %w: %s", err, said)
	}
	if said, err := vm.monitor(ctx, "info migrate"); err != nil || !strings.Contains(said, "status: completed") {
		return errors.Join(fmt.Errorf("the held machine is not kept: %q", said), err)
	}
	return os.Rename(state+".part", state)
}

// AwaitConsole waits until the machine's console has a text.
func (vm *VM) AwaitConsole(ctx context.Context, text string) error {
	return vm.await(ctx, "the console does not say "+text, func() bool {
		console, err := os.ReadFile(vm.ConsolePath())
		return err == nil && bytes.Contains(console, []byte(text)) // the file does not exist in the machine's first moments
	})
}

// release lets a held machine continue, with the present time.
func (vm *VM) release(ctx context.Context) error {
	err := vm.await(ctx, "QEMU does not take over the held machine", func() bool {
		said, err := vm.monitor(ctx, "info status")
		return err == nil && strings.Contains(said, "running")
	})
	if err != nil {
		return err
	}
	return vm.Shell.tell(fmt.Sprint(time.Now().Unix()))
}

// await waits until holds returns true while the machine is healthy. otherwise is the error text if it never does.
func (vm *VM) await(ctx context.Context, otherwise string, holds func() bool) error {
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", otherwise, ctx.Err())
		case <-time.After(20 * time.Millisecond):
			if err := vm.Healthy(); err != nil {
				return err
			}
		}
	}
	return nil
}
