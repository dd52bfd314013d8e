package integrity_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// tree is a machine with files, by path; a content that begins with "-> " is a link.
func tree(t *testing.T, files map[string]string) *rootfs.Tree {
	t.Helper()
	root := hosttest.TempDir(t)
	for path, content := range files {
		err := os.MkdirAll(filepath.Dir(root+path), 0o755)
		if err != nil {
			t.Fatal(err)
		}
		if target, link := strings.CutPrefix(content, "-> "); link {
			err = os.Symlink(target, root+path)
		} else {
			err = os.WriteFile(root+path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tree, err := rootfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// found are findings, "path class" each.
func found(t *testing.T, files integrity.Files, plan resource.Plan) []string {
	t.Helper()
	node := integrity.Of(plan)
	list, err := integrity.Find(files, &node)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, f := range list {
		words = append(words, fmt.Sprint(f.Path, " ", []string{"counted", "image", "noted"}[f.Class]))
	}
	return words
}

func planOf(specs ...resource.Spec) resource.Plan {
	var p resource.Plan
	for _, spec := range specs {
		p.Resources = append(p.Resources, resource.Resource{Spec: spec})
	}
	return p
}

// The file of a unit that the node starts and did not bring is the image's, wherever the image has it.
func TestUnitOfTheImage(t *testing.T) {
	p := planOf(&resource.Unit{Unit: "containerd.service"})
	for path, want := range map[string]string{
		"/usr/lib/systemd/system/containerd.service":                             "",
		"/usr/local/lib/systemd/system/containerd.service":                       "image",
		"/etc/systemd/system/containerd.service":                                 "image",
		"/etc/systemd/system/multi-user.target.wants/containerd.service":         "image",
		"/run/systemd/generator/containerd.service":                              "image",
		"/run/systemd/transient/containerd.service":                              "counted",
		"/usr/lib/systemd/system/containerd.service.d/10-limits.conf":            "",
		"/usr/lib/systemd/system/containerd.service.wants/other.service":         "image",
		"/etc/systemd/system/containerd.service.wants/other.service":             "counted",
		"/run/systemd/generator.late/multi-user.target.wants/containerd.service": "",
	} {
		got := found(t, tree(t, map[string]string{path: "[Service]\nLimitNOFILE=5\n"}), p)
		if wanted := strings.TrimSpace(path + " " + want); want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{wanted}) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A node's flags, configuration and units name the directories and files that its programs read.
func TestPlacesOfANode(t *testing.T) {
	p := planOf(
		&resource.File{Path: "/etc/systemd/system/kubelet.service", Content: []byte("[Service]\nEnvironmentFile=-/etc/default/kubelet\nEnvironmentFile=/run/slipway/node.env\n")},
		&resource.Unit{Unit: "containerd.service"},
		&resource.File{Path: "/etc/containerd/config.toml", Content: []byte("version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n")},
		&resource.File{Path: "/etc/cni/net.d/10-own.conflist"},
	)
	p.Node.Argue("config-dir", "/etc/kubelet.d", "")
	p.Node.Argue("volume-plugin-dir", "/opt/volumes", "")
	p.Node.Runtime = map[string]string{"registry.config_path": "/etc/a:/etc/b"}
	files := map[string]string{
		"/etc/default/kubelet":                 "A='-v'\n",
		"/run/slipway/node.env":                "A=b\n",
		"/etc/kubelet.d/10-a.conf":             "{}",
		"/etc/kubelet.d/README":                "",
		"/opt/volumes/a~b/b":                   "",
		"/etc/containerd/conf.d/99-x.toml":     "",
		"/etc/a/docker.io/hosts.toml":          "",
		"/etc/b/_default/hosts.toml":           "",
		"/etc/containerd/certs.d/x/hosts.toml": "",
		"/etc/cni/net.d/05-a.conf":             `{"name":"a","type":"bridge"}`,
		"/etc/kubernetes/manifests/a.yaml":     "", // the kubelet has no directory of static pods
	}
	want := []string{
		"/etc/a/docker.io/hosts.toml counted", "/etc/b/_default/hosts.toml counted", "/etc/cni/net.d/05-a.conf noted",
		"/etc/containerd/conf.d/99-x.toml counted", "/etc/default/kubelet counted", "/etc/kubelet.d/10-a.conf counted", "/opt/volumes/a~b/b noted",
	}
	if got := found(t, tree(t, files), p); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A contract accepts settings at a path, and no program, unit or mask there.
func TestAcceptedAdditions(t *testing.T) {
	p := planOf(&resource.Unit{Unit: "containerd.service"}, &resource.File{Path: "/etc/cni/net.d/10-own.conflist"})
	p.Node.Additions = []string{"/etc/cni/net.d/05-a.conf", "/etc/containerd/certs.d/", "/etc/systemd/", "/opt/"}
	files := map[string]string{
		"/etc/cni/net.d/05-a.conf":                        `{"name":"a","type":"bridge"}`,
		"/etc/cni/net.d/06-b.conf":                        `{"name":"a","type":"bridge"}`,
		"/etc/containerd/certs.d/docker.io/hosts.toml":    "",
		"/etc/systemd/system/containerd.service.d/a.conf": "[Service]\nExecStart=\n",
		"/run/systemd/system/containerd.service":          "-> /dev/null",
		"/opt/nri/plugins/10-a":                           "",
		"/opt/containerd/bin/runc":                        "",
	}
	want := []string{
		"/etc/cni/net.d/06-b.conf noted", "/etc/systemd/system/containerd.service.d/a.conf counted", "/opt/containerd/bin/runc counted",
		"/opt/nri/plugins/10-a counted", "/run/systemd/system/containerd.service counted",
	}
	if got := found(t, tree(t, files), p); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A program that the agent has brought is compared with the digest that it had then.
func TestProgramThatWasBrought(t *testing.T) {
	d := &resource.Download{Component: "kubelet", Files: []resource.Unpacked{{Name: "kubelet", Members: []string{"kubelet"}}, {Name: "kubectl", Members: []string{"kubectl"}}}}
	const digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	files := tree(t, map[string]string{
		d.Path("kubelet"): "hello", d.Path("kubectl"): "another",
		d.Path(resource.OriginFile): `{"from":"https://x","sizes":{"kubelet":5,"kubectl":7},"digests":{"kubelet":"` + digest + `","kubectl":"` + digest + `"}}`,
	})
	if got, want := found(t, files, planOf(d)), []string{d.Path("kubectl") + " counted"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A directory that is a link in a distribution is no change if the link leads to a directory of the distribution.
func TestLinksOfDistributions(t *testing.T) {
	p := planOf(&resource.Symlink{Path: "/opt/cni/bin/x", Target: "y"}, &resource.File{Path: "/usr/local/bin/x"}, &resource.File{Path: "/var/lib/kubelet/x"})
	files := tree(t, map[string]string{
		"/var/opt/x": "", "/var/usrlocal/x": "", "/data/x": "", "/opt": "-> var/opt", "/usr/local": "-> ../var/usrlocal", "/var/lib/kubelet": "-> /data",
	})
	if got := found(t, files, p); !slices.Equal(got, []string{"/var/lib/kubelet image"}) {
		t.Errorf("%q", got)
	}
	if got := found(t, tree(t, map[string]string{"/data/x": "", "/opt": "-> /data"}), p); !slices.Equal(got, []string{"/opt image"}) {
		t.Errorf("%q", got)
	}
}

// A directory with more entries than are compared is reported, and the look ends.
func TestLargeDirectory(t *testing.T) {
	files := make(map[string]string)
	for i := range 4200 {
		files[fmt.Sprintf("/etc/systemd/system/x%d", i)] = ""
	}
	if got := found(t, tree(t, files), planOf(&resource.Unit{Unit: "kubelet.service"})); !slices.Equal(got, []string{"/etc/systemd/system counted"}) {
		t.Errorf("%q", got)
	}
}

// The documentation has a row for each kind.
func TestKindsAreDocumented(t *testing.T) {
	source, err := os.ReadFile("kinds.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/agentless.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`Kind = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 20 {
		t.Fatalf("kinds.go has %d kinds", len(kinds))
	}
	for _, kind := range kinds {
		if !strings.Contains(string(page), "\n| `"+kind[1]+"` |") {
			t.Errorf("docs/agentless.md has no row for %s", kind[1])
		}
	}
}
