// Command gen writes table.txt: the kubelet's configuration fields, feature gates and flags, by minor version of Kubernetes. It
// reads them from the source of each version, which the Go module proxy serves, and builds nothing from it.
//
//	go generate ./internal/kubeletapi    # after a line is added to releases; downloads about 40 MB each
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// releases are the versions to read: the newest patch of each minor, because a patch may add a feature gate and removes none. The
// first one is older than the supported ones, so that names that were removed since then are known.
var releases = []string{
	"22.17", "23.17", "24.17", "25.16", "26.15", "27.16", "28.15", "29.15", "30.14", "31.14", "32.13", "33.13", "34.4", "35.4", "36.3", "37.2",
}

func main() {
	log.SetFlags(0)
	if err := run("table.txt"); err != nil {
		log.Fatal(err)
	}
}

func run(out string) error {
	t := newTable()
	for _, release := range releases {
		minor, _, _ := strings.Cut(release, ".")
		log.Printf("Kubernetes 1.%s", release)
		modules, err := download(release)
		if err != nil {
			return err
		}
		s := &source{modules: modules, packages: make(map[string]*pkg)}
		if err := t.read(s, minor); err != nil {
			return fmt.Errorf("1.%s: %w", release, err)
		}
	}
	return os.WriteFile(out, t.bytes(), 0o644)
}

// modules contain the kubelet's configuration, feature gates and flags.
var modules = []string{"kubernetes", "kubelet", "api", "apimachinery", "apiserver", "apiextensions-apiserver", "client-go", "component-base"}

// download returns the directories of a release's modules, by import path.
func download(release string) (map[string]string, error) {
	directories := make(map[string]string)
	for _, name := range modules {
		version := "v0." + release
		if name == "kubernetes" {
			version = "v1." + release
		}
		cmd := exec.Command("go", "mod", "download", "-json", "k8s.io/"+name+"@"+version)
		cmd.Dir = os.TempDir() // outside any module, so that no go.sum of ours is used
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		output, err := cmd.Output()
		var got struct{ Dir, Error string }
		if jsonErr := json.Unmarshal(output, &got); jsonErr != nil || got.Dir == "" {
			return nil, fmt.Errorf("download k8s.io/%s@%s: %s %w", name, version, got.Error, err)
		}
		directories["k8s.io/"+name] = got.Dir
	}
	return directories, nil
}

// directory returns the directory of a package of the release, or "" for a package of another module.
func (s *source) directory(importPath string) string {
	for module, dir := range s.modules {
		if rest, ok := strings.CutPrefix(importPath, module); ok && (rest == "" || rest[0] == '/') {
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
	}
	return ""
}
