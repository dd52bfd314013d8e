package host

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

const (
	swapMode = 0o600
	// swapService is the unit in which systemd runs swapon(8). The kernel lists a swap file by its path in the mount
	// namespace of the process that enabled it, and the agent's namespace ends with its unit: the path would differ
	// after that.
	swapService = "slipway-swap.service"
	// maxSwaps bounds the kernel's list of swap files.
	maxSwaps = 64 << 10
)

// SwapFile reports whether there is a file at a swap file's path.
func (m *Machine) SwapFile(swap *resource.Swap) (bool, error) {
	entry, err := m.Stat(swap.Path)
	return err == nil && entry.Kind == apply.RegularFile, err
}

// Swapping reports whether a swap file is in use, is on its disk, has its size, and is readable by the superuser only.
func (m *Machine) Swapping(swap *resource.Swap) (bool, error) {
	if whole, err := m.wholeSwap(swap); !whole || err != nil {
		return false, err
	}
	return m.swapsOn(swap.Path)
}

// wholeSwap reports whether a swap file is complete, in use or not. An incomplete one never has its final name.
func (m *Machine) wholeSwap(swap *resource.Swap) (bool, error) {
	if swap.Disk != "" {
		if mounted, err := m.mountPoint(swap.Disk); !mounted || err != nil {
			return false, err
		}
	}
	entry, err := m.Stat(swap.Path)
	return err == nil && entry.Kind == apply.RegularFile && entry.Size == swap.Bytes && entry.Mode == swapMode, err
}

// swapsOn reports whether the kernel uses a swap file (proc(5), /proc/swaps).
func (m *Machine) swapsOn(path string) (bool, error) {
	list, err := m.ReadFile("/proc/swaps", maxSwaps)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(list)) {
		if columns := strings.Fields(line); len(columns) > 1 && columns[0] == path && columns[1] == "file" {
			return true, nil
		}
	}
	return false, nil
}

// MakeSwap enables a swap file. If the disk has no file of its size, it creates the file with all its blocks. It
// waits for a disk that another program mounts.
func (m *Machine) MakeSwap(ctx context.Context, swap *resource.Swap) error {
	if err := swap.Valid(); err != nil {
		return err
	}
	if swap.Disk != "" {
		if used, err := m.swapOfDisk(ctx, swap); used || err != nil {
			return err
		}
	}
	if err := m.RemoveSwap(ctx, swap); err != nil {
		return err
	}
	err := m.roomForSwap(swap)
	// A file system may reserve space that swapon(8) does not accept before it is written: swapon(8), "Files with
	// holes".
	if err == nil && m.swapWith(ctx, swap, false) != nil {
		err = m.swapWith(ctx, swap, true)
	}
	if err != nil {
		if rootfs.NoRoom(err) {
			err = &apply.CheckError{Cause: resource.CauseNoRoom, Endpoint: path.Dir(swap.Path), Err: err}
		}
		return errors.Join(fmt.Errorf("swap file %s: %w", swap.Path, err), m.Remove(swap.Path))
	}
	return m.Sync()
}

// swapOfDisk waits for a swap file's disk, and reports whether the file existed and is now in use. During a boot,
// systemd's unit enables it too, as soon as the disk is mounted: the second one gets the error that the file is busy.
func (m *Machine) swapOfDisk(ctx context.Context, swap *resource.Swap) (bool, error) {
	err := m.awaitDisk(ctx, swap.Disk)
	if err == nil {
		err = m.holdsData(swap.Disk)
	}
	if err != nil {
		return false, fmt.Errorf("swap file %s: %w", swap.Path, err)
	}
	if whole, err := m.wholeSwap(swap); !whole || err != nil {
		return false, err
	}
	if m.runSwap(ctx, failpoint.SwapOn, "/sbin/swapon", swap.Path) == nil {
		return true, nil
	}
	return m.swapsOn(swap.Path)
}

// swapWith creates a swap file, with all of its blocks written or only reserved, and enables it.
func (m *Machine) swapWith(ctx context.Context, swap *resource.Swap, written bool) error {
	err := m.Allocate(swap.Path, swapMode, swap.Bytes, swapHeader(swap.Bytes, os.Getpagesize()), written)
	if err != nil {
		return err
	}
	return m.runSwap(ctx, failpoint.SwapOn, "/sbin/swapon", swap.Path)
}

// RemoveSwap disables a swap file and removes it. The kernel needs free memory for its content.
func (m *Machine) RemoveSwap(ctx context.Context, swap *resource.Swap) error {
	on, err := m.swapsOn(swap.Path)
	if err == nil && on {
		err = m.runSwap(ctx, failpoint.SwapOff, "/sbin/swapoff", swap.Path)
	}
	if err != nil {
		return fmt.Errorf("swap file %s: %w", swap.Path, err)
	}
	return m.Remove(swap.Path)
}

// roomForSwap requires that the file system is not full afterwards: the node's other files need space, too.
func (m *Machine) roomForSwap(swap *resource.Swap) error {
	var fs unix.Statfs_t
	dir := path.Dir(swap.Path)
	if err := m.statfs(m.Root()+dir, &fs); errors.Is(err, unix.ENOENT) {
		return nil // creating the file will show whether there is space
	} else if err != nil {
		return fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	free := int64(fs.Bavail) * fs.Bsize
	if reserve := int64(fs.Blocks) * fs.Bsize / 20; free-swap.Bytes < reserve {
		return fmt.Errorf("%w: the file system of %s has %d MiB free; the swap file needs %d MiB, and %d MiB have to stay free",
			unix.ENOSPC, dir, free>>20, swap.Bytes>>20, reserve>>20)
	}
	return nil
}

// swapHeader is the first page of a swap file, as mkswap(8) writes it (Linux: include/linux/swap.h, union swap_header).
func swapHeader(size int64, page int) []byte {
	header := make([]byte, page)
	info := header[1024:]
	binary.NativeEndian.PutUint32(info, 1) // version
	binary.NativeEndian.PutUint32(info[4:], uint32(size/int64(page)-1))
	_, _ = rand.Read(info[12:28]) // UUID; rand.Read never fails
	info[12+6] = info[12+6]&0x0f | 0x40
	info[12+8] = info[12+8]&0x3f | 0x80
	copy(header[page-10:], "SWAPSPACE2")
	return header
}

// runSwap runs swapon(8) or swapoff(8) with a path.
func (m *Machine) runSwap(ctx context.Context, kind failpoint.Kind, program, name string) error {
	return m.Manager.Run(ctx, failpoint.Change{Kind: kind, Name: name}, swapService, []string{program, path.Join(m.Root(), name)})
}
