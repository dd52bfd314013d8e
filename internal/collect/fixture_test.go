package collect_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/collect"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

// node is a directory with a journal.
type node struct {
	*host.Directory
	t    *testing.T
	root string
	// journal has records by unit ("--dmesg" for the kernel).
	journal map[string]string
	// hangs, if not nil, is what reading a contract waits for.
	hangs chan struct{}
}

func (n *node) ReadFile(path string, limit int64) ([]byte, error) {
	if n.hangs != nil && path == source.Paths[0] {
		<-n.hangs
	}
	return n.Directory.ReadFile(path, limit)
}

func newNode(t *testing.T) *node {
	t.Helper()
	root := t.TempDir()
	dir, err := host.OpenDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return &node{Directory: dir, t: t, root: root, journal: make(map[string]string)}
}

func (n *node) ReadJournal(_ context.Context, query host.JournalQuery) ([]byte, bool, error) {
	text := n.journal[strings.TrimPrefix(query.Match[0], "--unit=")]
	if int64(len(text)) > query.Limit {
		text = text[int64(len(text))-query.Limit:]
		return []byte(text[strings.IndexByte(text, '\n')+1:]), true, nil
	}
	return []byte(text), false, nil
}

// put writes a file of the machine.
func (n *node) put(path, content string) {
	n.t.Helper()
	path = filepath.Join(n.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// bundle collects and reads the bundle.
func (n *node) bundle(documents ...collect.Document) *supportbundle.Bundle {
	n.t.Helper()
	var out bytes.Buffer
	if err := n.write(n.t.Context(), &out, documents...); err != nil {
		n.t.Fatal(err)
	}
	b, err := supportbundle.Open(&out)
	if err != nil || len(b.Problems) > 0 {
		n.t.Fatal(err, b.Problems)
	}
	return b
}

func (n *node) write(ctx context.Context, out *bytes.Buffer, documents ...collect.Document) error {
	c := &collect.Collector{Machine: n, Documents: documents, Version: "v1", Now: func() time.Time { return start }}
	_, err := c.Write(ctx, out)
	return err
}

// all are the contents of all files, and the manifest.
func all(t *testing.T, b *supportbundle.Bundle) string {
	t.Helper()
	var text strings.Builder
	for _, name := range b.Names() {
		content, _ := b.Read(name)
		text.WriteString("== " + name + "\n")
		text.Write(content)
	}
	for _, f := range b.Manifest.Files {
		text.WriteString(f.Name + f.Source + f.Truncated + "\n")
	}
	for _, m := range b.Manifest.Missing {
		text.WriteString(m.Source + ": " + m.Reason + "\n")
	}
	return text.String()
}

// missing returns why the bundle lacks a source, or "".
func missing(b *supportbundle.Bundle, source string) string {
	for _, m := range b.Manifest.Missing {
		if m.Source == source {
			return m.Reason
		}
	}
	return ""
}

var errBroken = errors.New("broken")
