package resource_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

func TestBlock(t *testing.T) {
	const begin, end = "# BEGIN slipway a\n", "# END slipway a\n"
	const block = begin + "x 1\n" + end
	for _, c := range []struct{ name, before, with, without string }{
		{"an empty file", "", block, ""},
		{"at the end", "one\ntwo\n", "one\ntwo\n" + block, "one\ntwo\n"},
		{"after a line that has no end", "one", "one\n" + block, "one\n"},
		{"in its place", "one\n" + begin + "old\n" + end + "two\n", "one\n" + block + "two\n", "one\ntwo\n"},
		{"beside another's", "# BEGIN slipway ab\ny\n# END slipway ab\n", "# BEGIN slipway ab\ny\n# END slipway ab\n" + block, "# BEGIN slipway ab\ny\n# END slipway ab\n"},
		{"copied", block + "one\n" + block, block + "one\n", "one\n"},
		{"without its end", "one\n" + begin + "x 1\ntwo\n", "one\n" + block + "x 1\ntwo\n", "one\nx 1\ntwo\n"},
		{"without its begin", "one\nx 1\n" + end + "two\n", "one\nx 1\n" + block + "two\n", "one\nx 1\ntwo\n"},
		{"begun twice", begin + "mine\n" + begin + "x 0\n" + end, "" + block + "mine\n", "mine\n"},
		{"with the line ends of another system", "one\r\n# BEGIN slipway a\r\nold\r\n# END slipway a\r\ntwo\r\n", "one\r\n" + block + "two\r\n", "one\r\ntwo\r\n"},
	} {
		b := &resource.Block{Path: "/etc/hosts", Label: "a", Content: "x 1\n"}
		with, err := b.Into([]byte(c.before))
		if err != nil || string(with) != c.with {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, with, c.with)
		}
		if again, err := b.Into(with); err != nil || string(again) != string(with) {
			t.Errorf("%s: a second time: %v\n%s", c.name, err, again)
		}
		if without, found := b.OutOf(with); !found || string(without) != c.without {
			t.Errorf("%s: without it: %v\n%s\nwant\n%s", c.name, found, without, c.without)
		}
	}
	if _, err := (&resource.Block{Label: "a", Content: "x\n"}).Into(make([]byte, resource.MaxBlockFile)); err == nil {
		t.Error("a file grows beyond its limit")
	}
}

// A block with First is before everything else, even if other lines were put before it meanwhile.
func TestFirstBlock(t *testing.T) {
	const block = "# BEGIN slipway a\nx 1\n# END slipway a\n"
	b := &resource.Block{Path: "/etc/ssh/sshd_config", Label: "a", Content: "x 1\n", First: true}
	for before, want := range map[string]string{
		"": block, "one\n": block + "one\n", "one": block + "one", block + "one\n": block + "one\n",
		"one\n" + block + "two\n": block + "one\ntwo\n", "one\n# BEGIN slipway a\nold\n# END slipway a\n": block + "one\n",
	} {
		with, err := b.Into([]byte(before))
		if err != nil || string(with) != want {
			t.Errorf("%q: %v, %q, want %q", before, err, with, want)
		}
		if again, err := b.Into(with); err != nil || string(again) != want {
			t.Errorf("%q: a second time: %v, %q", before, err, again)
		}
	}
}

// Whatever the file has, other programs' lines stay as they are and in their order.
func FuzzBlock(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "# BEGIN slipway a\nx\n# END slipway a\n", "# END slipway a\n# BEGIN slipway a\n# BEGIN slipway b\n"} {
		f.Add(seed, "x 1\n")
	}
	f.Fuzz(func(t *testing.T, before, content string) {
		b := &resource.Block{Path: "/etc/hosts", Label: "a", Content: content}
		if b.Valid() != nil {
			return
		}
		with, err := b.Into([]byte(before))
		if err != nil {
			return
		}
		if again, err := b.Into(with); err != nil || string(again) != string(with) {
			t.Fatalf("a second time: %q, %v", again, err)
		}
		without, found := b.OutOf(with)
		if !found || strings.Contains("\n"+string(without), "\n# BEGIN slipway a\n") {
			t.Fatalf("it is left: %q", without)
		}
		if plain, found := b.OutOf([]byte(before)); !found && string(plain) != before {
			t.Fatalf("%q becomes %q without a block", before, plain)
		}
		if !strings.Contains(before, "slipway a") && strings.TrimSuffix(string(without), "\n") != strings.TrimSuffix(before, "\n") {
			t.Fatalf("%q becomes %q", before, without)
		}
	})
}

func TestValid(t *testing.T) {
	const pages = "/sys/kernel/mm/transparent_hugepage/enabled"
	for _, c := range []struct {
		spec resource.Spec
		want string // "" if it is valid
	}{
		{&resource.File{Path: "/etc/a"}, ""},
		{&resource.File{Path: "/proc/a"}, "must be below"},
		{&resource.Directory{Path: "/etc/shadow"}, "reserved"},
		{&resource.Symlink{Path: "a"}, "absolute"},
		{&resource.Block{Path: "/etc/hosts", Label: "a", Content: "x\n"}, ""},
		{&resource.Block{Path: "/etc/passwd", Label: "a", Content: "x\n"}, "reserved"},
		{&resource.Block{Path: "/etc/hosts", Label: "A b", Content: "x\n"}, "label"},
		{&resource.Block{Path: "/etc/hosts", Label: "a", Content: "x"}, "whole lines"},
		{&resource.Block{Path: "/etc/hosts", Label: "a", Content: "# END slipway a\n"}, "mark"},
		{&resource.Attribute{Path: pages, Value: "madvise"}, ""},
		{&resource.Attribute{Path: "/sys/kernel/mm/../../power/state", Value: "mem"}, "not below"},
		{&resource.Attribute{Path: "/sys/power/state", Value: "mem"}, "not below"},
		{&resource.Attribute{Path: pages, Value: "a b"}, "one word"},
		{&resource.Mount{Where: "/var/lib/kubelet", What: "/mnt/kubelet"}, ""},
		{&resource.Mount{Where: "/var/lib/kubelet", What: "/mnt/kubelet", Disk: "/mnt"}, ""},
		{&resource.Mount{Where: "/var/lib/kubelet", What: "/mnt/kubelet", Disk: "/mnt/kubelet"}, "is not on the disk"},
		{&resource.Mount{Where: "/var/lib/kubelet", What: "/mnt/kubelet", Disk: "/m"}, "is not on the disk"},
		{&resource.Mount{Where: "/var/lib/a", What: "/etc"}, "other programs"},
		{&resource.Mount{Where: "/bin", What: "/mnt/a"}, "must be below"},
		{&resource.Mount{Where: "/opt/a", What: "/opt/a/b"}, "within the other"},
		{&resource.Swap{Path: "/mnt/swapfile", Bytes: 1 << 20}, ""},
		{&resource.Swap{Path: "/mnt/swapfile", Disk: "/mnt", Bytes: 1 << 20}, ""},
		{&resource.Swap{Path: "/mnt/swapfile", Disk: "/data", Bytes: 1 << 20}, "not on the disk at /data"},
		{&resource.Swap{Path: "/mnt/data", Bytes: 1 << 20}, "another name"},
		{&resource.Swap{Path: "/etc/swapfile", Bytes: 1 << 20}, "other programs"},
		{&resource.Swap{Path: "/mnt/swapfile", Bytes: 4096}, "at least"},
		{&resource.UnitState{Unit: "a.service", State: resource.UnitMasked}, ""},
		{&resource.UnitState{Unit: "a.service", State: "off"}, "no state"},
		{&resource.UnitState{State: resource.UnitMasked}, "no name"},
		{&resource.Command{Label: "a", Argv: []string{"true"}, Inputs: []string{"/etc/a"}}, ""},
		{&resource.Command{Label: "a"}, "no program"},
		{&resource.Command{Label: "a", Argv: []string{"true"}, Done: &resource.Printed{Argv: []string{"true"}}}, "no lines"},
		{&resource.Command{Label: "a", Argv: []string{"true"}, Inputs: []string{"/proc"}}, "must be below"},
		{&resource.Unit{}, "no name"},
		{&resource.Module{}, "no name"},
		{&resource.Sysctl{}, "no name"},
		{&resource.Check{}, "no name"},
	} {
		switch err := c.spec.Valid(); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", resource.IDOf(c.spec), err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", resource.IDOf(c.spec), err, c.want)
		}
	}
}
