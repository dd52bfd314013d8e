package difference

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The contract decides what a change of a user's file restarts, in each direction. A path that the kernel reads when it
// boots keeps its own row.
func TestFilesAndUnits(t *testing.T) {
	with := func(files []nodeconfig.File, units ...nodeconfig.Unit) resource.Plan {
		return planOf(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) { c.Files, c.Units = files, units })
	}
	file := func(path, content string, change func(*nodeconfig.File)) []nodeconfig.File {
		f := nodeconfig.File{Path: path, Content: content}
		change(&f)
		return []nodeconfig.File{f}
	}
	plain := func(*nodeconfig.File) {}
	restarts := func(f *nodeconfig.File) { f.Restarts = []string{"a.service"} }
	reloads := func(f *nodeconfig.File) { f.Reloads = []string{"a.service"} }
	secret := func(f *nodeconfig.File) { f.Secret, f.Content = nodeconfig.NewSecret(f.Content), "" }
	dropIn := func(unit, content string) nodeconfig.Unit {
		return nodeconfig.Unit{Name: unit, DropIns: []nodeconfig.DropIn{{Name: "50-a.conf", Content: "[Service]\nNice=" + content}}}
	}
	none := with(nil)
	for name, c := range map[string]struct {
		a, b resource.Plan
		want Class
	}{
		"plain":         {with(file("/etc/a", "1", plain)), with(file("/etc/a", "2", plain)), None},
		"plain, secret": {with(file("/etc/a", "1", secret)), with(file("/etc/a", "2", secret)), None},
		"restarts":      {with(file("/etc/a", "1", restarts)), with(file("/etc/a", "2", restarts)), Restart},
		"reloads":       {with(file("/etc/a", "1", reloads)), with(file("/etc/a", "2", reloads)), Reload},
		"comes or goes": {none, with(file("/etc/a", "1", restarts)), Restart},
		"comes, reload": {none, with(file("/etc/a", "1", reloads)), Reload},
		"modprobe.d":    {with(file("/etc/modprobe.d/a.conf", "1", plain)), with(file("/etc/modprobe.d/a.conf", "2", restarts)), Reboot},
		"grub.d":        {none, with(file("/etc/default/grub.d/a.cfg", "1", plain)), Reboot},
		"a drop-in":     {with(nil, dropIn("a.service", "1")), with(nil, dropIn("a.service", "2")), Restart},
		"the kubelet's": {none, with(nil, dropIn("kubelet.service", "2")), Restart},
	} {
		for direction, plans := range map[string][2]resource.Plan{"there": {c.a, c.b}, "back": {c.b, c.a}} {
			if got := of(t, plans[0], plans[1]).Class; got != c.want {
				t.Errorf("%s, %s: %s, want %s", name, direction, got, c.want)
			}
		}
	}
}
