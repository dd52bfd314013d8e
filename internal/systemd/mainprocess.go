package systemd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// WaitEnd waits until a unit's start has ended, even if the unit has started again since. The kernel reports the end of
// the unit's main process, so systemd is asked only at the beginning and then. If a unit has no such process, or the
// kernel is older than Linux 5.10, WaitEnd polls systemd.
func (m *Manager) WaitEnd(ctx context.Context, unit string, start Start) error {
	ended := func(conn Bus) (bool, error) {
		properties, err := conn.Properties(ctx, UnitObject(unit), unitInterface, startProperties...)
		if err != nil {
			return false, err
		}
		now := startOf(properties)
		return !now.Active || now.Invocation != start.Invocation, nil
	}
	err := m.waitProcess(ctx, func(conn Bus) (*os.File, error) {
		if over, err := ended(conn); over || err != nil {
			return nil, err
		}
		return mainProcess(ctx, conn, unit)
	})
	if err == nil {
		err = m.look(ctx, ended) // systemd will notice it in a moment
	}
	if err != nil {
		return fmt.Errorf("end of %s: %w", unit, err)
	}
	return nil
}

// WaitProcess waits until the main process that a unit has now ends. It returns at once if the unit has none, or if the kernel is older
// than Linux 5.10.
func (m *Manager) WaitProcess(ctx context.Context, unit string) error {
	err := m.waitProcess(ctx, func(conn Bus) (*os.File, error) { return mainProcess(ctx, conn, unit) })
	if err != nil {
		return fmt.Errorf("end of %s's process: %w", unit, err)
	}
	return nil
}

// waitProcess waits until the process that find has opened ends. find returns nil if there is no process to wait for.
func (m *Manager) waitProcess(ctx context.Context, find func(conn Bus) (*os.File, error)) error {
	var process *os.File
	err := m.do(ctx, func(conn Bus) (err error) {
		process, err = find(conn)
		return err
	})
	if process != nil {
		err = exits(ctx, process)
	}
	return err
}

// mainProcess opens a unit's main process. It returns nil if there is no such process, if it has ended, or if the
// kernel cannot wait for it.
func mainProcess(ctx context.Context, conn Bus, unit string) (*os.File, error) {
	iface := typeInterface(unit)
	if iface == "" {
		return nil, nil
	}
	ask := func() (uint32, error) {
		properties, err := conn.Properties(ctx, UnitObject(unit), iface, "MainPID")
		if errors.Is(err, ErrLost) || ctx.Err() != nil {
			return 0, err
		}
		pid, _ := properties["MainPID"].(uint32) // only services have one
		return pid, nil
	}
	pid, err := ask()
	if err != nil || pid == 0 {
		return nil, err
	}
	fd, err := unix.PidfdOpen(int(pid), unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, nil
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	// As long as systemd names the process, its number has not been reused.
	if again, err := ask(); err != nil || again != pid {
		process.Close()
		return nil, err
	}
	return process, nil
}

// exits waits until a process has ended, and closes it.
func exits(ctx context.Context, process *os.File) error {
	defer process.Close()
	raw, err := process.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = process.SetReadDeadline(time.Unix(1, 0)) })()
	err = raw.Read(func(fd uintptr) bool { // an ended process is readable (pidfd_open(2))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, os.ErrNoDeadline) {
		return nil
	}
	return err
}
