package scenario

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	disk := filepath.Join(recorded.Dir, "cut.img")
	defer os.Remove(disk)
	for i, flush := range spread(flushes, args.Cuts) {
		early := func(n int) bool { return i%2 == 1 && n%2 == 0 }
		marked, err := r.cut(ctx, log, flush, early, recorded.Disk, disk)
		if err == nil {
			err = r.recover(ctx, recorded, disk, args.Within)
		}
		if err != nil {
			return fmt.Errorf("power cut at flush %d of the log's %d entries: %w", flush, len(log.Entries), err)
		}
		r.Log.Info("recovered", "case", r.Name, "cut", i+1, "entry", flush, "of", len(log.Entries), "marked", marked,
			"seconds", fmt.Sprintf("%.1f", time.Since(r.vm.Started).Seconds()))
	}
	return nil
}

// cut makes a disk as a power cut would have left it, and checks that it holds no success whose files
// are missing. marked tells whether it holds a success.
func (r *caseRun) cut(ctx context.Context, log *lab.BlockLog, flush int, early func(int) bool, base, path string) (marked bool, err error) {
	if out, err := exec.CommandContext(ctx, "cp", "--reflink=auto", "--sparse=always", base, path).CombinedOutput(); err != nil {
		return false, fmt.Errorf("copy the disk: %w: %s", err, out)
	}
	disk, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	if err := errors.Join(log.Replay(disk, flush, early), disk.Close()); err != nil {
		return false, err
	}
	// The journal is looked at on a copy, so that the machine finds the disk as it was left.
	check := path + ".check"
	defer os.Remove(check)
	if out, err := exec.CommandContext(ctx, "cp", "--reflink=auto", "--sparse=always", path, check).CombinedOutput(); err != nil {
		return false, fmt.Errorf("copy the disk: %w: %s", err, out)
	}
	out, err := exec.CommandContext(ctx, "e2fsck", "-fy", "-E", "journal_only", check).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		return false, fmt.Errorf("read the disk's journal: %w: %s", err, out)
	}
	return checkMarker(ctx, check)
}

// checkMarker checks a disk that has a marker of success for what goes with it.
func checkMarker(ctx context.Context, disk string) (marked bool, err error) {
	marker, err := debugfs(ctx, disk, "stat /opt/azure/containers/provision.complete")
	if err != nil || !strings.Contains(marker, "Inode:") {
		return false, err
	}
	result, err := debugfs(ctx, disk, "cat /var/log/azure/aks/provision.json")
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
	text, err := debugfs(ctx, disk, "cat /var/lib/slipway/status.json")
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
		stat, err := debugfs(ctx, disk, "stat "+path)
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

// debugfs reads a disk that is not mounted. What is not there is an empty answer.
func debugfs(ctx context.Context, disk, request string) (string, error) {
	cmd := exec.CommandContext(ctx, "debugfs", "-R", request, disk)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("debugfs: %w: %s", err, stderr.String())
	}
	// The first line that it says is its version.
	for lines := bufio.NewScanner(&stderr); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "debugfs ") && !strings.Contains(line, "File not found") {
			return "", fmt.Errorf("debugfs %s: %s", request, line)
		}
	}
	return stdout.String(), nil
}

// recover starts a machine from a disk and waits until its Node is Ready.
func (r *caseRun) recover(ctx context.Context, m lab.Machine, disk string, within time.Duration) error {
	r.vm.Stop()
	r.node.stop()
	if err := r.forgetNode(ctx); err != nil {
		return err
	}
	m.Disk, m.Record = disk, false
	r.node = watchNode(ctx, r.Lab.API, "")
	vm, err := r.Lab.Boot(ctx, m)
	if err != nil {
		return err
	}
	r.vm = vm
	if err := r.provisionWait(ctx, waitArgs{Within: within}); err != nil {
		return err
	}
	return r.ready(ctx, readyArgs{Within: within})
}
