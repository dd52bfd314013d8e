package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A bundle whose disk becomes full while it is written goes on in memory, complete.
func TestSpoolOnFullDisk(t *testing.T) {
	full := t.TempDir()
	if err := syscall.Mount("tmpfs", full, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("needs a file system that is full: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(full, 0); err != nil {
			t.Error(err)
		}
	})
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<14)
	for _, memory := range []string{"", filepath.Join(t.TempDir(), "run", "bundle")} {
		s, err := newSpool(filepath.Join(full, "bundle"), memory)
		if err != nil {
			t.Fatal(err)
		}
		for begin := 0; begin < len(data) && err == nil; begin += 10_000 {
			_, err = s.Write(data[begin:min(len(data), begin+10_000)])
		}
		if memory == "" {
			if s.Discard(); err == nil {
				t.Error("a full disk is no error")
			}
			continue
		}
		if err == nil {
			err = s.Commit()
		}
		got, readErr := os.ReadFile(memory)
		if err != nil || readErr != nil || !bytes.Equal(got, data) || s.Path() != memory || s.size != int64(len(data)) {
			t.Errorf("%v, %v: %d bytes of %d", err, readErr, len(got), len(data))
		}
	}
	if left, err := filepath.Glob(full + "/.bundle*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
