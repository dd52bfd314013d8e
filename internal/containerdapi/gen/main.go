// Command gen writes table.txt: which plug-ins each minor release of containerd registers, and which keys its configuration has. It
// builds a small program with containerd's own packages, which the Go module proxy serves, and that program prints the types that
// containerd decodes its configuration into.
//
//	go generate ./internal/containerdapi    # after a line is added to releases; builds each of them
package main

import (
	"bytes"
	_ "embed" // the programs
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// releases are the newest patch of each minor release: a patch may add a key and removes none.
var releases = []string{"1.7.35", "2.0.14", "2.1.9", "2.2.9", "2.3.7", "2.4.2"}

// The program is the same for all releases, except where its packages are.
var (
	//go:embed walk.go.txt
	walk []byte
	//go:embed registry1.go.txt
	registry1 []byte
	//go:embed registry2.go.txt
	registry2 []byte
)

func main() {
	log.SetFlags(0)
	if err := run("table.txt"); err != nil {
		log.Fatal(err)
	}
}

func run(out string) error {
	t := &table{plugins: make(map[string]map[string][]int)}
	for i, release := range releases {
		log.Printf("containerd %s", release)
		lines, err := registered(release)
		if err != nil {
			return fmt.Errorf("%s: %w", release, err)
		}
		for line := range strings.Lines(lines) {
			plugin, key, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			t.add(plugin, strings.TrimSpace(strings.ReplaceAll(key, "\t", " ")), i)
		}
	}
	return os.WriteFile(out, t.bytes(), 0o644)
}

// registered is what the program prints: a line for each plug-in and key, of plug-in, key and kind.
func registered(release string) (string, error) {
	dir, err := os.MkdirTemp("", "containerdapi")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	module, registry := "github.com/containerd/containerd/v2", registry2
	if strings.HasPrefix(release, "1.") {
		module, registry = "github.com/containerd/containerd", registry1
	}
	for name, content := range map[string][]byte{
		"go.mod":      fmt.Appendf(nil, "module registered\n\ngo 1.26.0\n\nrequire %s v%s\n", module, release),
		"walk.go":     walk,
		"registry.go": registry,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return "", err
		}
	}
	if _, err := goCommand(dir, "mod", "tidy"); err != nil {
		return "", err
	}
	return goCommand(dir, "run", ".")
}

func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off", "CGO_ENABLED=0")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, problem.Bytes())
	}
	return string(output), nil
}

// table has the releases of each key, by plug-in and by the key with its kind. A plug-in itself has the key "".
type table struct{ plugins map[string]map[string][]int }

func (t *table) add(plugin, key string, release int) {
	if t.plugins[plugin] == nil {
		t.plugins[plugin] = make(map[string][]int)
	}
	if of := t.plugins[plugin][key]; len(of) == 0 || of[len(of)-1] != release {
		t.plugins[plugin][key] = append(of, release)
	}
}

// bytes writes the table: a section for each plug-in, with the releases that have it, and a line for each key, with its kind and with
// the releases that have it where these are not all of the plug-in's.
func (t *table) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "releases %s\n", strings.Join(releases, " "))
	for _, plugin := range slices.Sorted(maps.Keys(t.plugins)) {
		keys := t.plugins[plugin]
		whole := span(keys[""])
		fmt.Fprintf(&b, "[%s]%s\n", plugin, whole)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if key == "" {
				continue
			}
			of := span(keys[key])
			if of == whole {
				of = ""
			}
			b.WriteString(key + of + "\n")
		}
	}
	return b.Bytes()
}

// span is the range of releases, by their minor versions. A release between two of them that lacks the key is an error in the making of
// the table, because containerd never removed a key and added it again.
func span(of []int) string {
	if of[len(of)-1]-of[0] != len(of)-1 {
		log.Fatalf("a key that was removed and added again: releases %v", of)
	}
	return " " + minor(releases[of[0]]) + "-" + minor(releases[of[len(of)-1]])
}

func minor(release string) string { return release[:strings.LastIndexByte(release, '.')] }
