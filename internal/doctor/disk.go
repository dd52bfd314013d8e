package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/quantity"
)

// diskChecks are those of disks and file systems.
var diskChecks = []Check{
	{
		Name: "read-only", Asks: "Can the node's programs write to their file systems?", Live: true, Look: lookReadOnly,
		Causes: []Cause{
			{"damaged", "the kernel has made a file system read-only after an error", "read dmesg for the file system's error; check the disk, run fsck on it from another system, or replace the machine"},
			{"mounted", "a file system is mounted read-only", "mount it with rw: see /etc/fstab and the mount's unit; on a machine whose root is read-only by design, the directory needs a mount that is not"},
		},
	},
	{
		Name: "space", Asks: "Have the node's file systems space?", Live: true, Look: lookSpace, Needs: []string{"read-only"},
		Causes: []Cause{
			{"full", "a file system is full", "free space: remove images with crictl rmi --prune, and look for large files with du -x; or give the machine a larger disk"},
			{"eviction", "the kubelet evicts pods, because a file system has less space than its setting asks for", "free space: remove images with crictl rmi --prune, and look for large files with du -x; or give the machine a larger disk"},
		},
	},
	{
		Name: "inodes", Asks: "Have the node's file systems inodes?", Live: true, Look: lookInodes, Needs: []string{"read-only"},
		Causes: []Cause{
			{"full", "a file system has no inodes left", "find the directory with many small files with du --inodes -x, and remove them"},
			{"eviction", "the kubelet evicts pods, because a file system has fewer inodes than its setting asks for", "find the directory with many small files with du --inodes -x, and remove them"},
		},
	},
}

// A directory of a node's programs.
type nodeDirectory struct {
	path string
	// signal is the part of the kubelet's eviction signals about its file system, "" for none.
	signal string
	// written reports that the node does not work if it is read-only. Others may be so by the design of the machine's image.
	written bool
}

// containerdRoot is containerd's directory (containerd: defaults/defaults_unix.go, DefaultRootDir).
const containerdRoot = "/var/lib/containerd"

func nodeDirectories(p *Patient) []nodeDirectory {
	return []nodeDirectory{
		{p.Kubelet().Root.Value, "nodefs", true}, {containerdRoot, "imagefs", true},
		{"/run", "", true}, {"/var/log", "", true}, {"/etc", "", false}, {"/", "", false},
	}
}

func lookReadOnly(_ context.Context, p *Patient) *Finding {
	mounts, mountsErr := readMounts(p.Machine)
	f := fine("all file systems of the node are writable")
	for _, d := range nodeDirectories(p) {
		about, err := p.Machine.FileSystem(d.path)
		if err != nil {
			return unknownFor(err)
		}
		if !about.ReadOnly {
			continue
		}
		m := mounts.of(d.path)
		f.with(d.path, fmt.Sprintf("read-only: %s is mounted on %s with %s, its file system has %s", m.source, m.on, m.options, m.super))
		if f.State == Wrong {
			continue
		}
		// The kernel changes the file system, and not the mount (fs/ext4/super.c, ext4_handle_error).
		switch damaged := mountsErr == nil && has(m.options, "rw") && has(m.super, "ro"); {
		case damaged:
			f.wrong("damaged", "the file system of %s is read-only: %s was mounted on %s to be written, and the kernel has changed that after an error", d.path, m.source, m.on)
		case d.written:
			f.wrong("mounted", "the file system of %s is read-only: %s is mounted so on %s", d.path, m.source, m.on)
		}
	}
	return f
}

// has reports whether a list with commas has a word.
func has(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

// fullBelow is how many bytes are too few for any program of a node.
const fullBelow = 1 << 20

func lookSpace(_ context.Context, p *Patient) *Finding {
	return lookFree(p, amounts{
		what: "space", signal: "available",
		of:   func(fs host.FileSystem) (free, all uint64) { return fs.Free, fs.Size },
		show: func(n uint64) string { return fmt.Sprintf("%.1f", float64(n)/(1<<30)) },
		name: "GiB",
		full: fullBelow,
	})
}

func lookInodes(_ context.Context, p *Patient) *Finding {
	return lookFree(p, amounts{
		what: "inodes", signal: "inodesFree",
		of:   func(fs host.FileSystem) (free, all uint64) { return fs.FreeInodes, fs.Inodes },
		show: func(n uint64) string { return fmt.Sprint(n) },
		name: "inodes",
		full: 1,
	})
}

// amounts is what a file system can run out of.
type amounts struct {
	what, signal string
	of           func(host.FileSystem) (free, all uint64)
	show         func(uint64) string
	name         string
	full         uint64
}

// unit is an amount with its unit.
func (a amounts) unit(n uint64) string { return a.show(n) + " " + a.name }

// lookFree compares what the file systems have left with what the kubelet asks for.
func lookFree(p *Patient, a amounts) *Finding {
	f := fine("the file systems have enough %s", a.what)
	for _, d := range nodeDirectories(p) {
		about, err := p.Machine.FileSystem(d.path)
		if err != nil {
			return unknownFor(err)
		}
		free, all := a.of(about)
		if all == 0 || about.ReadOnly {
			continue // it does not count them, or nothing is written to it
		}
		left := fmt.Sprintf("%s of %s left", a.show(free), a.unit(all))
		f.with(d.path, left)
		if f.State == Wrong {
			continue
		}
		asked, from := uint64(0), ""
		if d.signal != "" && p.Kubelet().Origin != "" {
			asked, from = evictsBelow(p.Kubelet(), d.signal+"."+a.signal, all)
		}
		switch {
		case free < a.full:
			f.wrong("full", "the file system of %s is full: it has %s", d.path, left)
		case free < asked:
			f.wrong("eviction", "the file system of %s has %s, and the kubelet evicts pods below %s (%s)", d.path, left, a.unit(asked), from)
		}
	}
	return f
}

// evictions are the kubelet's thresholds on Linux without a setting, in percent (k8s.io/kubernetes
// pkg/kubelet/apis/config/v1beta1/defaults_linux.go, DefaultEvictionHard).
var evictions = map[string]string{"nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "15%", "imagefs.inodesFree": "5%"}

// evictsBelow is the amount below which the kubelet evicts pods, and where that is set.
func evictsBelow(k *kubeletsetup.Kubelet, signal string, all uint64) (amount uint64, from string) {
	text, from := evictions[signal], kubeletsetup.Default
	if flag, set := k.Flag("eviction-hard"); set { // "nodefs.available<10%,memory.available<100Mi"
		text, from = "", "--eviction-hard"
		for part := range strings.SplitSeq(flag, ",") {
			if name, value, ok := strings.Cut(part, "<"); ok && name == signal {
				text = value
			}
		}
	} else if k.Settings != nil {
		if hard := k.Settings.At("$.evictionHard"); hard != nil && hard.Kind == document.Map {
			text, from = hard.GetText(signal), "evictionHard of "+k.Config.Value
		}
	}
	from = signal + ", " + from
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		if share, err := strconv.ParseFloat(percent, 64); err == nil && share >= 0 && share < 100 {
			return uint64(float64(all) * share / 100), from
		}
		return 0, from
	}
	q, ok := quantity.Parse(text)
	if !ok {
		return 0, from
	}
	value := q.Value()
	return uint64(min(max(value, 0), math.MaxInt64)), from
}

// mount is a mounted file system.
type mount struct {
	on, source, options, super string
}

type mounts []mount

// maxMounts limits the kernel's table of mounts. A node with many pods has some thousand.
const maxMounts = 4 << 20

// readMounts reads the mounts of the machine's first process: the agent's unit may have its own.
func readMounts(files Files) (mounts, error) {
	content, err := files.ReadFile("/proc/1/mountinfo", maxMounts)
	if err != nil {
		return nil, fmt.Errorf("mounts: %w", err)
	}
	all := parseMounts(string(content))
	if len(all) == 0 {
		return nil, errors.New("mounts: the kernel's table has none")
	}
	return all, nil
}

// parseMounts reads a table of mounts (proc(5), /proc/pid/mountinfo).
func parseMounts(content string) (all mounts) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(content) {
		own, super, _ := strings.Cut(line, " - ")
		left, right := strings.Fields(own), strings.Fields(super)
		if len(left) >= 6 && len(right) >= 3 {
			all = append(all, mount{unescape.Replace(left[4]), unescape.Replace(right[1]), left[5], right[2]})
		}
	}
	return all
}

// of is the mount that has a path: the last one of the innermost directory.
func (all mounts) of(path string) mount {
	var best mount
	for _, m := range all {
		inside := m.on == path || m.on == "/" || strings.HasPrefix(path, m.on+"/")
		if inside && len(m.on) >= len(best.on) {
			best = m
		}
	}
	return best
}
