//go:build failpoint

package download_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/image/cache"
	"github.com/slipway-dev/slipway/internal/image/download"
	"github.com/slipway-dev/slipway/internal/image/fault"
	"github.com/slipway-dev/slipway/internal/image/lock"
)

// step fails at one change, and at all later ones if the process dies there.
type step struct {
	at, n int
	dies  bool
	err   error
}

// Before implements failpoint.Point.
func (s *step) Before(m *failpoint.Mutation) failpoint.Fate {
	if m.Kind == string(failpoint.Close) {
		return failpoint.Fate{}
	}
	s.n++
	if s.n == s.at || s.dies && s.n > s.at {
		return failpoint.Fate{Err: s.err, Short: len(m.Data) / 2}
	}
	return failpoint.Fate{}
}

// After implements failpoint.Point.
func (*step) After(*failpoint.Mutation, error) {}

// files are one on a server, one in a directory, and one on a server whose digest is not known before.
func files(t *testing.T) (l *lock.Lock, dir string, client *fetch.Client, url string) {
	t.Helper()
	content := []byte(strings.Repeat("kubelet ", 20_000))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }))
	t.Cleanup(server.Close)
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "runc"), content[:70_000], 0o600); err != nil {
		t.Fatal(err)
	}
	of := func(name, source string, data []byte) lock.Component {
		sum := sha256.Sum256(data)
		digest := hex.EncodeToString(sum[:])
		return lock.Component{Name: name, Kind: "runc", Version: "1", Artifacts: []lock.Artifact{{
			Architecture: "amd64", Sources: []string{source}, SHA256: digest, Size: int64(len(data)),
		}}}
	}
	l = &lock.Lock{Components: []lock.Component{of("kubelet", server.URL+"/kubelet", content), of("runc", "./runc", content[:70_000])}}
	return l, dir, &fetch.Client{Transport: server.Client().Transport}, server.URL + "/unknown"
}

// fetchAll is a run of the program.
func fetchAll(l *lock.Lock, in, dir string, client *fetch.Client, url string) error {
	c, err := cache.Open(context.Background(), in, func() {})
	if err != nil {
		return err
	}
	defer c.Close()
	g := &download.Getter{Client: client, Cache: c, Dir: dir}
	for i := range l.Components { // one after the other, so that each run has the same changes
		one := &lock.Lock{Components: l.Components[i : i+1]}
		if _, err := g.Lock(context.Background(), one, []string{"amd64"}, func(download.Fetched) {}); err != nil {
			return err
		}
	}
	_, err = g.File(context.Background(), download.Wanted{Name: "unknown", Sources: []string{url}, MaxBytes: 1 << 20})
	return err
}

// right wants each file of a cache to have the digest of its name, and returns their number.
func right(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "blobs/sha256/[0-9a-f]*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		sum := sha256.Sum256(data)
		if err != nil || hex.EncodeToString(sum[:]) != filepath.Base(name) {
			t.Errorf("%s: %v, a wrong digest", name, err)
		}
	}
	return len(names)
}

// A process that dies at any change leaves no wrong file, and the next run ends as one that was not interrupted.
func TestDeathAtEachStep(t *testing.T) {
	at := 1
	for ; ; at++ {
		dir := filepath.Join(t.TempDir(), "cache")
		l, from, client, url := files(t)
		point := &step{at: at, dies: true, err: errors.New("dead")}
		failpoint.Set(point)
		err := fetchAll(l, dir, from, client, url)
		failpoint.Set(nil)
		if point.n < at {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		right(t, dir)
		if err := fetchAll(l, dir, from, client, url); err != nil {
			t.Fatalf("after step %d: %v", at, err)
		}
		if n := right(t, dir); n != 2 { // the unknown one is the same file as the first
			t.Errorf("after step %d: %d files", at, n)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*/*/.*"))
		if parts, _ := filepath.Glob(filepath.Join(dir, "parts/*")); err != nil || len(left)+len(parts) > 0 {
			t.Errorf("after step %d: %q and %q are left", at, left, parts)
		}
	}
	t.Logf("%d steps", at-1)
	if at < 20 {
		t.Errorf("only %d steps", at-1)
	}
}

// A disk that is full at any change is an error with the component's name and the next step. It leaves no wrong file and no part.
func TestFullDiskAtEachStep(t *testing.T) {
	for at := 1; ; at++ {
		dir := filepath.Join(t.TempDir(), "cache")
		l, from, client, url := files(t)
		point := &step{at: at, err: fmt.Errorf("%w", unix.ENOSPC)}
		failpoint.Set(point)
		err := fetchAll(l, dir, from, client, url)
		failpoint.Set(nil)
		if point.n < at {
			break
		}
		right(t, dir)
		if failed, ok := errors.AsType[*fault.Error](err); ok && (failed.Component == "" || !strings.Contains(failed.Next, "make room")) {
			t.Errorf("step %d: %v, next %q", at, err, failed.Next)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "blobs/sha256/.*")); err != nil && len(left) > 0 {
			t.Errorf("step %d: %q are left after %v", at, left, err)
		}
		if err := fetchAll(l, dir, from, client, url); err != nil || right(t, dir) != 2 {
			t.Errorf("after step %d: %v", at, err)
		}
	}
}
