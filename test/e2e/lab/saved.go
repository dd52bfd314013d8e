package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// savedName is the name of the only snapshot on a saved machine's disk.
const savedName = "saved"

// Save saves a running machine as a disk, from which Machine.Resume continues, and ends the
// machine.
func (vm *VM) Save(ctx context.Context, disk string) error {
	if _, err := vm.Shell.Output(ctx, "sync"); err != nil {
		return err
	}
	said, err := vm.monitor(ctx, "savevm "+savedName)
	if err == nil && said != "" {
		err = errors.New(said)
	}
	if err != nil {
		return fmt.Errorf("save the machine: %w", err)
	}
	if err := vm.Quit(ctx); err != nil {
		return fmt.Errorf("save the machine: %w", err)
	}
	return os.Rename(vm.overlay(), disk)
}

// resumed brings a saved machine to the present: its shell answers, and its clock is right.
func (vm *VM) resumed(ctx context.Context) error {
	if err := vm.Shell.wake(); err != nil {
		return err
	}
	if err := vm.Shell.Wait(ctx, vm.Healthy); err != nil {
		return err
	}
	now := time.Now()
	_, err := vm.Shell.Output(ctx, fmt.Sprintf("date -s @%d.%09d", now.Unix(), now.Nanosecond()))
	return err
}

// prompt is the prompt of QEMU's monitor.
const prompt = "(qemu) "

// monitor gives QEMU's monitor a command, and returns its output.
func (vm *VM) monitor(ctx context.Context, command string) (string, error) {
	conn, err := net.Dial("unix", filepath.Join(vm.Dir, "monitor"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })()
	if _, err := readUntil(conn, prompt); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(conn, command); err != nil {
		return "", err
	}
	text, err := readUntil(conn, "\n"+prompt)
	if err != nil {
		return "", err
	}
	// The monitor echoes the command, with the cursor's movements, on the first line.
	_, answer, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimSuffix(answer, prompt)), nil
}

// Emulator returns what QEMU itself says about a machine that does not answer: whether it runs, and where its processors are.
func (vm *VM) Emulator(ctx context.Context) string {
	var said strings.Builder
	for _, command := range []string{"info status", "info cpus", "info registers -a", "info block"} {
		answer, err := vm.monitor(ctx, command)
		if err != nil {
			answer = err.Error()
		}
		fmt.Fprintf(&said, "%s\n%s\n", command, answer)
	}
	return said.String()
}

func readUntil(conn net.Conn, end string) (string, error) {
	var text []byte
	for chunk := make([]byte, 4096); ; {
		n, err := conn.Read(chunk)
		text = append(text, chunk[:n]...)
		if bytes.HasSuffix(text, []byte(end)) {
			return string(text), nil
		}
		if err != nil {
			return string(text), fmt.Errorf("QEMU's monitor: %w", err)
		}
	}
}
