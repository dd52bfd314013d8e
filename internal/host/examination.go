package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/probe"
	"github.com/slipway-dev/slipway/internal/systemd"
)

// Live reports that the machine runs.
func (m *Machine) Live() bool { return true }

// Live is false: a directory has only files.
func (d *Directory) Live() bool { return false }

// ExaminedUnit is a unit's state with what shows why it is in it.
type ExaminedUnit = systemd.Examined

// FileSystem is the file system that has a path.
type FileSystem struct {
	// Size and Free are in bytes. Free is what a program without privileges can use, which is what a kubelet counts.
	Size, Free uint64
	// Inodes and FreeInodes are zero on a file system that does not count them.
	Inodes, FreeInodes uint64
	ReadOnly           bool
}

// FileSystem describes the file system that has a path, or that would have it.
func (m *Machine) FileSystem(name string) (FileSystem, error) {
	var about unix.Statfs_t
	for dir := name; ; dir = path.Dir(dir) {
		err := m.statfs(m.Root()+dir, &about)
		if errors.Is(err, unix.ENOENT) && dir != "/" {
			continue
		}
		if err != nil {
			return FileSystem{}, fmt.Errorf("file system of %s: %w", name, err)
		}
		block := uint64(max(about.Bsize, 0))
		return FileSystem{
			Size: about.Blocks * block, Free: about.Bavail * block, Inodes: about.Files, FreeInodes: about.Ffree,
			ReadOnly: about.Flags&unix.ST_RDONLY != 0,
		}, nil
	}
}

// FileSystem is unknown: a directory shows that of the machine on which it happens to be.
func (d *Directory) FileSystem(string) (FileSystem, error) { return FileSystem{}, apply.ErrNotProbed }

// Process is a process of the machine.
type Process struct {
	PID int
	// Name is the kernel's name for it (proc(5), /proc/PID/comm).
	Name string
	// Unit is the name of the systemd unit that it belongs to, or "".
	Unit string
}

const (
	// maxSockets limits the kernel's tables of sockets.
	maxSockets = 4 << 20
	// maxProcess limits a file about a process.
	maxProcess = 16 << 10
)

// Listener returns the process that listens on a TCP port of the machine. It is nil if none does. The process of another
// container may be unknown: then it is empty.
func (m *Machine) Listener(ctx context.Context, port uint16) (*Process, error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		sockets, err := m.ReadFile(table, maxSockets)
		if errors.Is(err, os.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("listeners: %w", err)
		}
		if inode := listening(sockets, port); inode != "" {
			return m.holder(ctx, "socket:["+inode+"]")
		}
	}
	return nil, nil
}

// Listener is unknown: a directory has no processes.
func (d *Directory) Listener(context.Context, uint16) (*Process, error) {
	return nil, apply.ErrNotProbed
}

// listening returns the inode of the socket that listens on a port, from a table of the kernel (proc(5), /proc/net/tcp).
func listening(table []byte, port uint16) string {
	const listens = "0A"
	for lines := bufio.NewScanner(bytes.NewReader(table)); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) < 10 || columns[3] != listens {
			continue
		}
		_, digits, _ := strings.Cut(columns[1], ":")
		if number, err := hex.DecodeString(digits); err == nil && len(number) == 2 && uint16(number[0])<<8|uint16(number[1]) == port {
			return columns[9]
		}
	}
	return ""
}

// holder finds the process that has a file open.
func (m *Machine) holder(ctx context.Context, file string) (*Process, error) {
	names, err := m.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("processes: %w", err)
		}
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		open, err := m.ReadDir("/proc/" + name + "/fd")
		if err != nil {
			continue // it has ended meanwhile
		}
		for _, fd := range open {
			if m.Link("/proc/"+name+"/fd/"+fd) == file {
				return m.process(pid), nil
			}
		}
	}
	return &Process{}, nil
}

// process describes a process as far as that is known.
func (m *Machine) process(pid int) *Process {
	dir := "/proc/" + strconv.Itoa(pid)
	comm, _ := m.ReadFile(dir+"/comm", maxProcess)
	groups, _ := m.ReadFile(dir+"/cgroup", maxProcess)
	return &Process{PID: pid, Name: strings.TrimSpace(string(comm)), Unit: unitOf(string(groups))}
}

// unitOf is the unit of a process, from its control groups (proc(5), /proc/PID/cgroup): the innermost service or scope.
func unitOf(groups string) string {
	for line := range strings.Lines(groups) {
		_, group, _ := strings.Cut(strings.TrimSpace(line), "/")
		for group != "" {
			last := path.Base(group)
			if strings.HasSuffix(last, ".service") || strings.HasSuffix(last, ".scope") {
				return last
			}
			group = strings.TrimSuffix(group[:len(group)-len(last)], "/")
		}
	}
	return ""
}

// AskHealthz asks a health endpoint of this machine once, and reports whether it has answered.
func (m *Machine) AskHealthz(ctx context.Context, url string) (answered bool, err error) {
	return probe.AskHealthz(ctx, url)
}

// AskHealthz asks nothing: a directory has no processes.
func (d *Directory) AskHealthz(context.Context, string) (answered bool, err error) {
	return false, apply.ErrNotProbed
}

// Examine is unknown: a directory's units have the states that were recorded.
func (d *Directory) Examine(ctx context.Context, unit string) (*ExaminedUnit, error) {
	state, err := d.UnitState(ctx, unit)
	return &ExaminedUnit{UnitState: state}, err
}

// FailedUnits returns nothing: nothing runs in a directory.
func (d *Directory) FailedUnits(context.Context) ([]string, error) { return nil, nil }

// Search returns nothing: a directory has no journal.
func (d *Directory) Search(context.Context, string, ...string) ([]string, error) { return nil, nil }

// SearchSince returns nothing, too.
func (d *Directory) SearchSince(context.Context, time.Time, string, ...string) ([]string, error) {
	return nil, nil
}
