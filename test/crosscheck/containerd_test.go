//go:build crosscheck

package crosscheck

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/toml"
)

// containerds are the containerd versions, each with a different version of the configuration, by the latter.
var containerds = map[int64]string{2: "containerd1", 3: "containerd"}

// configOf finds containerd's configuration in the tree of a case, and specOf its containers' base specification.
var (
	configOf = regexp.MustCompile(`(?ms)^== \d+ /etc/containerd/config\.toml\n(.*?)^== `)
	specOf   = regexp.MustCompile(`(?ms)^== \d+ /etc/containerd/base-runtime-spec\.json\n(.*?)^== `)
)

// needless are plug-ins that containerd may lack, because they need something that not every machine has.
var needless = regexp.MustCompile(`snapshotter\.v1\.(erofs|btrfs|zfs|devmapper|blockfile|aufs)|tracing|otlp|imageverifier|nri|differ\.v1\.erofs`)

// TestContainerdConfigs starts both versions of containerd on every configuration of the golden cases. Each loads it completely: no
// plug-in fails, especially not the CRI's, and no setting is unknown.
func TestContainerdConfigs(t *testing.T) {
	dir := t.TempDir()
	for _, module := range containerds {
		build := exec.Command("go", "build", "-C", "../e2e/modules/"+module, "-o", filepath.Join(dir, module)+"/", "tool")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", module, err, out)
		}
	}
	// An image for Kata has this program, and the test's machine may not.
	tools := filepath.Join(dir, "tools")
	if err := os.Mkdir(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "mkfs.erofs"), []byte("#!/bin/sh\necho ' --tar=X'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	trees, err := filepath.Glob("../cases/*/want.tree")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, path := range trees {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := configOf.FindSubmatch(content)
		if found == nil || seen[string(found[1])] {
			continue
		}
		seen[string(found[1])] = true
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			config, err := toml.Parse(string(found[1]))
			if err != nil {
				t.Skip("is shown without its secrets: ", err)
			}
			if spec := specOf.FindSubmatch(content); spec != nil {
				placeSpec(t, config, spec[1])
			}
			version, _ := config.Get("version").(int64)
			output := startContainerd(t, filepath.Join(dir, containerds[version], "containerd"), tools, config)
			if !strings.Contains(output, "containerd successfully booted") {
				t.Fatalf("does not start:\n%s", output)
			}
			for line := range strings.Lines(output) {
				failed := strings.Contains(line, "failed to load plugin") || strings.Contains(line, "nknown key")
				if failed && !needless.MatchString(line) {
					t.Error(line)
				}
			}
		})
	}
	if len(seen) < 12 {
		t.Errorf("only %d configurations", len(seen))
	}
	broken, err := toml.Parse("version = 3\ndisabled_plugins = 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if output := startContainerd(t, filepath.Join(dir, "containerd", "containerd"), tools, broken); strings.Contains(output, "successfully booted") {
		t.Error("a wrong configuration is not noticed")
	}
}

// placeSpec makes containerd use the specification of a case, which it reads at its start.
func placeSpec(t *testing.T, config *toml.Table, spec []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(path, spec, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{concern.CRI1, concern.CRI2Runtime} {
		runtimes, _ := config.Get("plugins", plugin, "containerd", "runtimes").(*toml.Table)
		if runtimes == nil {
			continue
		}
		for _, runtime := range runtimes.All() {
			if r, ok := runtime.(*toml.Table); ok && r.Get("base_runtime_spec") != nil {
				r.Set(path, "base_runtime_spec")
			}
		}
	}
}

// startContainerd starts containerd in a separate directory until it is ready or has ended, and returns its output.
func startContainerd(t *testing.T, program, tools string, config *toml.Table) string {
	t.Helper()
	dir := t.TempDir()
	config.Set(filepath.Join(dir, "root"), "root")
	config.Set(filepath.Join(dir, "state"), "state")
	config.Set(filepath.Join(dir, "sock"), "grpc", "address")
	config.Set("", "metrics", "address")
	config.Set("info", "debug", "level") // it logs when it is ready
	config.Set(int64(0), "oom_score")
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, config.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ready := &watching{until: []byte("containerd successfully booted"), then: cancel}
	cmd := exec.CommandContext(ctx, program, "-c", path)
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = ready, ready
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	_ = cmd.Run() // it is ended when it is ready; its output has the rest
	return ready.written.String()
}

// watching keeps the written text, and calls a function when a given text was written.
type watching struct {
	written bytes.Buffer
	until   []byte
	then    func()
}

func (w *watching) Write(p []byte) (int, error) {
	n, err := w.written.Write(p)
	if bytes.Contains(w.written.Bytes(), w.until) {
		w.then()
	}
	return n, err
}
