package residue

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// fresh is the tree of an image without residue.
func fresh() fstest.MapFS {
	link := func(target string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
	}
	return fstest.MapFS{
		"usr/lib/os-release":                  {Data: []byte("ID=debian\n")},
		"etc/machine-id":                      {},
		"etc/hostname":                        {Data: []byte("localhost\n")},
		"etc/shadow":                          {Data: []byte("root:*:20000:0:99999:7:::\ndaemon:!:20000:0:99999:7:::\n")},
		"etc/ssh/sshd_config":                 {Data: []byte("PermitRootLogin no\n")},
		"etc/apt/sources.list":                {Data: []byte("# deb http://user:secret@mirror.example/ trixie main\ndeb https://deb.debian.org/debian trixie main\n")},
		"etc/ssl/certs/ca-certificates.crt":   {Data: []byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")},
		"opt/slipway/bin/slipway-node":        {Data: []byte("\x7fELF\x00")},
		"var/log/wtmp":                        {},
		"var/lib/cloud/scripts/per-boot/a.sh": {Data: []byte("#!/bin/sh\n")},
		"run/machine.key":                     {Data: []byte("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n")},
		"etc/systemd/system/multi-user.target.wants/slipway-provision.service": link("../slipway-provision.service"),
		"etc/systemd/system/multi-user.target.wants/slipway-provision.path":    link("../slipway-provision.path"),
		"etc/systemd/system/apt-daily.timer":                                   link("/dev/null"),
	}
}

// TestFresh demands that an image without residue has no finding.
func TestFresh(t *testing.T) {
	report, err := Check(context.Background(), fresh())
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("findings %+v, error %v", report.Findings, err)
	}
}

// planted is residue in one file: the file's path, its content, and the rule that finds it. A content of "-" removes the file, and one
// that begins with "->" is the target of a link.
var planted = []struct{ path, content, rule string }{
	{"etc/machine-id", "3a1c0ffee0000000000000000000abcd\n", "machine-id"},
	{"etc/machine-id", "uninitialized\n", "first-boot"},
	{"etc/machine-id", "-", "first-boot"},
	{"var/lib/dbus/machine-id", "3a1c0ffee0000000000000000000abcd\n", "machine-id"},
	{"etc/shadow", "root:$y$j9T$abc$def:20000:0:99999:7:::\n", "passwords"},
	{"etc/shadow", "admin:GBVoxvAXyYPfk:20000:0:99999:7:::\n", "passwords"},
	{"etc/shadow", "root::20000:0:99999:7:::\n", "no-password"},
	{"etc/hostname", "builder-17\n", "host-name"},
	{"etc/slipway/no-provision", "", "agent-forbidden"},
	{"etc/systemd/system/multi-user.target.wants/slipway-provision.path", "-", "agent-not-enabled"},
	{"etc/systemd/system/multi-user.target.wants/slipway-provision.service", "-", "agent-not-enabled"},
	{"etc/systemd/system/slipway-provision.service", "->/dev/null", "masked-units"},
	{"etc/systemd/system/kubelet.service", "->/dev/null", "masked-units"},

	{"etc/ssh/ssh_host_ed25519_key.pub", "ssh-ed25519 AAAA\n", "ssh-host-keys"},
	{"root/.ssh/authorized_keys", "ssh-ed25519 AAAA\n", "ssh-access"},
	{"home/packer/.ssh/authorized_keys", "ssh-ed25519 AAAA\n", "ssh-access"},
	{"home/packer/.ssh/id_rsa", "x", "ssh-private-keys"},
	{"root/.aws/credentials", "x", "login-files"},
	{"root/.kube/cache/discovery/x", "x", "login-files"},
	{"var/lib/systemd/random-seed", "x", "random-seed"},
	{"var/lib/systemd/credential.secret", "x", "systemd-secret"},
	{"var/lib/containerd/io.containerd.grpc.v1.introspection/uuid", "0e2e0e2e-0000-4000-8000-000000000001", "runtime-id"},
	{"etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:1\n", "initiator-names"},
	{"var/lib/cloud/instances/i-1/user-data.txt", "x", "cloud-init-state"},
	{"var/lib/cloud/seed/nocloud/user-data", "x", "cloud-init-state"},
	{"etc/netplan/50-cloud-init.yaml", "x", "cloud-init-network"},
	{"etc/udev/rules.d/70-persistent-net.rules", "x", "interface-names"},
	{"var/lib/waagent/ovf-env.xml", "x", "azure-agent-state"},
	{"var/lib/amazon/ssm/registration", "x", "aws-agent-state"},
	{"etc/instance_id", "1", "google-agent-state"},
	{"var/lib/dhcp/dhclient.eth0.leases", "x", "leases"},
	{"var/lib/NetworkManager/internal-1-eth0.lease", "x", "leases"},
	{"var/lib/kubelet/pki/kubelet-client-current.pem", "x", "kubelet-credentials"},
	{"etc/kubernetes/admin.conf", "x", "kubelet-credentials"},
	{"var/lib/kubelet/pods/1/volumes/x", "x", "node-state"},
	{"var/lib/etcd/member/snap/db", "x", "control-plane-state"},
	{"root/.bash_history", "ls\n", "histories"},
	{"var/log/syslog", "x", "logs"},
	{"tmp/build.sh", "x", "temporary-files"},
	{"var/lib/systemd/coredump/core.1", "x", "crashes"},

	{"etc/pki/tls/node.pem", "text before\n-----BEGIN EC PRIVATE KEY-----\nMHcC\n", "private-keys"},
	{"opt/tool/config", "users:\n- user:\n    client-key-data: LS0t\n", "kubeconfig-credentials"},
	{"etc/join.yaml", "token: abcdef.0123456789abcdef\n", "bootstrap-tokens"},
	{"opt/join.sh", "kubeadm join --token abcdef.0123456789abcdef 10.0.0.1:6443\n", "bootstrap-tokens"},
	{"opt/t", "x eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlc2lnbmF0dXJl\n", "web-tokens"},
	{"etc/aws.env", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7ABCDEFG\n", "aws-keys"},
	{"etc/azure.env", "AccountName=a;AccountKey=" + strings.Repeat("Ab1+", 21) + "==;\n", "azure-keys"},
	{"etc/github", "ghp_" + strings.Repeat("a1", 18) + "\n", "github-tokens"},
	{"opt/registry.json", `{"auths": {"r.example": {"auth": "dXNlcjpwYXNzd29yZA=="}}}`, "registry-logins"},
	{"etc/apt/apt.conf.d/proxy", "Acquire::http::Proxy \"http://user:secret@proxy.example:3128\";\n", "url-passwords"},
	{"etc/containerd/certs.d/r.example/hosts.toml", "[host.\"https://m.example\".header]\n  authorization = \"Basic dXNlcjpwYXNzd29yZA==\"\n", "authorization-headers"},
}

// TestPlanted demands that each residue is found, by the right rule alone, and that no other rule is there.
func TestPlanted(t *testing.T) {
	tried := make(map[string]bool)
	for _, p := range planted {
		tree := fresh()
		switch {
		case p.content == "-":
			delete(tree, p.path)
		case strings.HasPrefix(p.content, "->"):
			tree[p.path] = &fstest.MapFile{Data: []byte(p.content[2:]), Mode: fs.ModeSymlink | 0o777}
		default:
			tree[p.path] = &fstest.MapFile{Data: []byte(p.content)}
		}
		report, err := Check(context.Background(), tree)
		if err != nil {
			t.Errorf("%s: %v", p.path, err)
			continue
		}
		var rules []string
		for _, f := range report.Findings {
			rules = append(rules, f.Rule)
		}
		if !slices.Equal(rules, []string{p.rule}) {
			t.Errorf("%s with %.40q: found %q, want %q", p.path, p.content, rules, p.rule)
		}
		tried[p.rule] = true
	}
	for _, r := range files {
		if !tried[r.name] {
			t.Errorf("the test plants nothing for %s", r.name)
		}
	}
	for _, r := range contents() {
		if !tried[r.name] {
			t.Errorf("the test plants nothing for %s", r.name)
		}
	}
}

// TestNoSecretInReport demands that a report has no content of a file.
func TestNoSecretInReport(t *testing.T) {
	tree := fresh()
	tree["etc/github"] = &fstest.MapFile{Data: []byte("ghp_" + strings.Repeat("a1", 18))}
	report, err := Check(context.Background(), tree)
	if err != nil || len(report.Findings) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	f := report.Findings[0]
	if text := f.Reason + f.Mend + strings.Join(f.Paths, ""); strings.Contains(text, "a1a1") {
		t.Errorf("the report has the secret: %s", text)
	}
}

// TestLinkOutside demands that no link leads out of the tree.
func TestLinkOutside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(outside, []byte("3a1c0ffee0000000000000000000abcd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, file := range fresh() {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write := func() error { return os.WriteFile(path, file.Data, 0o600) }
		if file.Mode&fs.ModeSymlink != 0 {
			write = func() error { return os.Symlink(string(file.Data), path) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "etc/machine-id")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "etc/machine-id")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	report, err := Check(context.Background(), root.FS())
	if err != nil || report.Failed() {
		t.Errorf("%+v, %v", report, err)
	}
}

// loop is a tree with a directory that is in itself, as a damaged file system can have.
type loop struct{ fstest.MapFS }

func (l loop) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.HasPrefix(name, "opt") {
		return l.MapFS.ReadDir("opt")
	}
	return l.MapFS.ReadDir(name)
}

// TestLoop demands that the check of a tree without an end ends with an error.
func TestLoop(t *testing.T) {
	if report, err := Check(context.Background(), loop{fresh()}); err == nil || !strings.Contains(err.Error(), "a path of more than 4096 bytes") {
		t.Errorf("%+v, %v", report, err)
	}
}
