package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// size is the size of the block log at a time.
type size struct {
	at    time.Time
	bytes int64
}

// watchLog records the growth of the machine's block log until ctx is done, because the log itself has no times.
func (r *caseRun) watchLog(ctx context.Context, path string) {
	for ctx.Err() == nil {
		if info, err := os.Stat(path); err == nil {
			r.growthMu.Lock()
			r.growth = append(r.growth, size{time.Now(), info.Size()})
			r.growthMu.Unlock()
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// sizeAt is the minimum size of the log at a time.
func sizeAt(growth []size, at time.Time) int64 {
	var bytes int64
	for _, s := range growth {
		if s.at.After(at) {
			break
		}
		bytes = s.bytes
	}
	return bytes
}

// spread chooses n elements of a list, the first and the last among them, evenly.
func spread(list []int, n int) []int {
	if n >= len(list) || n < 2 {
		return list
	}
	chosen := make([]int, n)
	for i := range chosen {
		chosen[i] = list[i*(len(list)-1)/(n-1)]
	}
	return chosen
}

type powerCutArgs struct {
	// Cuts is the number of flushes at which the power is cut, from the agent's start to the end of the recording.
	Cuts int `yaml:"cuts"`
	// Boots is the number of these disks from which a machine starts, evenly spread. The others are mounted, and the agent applies
	// the contract there.
	Boots int `yaml:"boots"`
}

// powerCuts rebuilds the recorded machine's disk as power cuts at several flushes would have left it. Each must become a node
// again. Every second disk also contains some of the writes after the flush, because a disk may write early.
func (r *caseRun) powerCuts(ctx context.Context, args powerCutArgs) error {
	if !r.vm.Record || r.lastBoot == nil {
		return errors.New("want a boot with record, and ready, before")
	}
	end := time.Now()
	if err := r.vm.Quit(ctx); err != nil {
		return err
	}
	log, file, err := lab.OpenBlockLog(r.vm.BlockLogPath())
	if err != nil {
		return err
	}
	defer file.Close()
	var start time.Time
	for _, e := range r.lastBoot.Events {
		if e.Name == "agent start" {
			start = r.vm.Started.Add(time.Duration(e.At * float64(time.Second)))
		}
	}
	r.growthMu.Lock()
	from, to := sizeAt(r.growth, start), sizeAt(r.growth, end)
	r.growthMu.Unlock()
	flushes := log.Flushes(from, to)
	if len(flushes) < args.Cuts {
		return fmt.Errorf("there are %d flushes since the agent's start, want at least %d", len(flushes), args.Cuts)
	}
	chosen := spread(flushes, args.Cuts)
	booted := spread(chosen, args.Boots)
	return r.eachCut(ctx, log, chosen, func(machine lab.Machine, disk string, flush int) error {
		marked, err := r.checkCut(ctx, disk)
		if err == nil && slices.Contains(booted, flush) {
			err = r.recover(ctx, machine, disk)
		}
		if err == nil {
			r.Log.Info("recovered", "case", r.Name, "entry", flush, "of", len(log.Entries), "marked", marked, "booted", slices.Contains(booted, flush))
		}
		return err
	})
}

// eachCut calls do with the recorded machine's disk as a power cut at each of the flushes would have left it. do must not change
// the disk. The machine is the recorded one with its kernel started, and continues with any disk.
func (r *caseRun) eachCut(ctx context.Context, log *lab.BlockLog, flushes []int, do func(machine lab.Machine, disk string, flush int) error) error {
	recorded := r.vm.Machine
	path := filepath.Join(recorded.Dir, "cut.img")
	defer os.Remove(path)
	machine, err := r.started(ctx, recorded)
	if err != nil {
		return fmt.Errorf("keep a kernel that has started: %w", err)
	}
	if err := lab.CopyDisk(ctx, recorded.Disk, path); err != nil {
		return err
	}
	disk, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer disk.Close()
	if err := disk.Truncate(lab.DiskSize); err != nil {
		return err
	}
	done := 0
	for i, flush := range flushes {
		if err := log.Replay(disk, done, flush); err != nil {
			return err
		}
		done = flush + 1
		early := func(n int) bool { return i%2 == 1 && n%2 == 0 }
		undo, err := log.ReplayEarly(disk, flush, early)
		if err == nil {
			err = do(machine, path, flush)
		}
		if err != nil {
			return fmt.Errorf("power cut at flush %d of the log's %d entries: %w", flush, len(log.Entries), err)
		}
		// A machine reads the disk until its power is cut.
		r.vm.Stop()
		if err := undo(); err != nil {
			return err
		}
	}
	return nil
}

// checkCut checks the disk after a power cut: it has no success without the success's files, and after the agent has applied the
// contract to it, it is complete. marked reports whether the disk has a success.
func (r *caseRun) checkCut(ctx context.Context, disk string) (marked bool, err error) {
	undo, err := lab.ReplayJournal(ctx, disk)
	if err != nil {
		return false, err
	}
	marked, err = checkMarker(ctx, disk)
	if err == nil {
		err = lab.WithMounted(disk, func(root string) error { return r.converge(ctx, root) })
	}
	return marked, errors.Join(err, undo())
}

// converge has the agent apply the contract to a tree, which must then be complete.
func (r *caseRun) converge(ctx context.Context, root string) error {
	agent := filepath.Join(filepath.Dir(r.Slipway), "slipway-node")
	for _, args := range [][]string{{"provision"}, {"status", "--drift"}} {
		args = append(args, "--root", root, "--log-level", "error")
		if out, err := exec.CommandContext(ctx, agent, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("slipway-node %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	left, err := exec.CommandContext(ctx, "find", root, "-xdev", "-name", "*.slipway-tmp").CombinedOutput()
	if err != nil {
		return fmt.Errorf("find %s: %w: %s", root, err, left)
	}
	if len(left) > 0 {
		return fmt.Errorf("temporary files are left behind: %s", left)
	}
	if !holds(root, joinCredential) && (!holds(root, ownCertificate) || !holds(root, ownKubeconfig)) {
		return errors.New("the kubelet can never start: it has nothing to join with, and not all that it needs when it has joined")
	}
	return nil
}

// holds reports whether a tree has a file that is not empty, or a link to one.
func holds(root, name string) bool {
	for range 8 {
		target, err := os.Readlink(filepath.Join(root, name))
		if err != nil {
			info, err := os.Stat(filepath.Join(root, name))
			return err == nil && info.Size() > 0
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(name), target)
		}
		name = target
	}
	return false
}

// recover starts a machine from a disk and waits until its Node is Ready.
func (r *caseRun) recover(ctx context.Context, m lab.Machine, disk string) error {
	r.node.stop()
	if err := r.forgetNode(ctx); err != nil {
		return err
	}
	m.Disk = disk
	r.node = watchNode(ctx, r.Lab.API, newNode(r.names))
	vm, err := r.Lab.Boot(ctx, m)
	if err != nil {
		return err
	}
	r.vm = vm
	if err := r.provisionWait(ctx, waitArgs{}); err != nil {
		return err
	}
	return r.ready(ctx, readyArgs{})
}

// joinCredential is gone if ownCertificate and ownKubeconfig exist. The kubelet syncs neither of them.
const (
	joinCredential = "/var/lib/kubelet/bootstrap-kubeconfig"
	ownCertificate = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	ownKubeconfig  = "/var/lib/kubelet/kubeconfig"
)

// checkMarker checks that a disk with a marker of success has the files that belong to the success.
func checkMarker(ctx context.Context, disk string) (marked bool, err error) {
	marker, err := parts.ReadDisk(ctx, disk, "stat /opt/azure/containers/provision.complete")
	if err != nil || !strings.Contains(marker, "Inode:") {
		return false, err
	}
	result, err := parts.ReadDisk(ctx, disk, "cat /var/log/azure/aks/provision.json")
	if err != nil {
		return true, err
	}
	document, err := status.ParseCSE([]byte(result))
	if err != nil {
		return true, fmt.Errorf("the disk has a marker, and no result: %w: %q", err, result)
	}
	if document.ExitCode != "0" {
		return false, nil // the marker is of a failure
	}
	text, err := parts.ReadDisk(ctx, disk, "cat /var/lib/slipway/status.json")
	if err != nil {
		return true, err
	}
	last, err := status.Parse([]byte(text))
	if err != nil {
		return true, fmt.Errorf("the disk has a marker, and no status: %w: %q", err, text)
	}
	var missing []string
	for _, change := range last.Changes {
		path, isFile := strings.CutPrefix(change.ID, "File:")
		if !isFile {
			continue
		}
		stat, err := parts.ReadDisk(ctx, disk, "stat "+path)
		if err != nil {
			return true, err
		}
		if sizeOf(stat) > 0 {
			continue
		}
		if own, err := joined(ctx, disk); err != nil {
			return true, err
		} else if path != joinCredential || !own {
			missing = append(missing, path)
		}
	}
	if missing != nil {
		return true, fmt.Errorf("the disk has a marker of success, and lacks %q", missing)
	}
	return true, nil
}

// joined reports whether a disk has the files of a kubelet that has joined. For the certificate only the link counts here, which is
// as large as its target's name. The target is checked after the agent's run.
func joined(ctx context.Context, disk string) (bool, error) {
	for _, path := range []string{ownCertificate, ownKubeconfig} {
		stat, err := parts.ReadDisk(ctx, disk, "stat "+path)
		if err != nil || sizeOf(stat) == 0 {
			return false, err
		}
	}
	return true, nil
}

// sizeOf parses a file's size in debugfs's output. It is 0 if the file is missing or empty.
func sizeOf(stat string) int {
	// "User:     0   Group:     0   Project:     0   Size: 2048"; a line about fragments has a size as well.
	for line := range strings.Lines(stat) {
		if !strings.HasPrefix(line, "User:") {
			continue
		}
		_, text, _ := strings.Cut(line, "Size:")
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			return n
		}
	}
	return 0
}
