package classic

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// tree is a tree as the agent leaves it: files with their modes, the kubelet's link, and a status.
func tree(t *testing.T, files map[string]os.FileMode, more ...string) string {
	t.Helper()
	root := t.TempDir()
	changes := []string{`{"id":"Symlink:/opt/bin/kubelet","action":"created"}`}
	for _, id := range more {
		changes = append(changes, `{"id":"`+id+`","action":"created"}`)
	}
	for path, mode := range files {
		changes = append(changes, `{"id":"File:`+path+`","action":"created"}`)
		name := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("content of "+path+"\n'$(x)'"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"opt/bin", "var/lib/slipway"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/opt/bin/kubelet-1.36.3", filepath.Join(root, "opt/bin/kubelet")); err != nil {
		t.Fatal(err)
	}
	document := `{"apiVersion":"slipway.dev/v1","kind":"ProvisionStatus","outcome":"success","changes":[` + strings.Join(changes, ",") + `]}`
	if err := os.WriteFile(filepath.Join(root, "var/lib/slipway/status.json"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

// scripts are those that a cloud-config writes, by name.
func scripts(t *testing.T, customData []byte) (files map[string]string, runs [][]string) {
	t.Helper()
	var config struct {
		Files []struct{ Path, Permissions, Owner, Encoding, Content string } `yaml:"write_files"`
		Runs  [][]string                                                     `yaml:"runcmd"`
	}
	if !bytes.HasPrefix(customData, []byte("#cloud-config\n")) {
		t.Errorf("custom data begins with %q", customData[:20])
	}
	if err := yaml.Unmarshal(customData, &config); err != nil {
		t.Fatal(err)
	}
	files = make(map[string]string)
	for _, f := range config.Files {
		packed, err := base64.StdEncoding.DecodeString(f.Content)
		if err != nil || f.Encoding != "gz+b64" || f.Permissions != "0744" {
			t.Errorf("%s is %s, %s: %v", f.Path, f.Encoding, f.Permissions, err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(f.Path)] = string(plain)
	}
	return files, config.Runs
}

func TestScriptsWriteTheFiles(t *testing.T) {
	files := map[string]os.FileMode{
		"/etc/containerd/config.toml": 0o644, "/etc/sysctl.d/99-force-bridge-forward.conf": 0o644, "/etc/sysctl.d/999-sysctl-aks.conf": 0o644,
		"/etc/kubernetes/azure.json": 0o600, "/etc/kubernetes/certs/ca.crt": 0o600, "/var/lib/kubelet/bootstrap-kubeconfig": 0o600,
		"/etc/systemd/system/kubelet.service.d/10-tlsbootstrap.conf": 0o600, "/etc/modules-load.d/slipway.conf": 0o644,
	}
	root := tree(t, files, "Module:overlay", "Directory:/opt/cni/bin", "Unit:kubelet.service", "File:/etc/systemd/system/slipway-gpu-partitions.service")
	node, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	customData, err := CustomData(node, "10.77.0.1")
	if err != nil {
		t.Fatal(err)
	}
	written, runs := scripts(t, customData)
	if len(written) != 3 || len(runs) != 1 || !slices.Equal(runs[0], []string{"/bin/bash", scriptDir + "provision_start.sh"}) {
		t.Fatalf("custom data writes %d scripts and runs %q", len(written), runs)
	}
	for name, text := range written {
		if out, err := exec.Command("bash", "-n", "-c", text).CombinedOutput(); err != nil {
			t.Errorf("%s is no script: %v: %s", name, err, out)
		}
	}
	// The steps are for a machine; the functions that write files are not.
	functions, _, found := strings.Cut(written["provision.sh"], steps)
	if !found {
		t.Fatal("the script has no steps")
	}
	_, functions, _ = strings.Cut(functions, "provision_source.sh\n")
	into := t.TempDir()
	script := functions + "\nwrite_file() { mkdir -p \"$into${2%/*}\"; base64 -d >\"$into$2\"; chmod $1 \"$into$2\"; }\n" +
		"write_modules; write_containerd; write_sysctl; write_kubelet_unit; write_azure; write_authority; write_kubelet\n" +
		"test \"$kubelet ${modules[*]} ${directories[*]}\" = '/opt/bin/kubelet-1.36.3 overlay /opt/cni/bin'"
	cmd := exec.Command("bash", "-eu", "-c", script)
	cmd.Env = append(os.Environ(), "into="+into)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the script fails: %v: %s", err, out)
	}
	for path, mode := range files {
		want, _ := os.ReadFile(filepath.Join(root, path))
		got, err := os.ReadFile(filepath.Join(into, path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is %q, %v, want %q", path, got, err, want)
			continue
		}
		if info, err := os.Stat(filepath.Join(into, path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v, want %o", path, info.Mode(), err, mode)
		}
	}
}

func TestFileThatNoStepWrites(t *testing.T) {
	node, err := Read(tree(t, map[string]os.FileMode{"/srv/new.conf": 0o644}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CustomData(node, "10.77.0.1"); err == nil || !strings.Contains(err.Error(), "/srv/new.conf") {
		t.Errorf("a file that no step writes: %v", err)
	}
}

func TestTreeThatIsNoNode(t *testing.T) {
	root := tree(t, nil)
	if err := os.Remove(filepath.Join(root, "opt/bin/kubelet")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, t.TempDir()} {
		if _, err := Read(dir); err == nil {
			t.Errorf("%s passes for a node", dir)
		}
	}
}
