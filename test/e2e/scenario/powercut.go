package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// size is how large the block log was at a time.
type size struct {
	at    time.Time
	bytes int64
}

// watchLog notes how the machine's block log grows, until ctx is done: the log itself has no times.
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

// sizeAt is how large the log was, at least, at a time.
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

// spread chooses n of a list, the first and the last among them, evenly.
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
	// Cuts is at how many flushes between the agent's start and the Node's being Ready.
	Cuts int `yaml:"cuts"`
	// Within is how long each machine may take from its start until its Node is Ready.
	Within time.Duration `yaml:"within"`
}

// powerCuts rebuilds the recorded machine's disk as power cuts at several flushes would have left it,
// and starts a machine from each: it must become a node. Each second disk holds some of the writes
// after the flush as well, for a disk may write early.
func (r *caseRun) powerCuts(ctx context.Context, args powerCutArgs) error {
	if !r.vm.Record || r.events == nil {
		return errors.New("want a boot with record, and ready, before")
	}
	if err := r.vm.Quit(ctx); err != nil {
		return err
	}
	log, file, err := lab.OpenBlockLog(r.vm.BlockLogPath())
	if err != nil {
		return err
	}
	defer file.Close()
	at := make(map[string]time.Time)
	for _, e := range r.events {
		at[e.Name] = r.vm.Started.Add(time.Duration(e.At * float64(time.Second)))
	}
	r.growthMu.Lock()
	from, to := sizeAt(r.growth, at["agent start"]), sizeAt(r.growth, at["Node Ready"])
	r.growthMu.Unlock()
	flushes := log.Flushes(from, to)
	if len(flushes) < args.Cuts {
		return fmt.Errorf("there are %d flushes from the agent's start to the Node's being Ready, want at least %d", len(flushes), args.Cuts)
	}
	recorded := r.vm.Machine
	path := filepath.Join(recorded.Dir, "cut.img")
	defer os.Remove(path)
	if err := lab.CopyDisk(ctx, recorded.Disk, path); err != nil {
		return err
	}
	disk, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer disk.Close()
	done, undo := 0, func() error { return nil }
	for i, flush := range spread(flushes, args.Cuts) {
		// The last machine reads the disk until it has no power.
		r.vm.Stop()
		if err := undo(); err != nil {
			return err
		}
		if err := log.Replay(disk, done, flush); err != nil {
			return err
		}
		done = flush + 1
		early := func(n int) bool { return i%2 == 1 && n%2 == 0 }
		if undo, err = log.ReplayEarly(disk, flush, early); err != nil {
			return err
		}
		marked, err := r.recover(ctx, recorded, path, args.Within)
		if err != nil {
			return fmt.Errorf("power cut at flush %d of the log's %d entries: %w", flush, len(log.Entries), err)
		}
		r.Log.Info("recovered", "case", r.Name, "cut", i+1, "entry", flush, "of", len(log.Entries), "marked", marked,
			"seconds", fmt.Sprintf("%.1f", time.Since(r.vm.Started).Seconds()))
	}
	return nil
}

// recover checks a disk that a power cut has left, starts a machine from it and waits until its Node is
// Ready. marked tells whether the disk holds a success.
func (r *caseRun) recover(ctx context.Context, m lab.Machine, disk string, within time.Duration) (marked bool, err error) {
	undo, err := lab.ReplayJournal(ctx, disk)
	if err != nil {
		return false, err
	}
	marked, err = checkMarker(ctx, disk)
	if err := errors.Join(err, undo()); err != nil {
		return marked, err
	}
	r.node.stop()
	if err := r.forgetNode(ctx); err != nil {
		return marked, err
	}
	m.Disk, m.Record = disk, false
	r.node = watchNode(ctx, r.Lab.API, "")
	vm, err := r.Lab.Boot(ctx, m)
	if err != nil {
		return marked, err
	}
	r.vm = vm
	if err := r.provisionWait(ctx, waitArgs{Within: within}); err != nil {
		return marked, err
	}
	return marked, r.ready(ctx, readyArgs{Within: within})
}

// checkMarker checks a disk that has a marker of success for what goes with it.
func checkMarker(ctx context.Context, disk string) (marked bool, err error) {
	marker, err := lab.ReadDisk(ctx, disk, "stat /opt/azure/containers/provision.complete")
	if err != nil || !strings.Contains(marker, "Inode:") {
		return false, err
	}
	result, err := lab.ReadDisk(ctx, disk, "cat /var/log/azure/aks/provision.json")
	if err != nil {
		return true, err
	}
	document, err := status.ParseCSE([]byte(result))
	if err != nil {
		return true, fmt.Errorf("the disk has a marker, and no result: %w: %q", err, result)
	}
	if document.ExitCode != "0" {
		return false, nil // a marker of failure
	}
	text, err := lab.ReadDisk(ctx, disk, "cat /var/lib/slipway/status.json")
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
		stat, err := lab.ReadDisk(ctx, disk, "stat "+path)
		if err != nil {
			return true, err
		}
		if sizeOf(stat) == 0 {
			missing = append(missing, path)
		}
	}
	if missing != nil {
		return true, fmt.Errorf("the disk has a marker of success, and lacks %q", missing)
	}
	return true, nil
}

// sizeOf reads a file's size from what debugfs says of it: 0 where there is none, or it is empty.
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
