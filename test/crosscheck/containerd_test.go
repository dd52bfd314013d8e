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
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/toml"
)

// containerds are the modules of the containerd versions with different versions of the configuration, by the latter.
var containerds = map[int64]string{2: "containerd1", 3: "containerd"}

// configOf finds containerd's configuration in the tree of a case, and specOf its containers' base specification.
var (
	configOf = regexp.MustCompile(`(?ms)^== \d+ /etc/containerd/config\.toml\n(.*?)^== `)
	specOf   = regexp.MustCompile(`(?ms)^== \d+ /etc/containerd/base-runtime-spec\.json\n(.*?)^== `)
)

// needless are plug-ins that containerd may lack, because they need something that not every machine has.
var needless = regexp.MustCompile(`snapshotter\.v1\.(erofs|btrfs|zfs|devmapper|blockfile|aufs)|tracing|otlp|imageverifier|nri|differ\.v1\.erofs`)

// takesGoldenConfigs starts each version of containerd on every configuration of the golden cases for it. Each loads it completely:
// no plug-in fails, the CRI plug-in runs, and no setting is unknown.
func takesGoldenConfigs(t *testing.T, programs map[string]string) {
	// An image for Kata has this program, and the test's machine may not.
	tools := t.TempDir()
	if err := os.WriteFile(filepath.Join(tools, "mkfs.erofs"), []byte("#!/bin/sh\necho ' --tar=X'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	trees, err := filepath.Glob("../cases/*/want.tree")
	if err != nil {
		t.Fatal(err)
	}
	seen, started := make(map[string]bool), 0
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
		name := filepath.Base(filepath.Dir(path))
		config, err := toml.Parse(string(found[1]))
		if err != nil {
			t.Logf("%s is shown without its secrets: %v", name, err)
			continue
		}
		if spec := specOf.FindSubmatch(content); spec != nil {
			placeSpec(t, config, spec[1])
		}
		for version, dir := range programs {
			first := strings.HasPrefix(version, "1.")
			if first != (config.Get("version") == int64(2)) || len(containerdapi.Of(version).Check(config)) > 0 {
				continue // it is for another version
			}
			started++
			output, runs := startAndAsk(t, dir, tools, config)
			if !runs {
				t.Errorf("%s, containerd %s: the CRI plug-in does not run:\n%s", name, version, output)
			}
			for line := range strings.Lines(output) {
				failed := strings.Contains(line, "failed to load plugin") || strings.Contains(line, "nknown key")
				if failed && !needless.MatchString(line) {
					t.Errorf("%s, containerd %s: %s", name, version, line)
				}
			}
		}
	}
	if len(seen) < 12 || started < 12*len(programs)/2 {
		t.Errorf("only %d configurations, %d times", len(seen), started)
	}
	t.Logf("%d configurations, started with %d times", len(seen), started)
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

// startContainerd starts containerd in a separate directory, and calls ask when it is ready. It returns the output after containerd
// has ended.
func startContainerd(t *testing.T, program, tools string, config *toml.Table, ask func(socket string)) string {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "sock")
	config = config.Copy()
	config.Set(filepath.Join(dir, "root"), "root")
	config.Set(filepath.Join(dir, "state"), "state")
	config.Set(socket, "grpc", "address")
	if plugin := []string{"plugins", "io.containerd.server.v1.grpc"}; config.Get(plugin...) != nil {
		config.Set(socket, append(plugin, "address")...) // then this one counts
	}
	config.Set("", "metrics", "address")
	config.Set("info", "debug", "level") // it logs when it is ready
	config.Set(int64(0), "oom_score")
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, config.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ready := make(chan struct{})
	output := &watching{until: []byte("containerd successfully booted"), then: sync.OnceFunc(func() { close(ready) })}
	cmd := exec.CommandContext(ctx, program, "-c", path)
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its output has the rest
		close(ended)
	}()
	select {
	case <-ready:
		ask(socket)
		cancel()
		<-ended
	case <-ended:
	}
	return output.written.String()
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
