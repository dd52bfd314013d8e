package stability

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/test/script"
)

const (
	root    = "../.."
	records = "testdata/records"
)

// bin has the programs of this checkout.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "stability")
		if err == nil {
			defer os.RemoveAll(dir)
			err = build(root, dir, "dev")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		bin = dir
		return m.Run()
	}())
}

var current = sync.OnceValues(func() (*Record, error) { return Current(root, bin) })

// checkout is the record of this checkout. Its facts are not to be changed.
func checkout(t *testing.T) *Record {
	t.Helper()
	r, err := current()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func releases(t *testing.T) []string {
	t.Helper()
	versions, err := Releases(records)
	if err != nil || len(versions) == 0 {
		t.Fatalf("no release is recorded: %v", err)
	}
	return versions
}

// TestNoUnnamedBreak compares this checkout with the last release.
func TestNoUnnamedBreak(t *testing.T) {
	versions := releases(t)
	last := versions[len(versions)-1]
	old, err := Read(filepath.Join(records, last))
	if err != nil {
		t.Fatal(err)
	}
	breaks, err := Compare(root, old, checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	if unnamed := Unnamed(string(changelog), breaks); len(unnamed) > 0 {
		var report, lines strings.Builder
		for _, b := range unnamed {
			fmt.Fprintf(&report, "\n%s: %s", b.ID, b.What)
			fmt.Fprintf(&lines, "\n* `%s`: why, and what to do instead", b.ID)
		}
		t.Errorf("%d changes break users of %s:%s\n\nAvoid them (docs/stability.md). Or name them in CHANGELOG.md, below \"## Unreleased\", as\n\n### Breaking\n%s\n\n"+
			"If %[2]s has no tag yet, make stability-record VERSION=%[2]s writes its record again.", len(unnamed), last, &report, &lines)
	}
}

// TestFixturesOfEachRelease reads what each release has written, with the programs of this checkout.
func TestFixturesOfEachRelease(t *testing.T) {
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, version := range releases(t) {
		t.Run(version, func(t *testing.T) { script.Run(t, filepath.Join(records, version, Fixtures)) })
	}
}
