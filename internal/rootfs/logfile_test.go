package rootfs

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const logAt = "/var/log/x.log"

// A log does not grow beyond its limit. Every kept record is complete, and the newest are there. If several processes
// write and one is renaming the log, the others write on without waiting.
func TestLogIsBounded(t *testing.T) {
	for _, writers := range []int{1, 4} {
		t.Run(fmt.Sprint(writers), func(t *testing.T) { bounded(t, writers, (36<<10)/writers) })
	}
}

func bounded(t *testing.T, writers, each int) {
	tree, at := newTree(t)
	padding := strings.Repeat("x", 500)
	var wait sync.WaitGroup
	for w := range writers {
		log := tree.LogFile(logAt)
		wait.Go(func() {
			for i := range each {
				fmt.Fprintf(log, "%d %06d %s\n", w, i, padding)
			}
			if n := log.Dropped(); n > 0 {
				t.Errorf("%d records are dropped", n)
			}
		})
	}
	wait.Wait()
	last := make(map[byte]string)
	for _, name := range []string{logAt + ".1", logAt} {
		content, err := os.ReadFile(at(name))
		must(t, err)
		if len(content) == 0 || writers == 1 && len(content) > maxLog {
			t.Errorf("%s has %d bytes", name, len(content))
		}
		for line := range bytes.Lines(content) {
			if len(line) != len(padding)+10 || line[len(line)-1] != '\n' {
				t.Fatalf("%s has %q", name, line)
			}
			last[line[0]] = string(line[2:8])
		}
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if want := fmt.Sprintf("%06d", each-1); len(last) == 0 {
		t.Error("nothing is kept")
	} else if !slices.Contains(slices.Collect(maps.Values(last)), want) {
		t.Errorf("the newest records are %v, want %s", last, want)
	}
	if entries, _ := os.ReadDir(at("/var/log")); len(entries) != 2 {
		t.Errorf("there are %v", entries)
	}
}

// A log that cannot be renamed is still written to, up to the limit of both files, because new records matter more than
// old ones.
func TestLogThatCannotBeRenamed(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.MkdirAll(at(logAt+".1/in/the/way"), 0o755))
	must(t, os.WriteFile(at(logAt), make([]byte, 2*maxLog-15), 0o640))
	log := tree.LogFile(logAt)
	for range 5 {
		fmt.Fprint(log, "record\n")
	}
	content, err := os.ReadFile(at(logAt))
	must(t, err)
	if log.Dropped() != 3 || len(content) != 2*maxLog-1 || !bytes.HasSuffix(content, []byte("record\nrecord\n")) {
		t.Errorf("%d dropped; the log has %d bytes, and ends in %q", log.Dropped(), len(content), content[len(content)-20:])
	}
	// Once the obstacle is gone, it is renamed.
	must(t, os.RemoveAll(at(logAt+".1")))
	fmt.Fprint(log, "record\n")
	if content, err := os.ReadFile(at(logAt)); err != nil || string(content) != "record\n" || log.Dropped() != 3 {
		t.Errorf("%v: %d dropped; the log is %q", err, log.Dropped(), content)
	}
}

// A log that cannot be opened, the first or a new one, is opened again after a while.
func TestLogThatCannotBeOpened(t *testing.T) {
	for name, full := range map[string]bool{"the first": false, "a new one": true} {
		synctest.Test(t, func(t *testing.T) {
			tree, at := newTree(t)
			log := tree.LogFile(logAt)
			record := func(dropped int) {
				t.Helper()
				fmt.Fprint(log, "record\n")
				if log.Dropped() != dropped {
					t.Errorf("%s: %d dropped, want %d", name, log.Dropped(), dropped)
				}
			}
			if full {
				record(0)
				must(t, os.Truncate(at(logAt), maxLog))
				must(t, os.Rename(at(logAt), at(logAt+".old")))
			}
			must(t, os.MkdirAll(at(logAt), 0o755)) // something is in the way
			record(1)
			must(t, os.Remove(at(logAt)))
			record(2)
			time.Sleep(time.Minute)
			record(2)
			if content, err := os.ReadFile(at(logAt)); err != nil || string(content) != "record\n" {
				t.Errorf("%s: %v: the log is %q", name, err, content)
			}
		})
	}
}
