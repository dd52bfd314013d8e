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

// heldSign is what the initial RAM disk says when it waits; holdArgument has it do so.
const (
	heldSign     = "e2e: held"
	holdArgument = " E2E_HOLD=1"
)

// Holding is the machine that Hold keeps, of one that is to go on from there. What it writes is not recorded.
func Holding(m Machine) Machine {
	m.KernelArgs, m.Record = m.KernelArgs+holdArgument, false
	return m
}

// Hold boots the kernel of a machine of Holding up to where it has not seen a disk yet, and keeps it in a file: whatever
// Dir and Disk a machine has that goes on from there (Machine.Held), its kernel need not start again. The file is there
// when it is whole.
func (l *Lab) Hold(ctx context.Context, m Machine, state string) error {
	vm, err := l.Boot(ctx, m)
	if err != nil {
		return err
	}
	defer vm.Stop()
	if err := vm.held(ctx); err != nil {
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

// held waits until the initial RAM disk waits.
func (vm *VM) held(ctx context.Context) error {
	return vm.await(ctx, "the console does not say "+heldSign, func() bool {
		console, err := os.ReadFile(vm.ConsolePath())
		return err == nil && bytes.Contains(console, []byte(heldSign)) // there is none in the machine's first moments
	})
}

// release has a held machine go on, in the present.
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

// await waits until something holds of a machine that is well; otherwise says what is wrong where it does not come.
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
