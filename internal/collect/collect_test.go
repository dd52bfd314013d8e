package collect_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/collect"
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

func file(b *supportbundle.Bundle, name string) (supportbundle.File, string) {
	content, _ := b.Read(name)
	for _, f := range b.Manifest.Files {
		if f.Name == name {
			return f, string(content)
		}
	}
	return supportbundle.File{}, ""
}

// A bundle has the sources that exist. Its manifest names the missing ones, with the reason.
func TestBundle(t *testing.T) {
	n := newNode(t)
	n.put("/var/log/cloud-init.log", "a line\n")
	n.put("/etc/containerd/certs.d/docker.io/hosts.toml", "server = \"x\"\n")
	n.journal["kubelet.service"] = `{"MESSAGE":"hello"}` + "\n"
	n.journal["--dmesg"] = `{"MESSAGE":"Linux"}` + "\n"
	b := n.bundle(
		collect.Document{Name: "extra.json", Why: "a test", Produce: func(context.Context) (any, error) { return map[string]int{"a": 1}, nil }},
		collect.Document{Name: "broken.json", Why: "a test", Produce: func(context.Context) (any, error) { return nil, errBroken }},
	)
	for name, want := range map[string]string{
		"files/var/log/cloud-init.log":                      "a line\n",
		"files/etc/containerd/certs.d/docker.io/hosts.toml": "server = \"x\"\n",
		"journal/kubelet.service.json":                      `{"MESSAGE":"hello"}` + "\n",
		"journal/kernel.json":                               `{"MESSAGE":"Linux"}` + "\n",
		"extra.json":                                        "{\n  \"a\": 1\n}\n",
	} {
		if f, got := file(b, name); got != want || f.Source == "" || f.Why == "" {
			t.Errorf("%s: %q, %+v", name, got, f)
		}
	}
	for source, want := range map[string]string{
		"broken.json":                        "broken",
		"contract.yaml":                      "no contract",
		"status.json":                        "no provisioning has ended on this machine",
		"plan.json":                          "this machine has no generation",
		"journal of containerd.service":      "the journal has no records",
		"systemd's properties":               "not probed: the host is a directory",
		"/var/lib/kubelet/kubeadm-flags.env": "there is no such file",
	} {
		if got := missing(b, source); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	if _, has := b.Read("facts.json"); !has || !strings.HasPrefix(b.Manifest.Notes[0], "0 secrets of this machine") {
		t.Errorf("%q", b.Manifest.Notes)
	}
}

// The newest lines are kept.
func TestLimits(t *testing.T) {
	n := newNode(t)
	var log strings.Builder
	for i := 0; log.Len() < 6<<20; i++ {
		fmt.Fprintf(&log, "%08d a line of a log\n", i)
	}
	n.put("/var/log/cloud-init.log", log.String())
	n.put("/var/log/waagent.log", strings.Repeat("x", 5<<20)) // one line
	n.journal["kubelet.service"] = log.String()
	b := n.bundle()
	for name, want := range map[string]string{
		"files/var/log/cloud-init.log": "only the end is kept: the limit is 4194304",
		"files/var/log/waagent.log":    "only the end is kept: the limit is 4194304",
		"journal/kubelet.service.json": "only the newest records are kept: the limit is 4194304 bytes",
	} {
		f, got := file(b, name)
		if len(got) > 4<<20 || len(got) < 4<<20-100 || !strings.Contains(f.Truncated, want) {
			t.Errorf("%s: %d bytes, %q", name, len(got), f.Truncated)
		}
		if strings.Contains(got, " ") && (!strings.HasPrefix(got[9:], "a line") || !strings.HasSuffix(log.String(), got)) {
			t.Errorf("%s begins with %.40q", name, got)
		}
	}
}

// All files together have a limit. The collection's time stands still, as a busy machine takes longer than a collection may.
func TestFullBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		line := strings.Repeat("0123456 89abcde ", 64) + "\n"
		for i := range 20 {
			n.put(fmt.Sprintf("/var/log/azure/aks/%02d.log", i), strings.Repeat(line, 4000))
		}
		b := n.bundle()
		total := int64(0)
		for _, f := range b.Manifest.Files {
			total += f.Size
		}
		if total > supportbundle.MaxBytes || total < supportbundle.MaxBytes-1<<20 {
			t.Errorf("%d bytes", total)
		}
		if got := missing(b, "/var/log/azure/aks/19.log"); got != "the bundle is full" {
			t.Errorf("%q", got)
		}
	})
}

// A file that is no text file, or that would block or lead elsewhere, is left out and named.
func TestHostileFiles(t *testing.T) {
	n := newNode(t)
	secret := filepath.Join(t.TempDir(), "shadow")
	if err := os.WriteFile(secret, []byte("root:hash"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(path string) string {
		path = filepath.Join(n.root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := syscall.Mkfifo(at("/var/log/cloud-init.log"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"/var/log/waagent.log": secret, "/etc/hosts": "hosts", "/run/cloud-init": "/run/cloud-init"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(at("/var/log/cloud-init-output.log/x"), 0o755); err != nil {
		t.Fatal(err)
	}
	sparse, err := os.Create(at("/var/log/azure/aks/sparse.log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := sparse.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	sparse.Close()
	n.put("/var/log/azure/aks/binary.log", "\x7fELF"+strings.Repeat("\x01\x02\xff\x00", 1000))
	n.put("/var/log/azure/aks/packed.log", "\x1f\x8b\x08"+strings.Repeat("\x9c\x01\xfe\x81", 1000))
	n.put("/var/log/azure/aks/utf16.log", "\xff\xfe"+strings.Join(strings.Split("a text in another encoding, password=canary", ""), "\x00")+"\x00")
	n.put("/var/log/azure/aks/new\nline.log", "x\n")
	n.put("/var/log/azure/aks/latin.log", "f\xfcr: Datei nicht gefunden\n")
	b := n.bundle()
	for source, want := range map[string]string{
		"/var/log/cloud-init.log":       "is a pipe, a socket or a device",
		"/var/log/waagent.log":          "is a symbolic link to " + secret,
		"/etc/hosts":                    "is a symbolic link to hosts",
		"/run/cloud-init/status.json":   "too many levels of symbolic links",
		"/var/log/azure/aks/binary.log": "is compressed or binary",
		"/var/log/azure/aks/packed.log": "is compressed or binary",
		"/var/log/azure/aks/sparse.log": "bytes, only the end is kept",
	} {
		if got := missing(b, source); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	for name, want := range map[string]string{
		"files/var/log/azure/aks/utf16.log":      "\xff\xfea text in another encoding, password=<secret 1>",
		"files/var/log/azure/aks/new%0Aline.log": "x\n",
		"files/var/log/azure/aks/latin.log":      "f\xfcr: Datei nicht gefunden\n",
	} {
		if _, got := file(b, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if strings.Contains(all(t, b), "hash") {
		t.Error("a link leads out of the machine")
	}
}

// After the deadline, the rest is named, and the bundle is complete.
func TestDeadline(t *testing.T) {
	n := newNode(t)
	n.put("/var/log/cloud-init.log", "a line\n")
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	err := n.write(ctx, &out,
		collect.Document{Name: "last.json", Produce: func(context.Context) (any, error) { return 1, nil }},
		collect.Document{Name: "late.json", Produce: func(context.Context) (any, error) { cancel(); return 1, nil }})
	if err != nil {
		t.Fatal(err)
	}
	b, err := supportbundle.Open(&out)
	if err != nil || len(b.Problems) > 0 {
		t.Fatal(err, b.Problems)
	}
	if got := missing(b, "/var/log/cloud-init.log"); got != "the collection took longer than 30s" {
		t.Errorf("%q", got)
	}
	if _, has := b.Read("last.json"); !has {
		t.Error("what was read before is missing")
	}
}

// A source that hangs is left out. Without the machine's secrets, there is no bundle.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		n.put("/var/log/cloud-init.log", "a line\n")
		release := make(chan struct{})
		b := n.bundle(collect.Document{Name: "hangs.json", Produce: func(context.Context) (any, error) { <-release; return 1, nil }})
		if got := missing(b, "hangs.json"); got != "does not answer in time: a disk or a service may hang" {
			t.Errorf("%q", got)
		}
		if _, has := b.Read("files/var/log/cloud-init.log"); !has {
			t.Error("the rest is missing")
		}
		n.hangs = release
		var out bytes.Buffer
		if err := n.write(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "no bundle can be made without them") || out.Len() > 0 {
			t.Errorf("%v, %d bytes", err, out.Len())
		}
		close(release)
	})
}

// The same machine gives the same bytes.
func TestSameBytes(t *testing.T) {
	n := newNode(t)
	n.put("/var/log/cloud-init.log", "password=a token=b password=c\n")
	var a, b bytes.Buffer
	if err := n.write(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	if err := n.write(t.Context(), &b); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the bundles differ", err)
	}
}

// A stream that cannot be written is an error.
func TestBrokenStream(t *testing.T) {
	n := newNode(t)
	c := &collect.Collector{Machine: n, Version: "v1", Now: func() (now time.Time) { return start }}
	if _, err := c.Write(t.Context(), brokenStream{}); err == nil {
		t.Error("no error")
	}
}

type brokenStream struct{}

func (brokenStream) Write([]byte) (int, error) { return 0, errBroken }
