package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// resourceIn is a resource of a plan, or nil.
func resourceIn(p resource.Plan, id resource.ID) *resource.Resource {
	if i := slices.IndexFunc(p.Resources, func(r resource.Resource) bool { return r.ID() == id }); i >= 0 {
		return &p.Resources[i]
	}
	return nil
}

// families runs a test for a node of each family.
func families(t *testing.T, test func(t *testing.T, layout string)) {
	for _, layout := range profile.Names() {
		t.Run(layout, func(t *testing.T) { test(t, layout) })
	}
}

// minimal is the least contract of a family, with a change.
func minimal(t *testing.T, layout string, change func(*nodeconfig.NodeConfig)) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Components.Layout = layout
		if layout == nodeconfig.LayoutEksctl {
			c.Cloud.AWS = &nodeconfig.AWS{Region: "eu-west-1"}
		}
		change(c)
	})
}

// precedes wants a resource to be so before the kubelet starts.
func precedes(t *testing.T, p resource.Plan, id resource.ID) {
	t.Helper()
	if !slices.Contains(resourceIn(p, "Unit:kubelet.service").Requires, id) {
		t.Errorf("the kubelet starts before %s", id)
	}
}

// Huge pages are set at once if the kernel supports them, and by a file at each boot, also on an image.
func TestHugePages(t *testing.T) {
	families(t, func(t *testing.T, layout string) {
		for _, method := range []nodeconfig.JoinMethod{nodeconfig.JoinBootstrapToken, nodeconfig.JoinNone} {
			p, problems := New(minimal(t, layout, func(c *nodeconfig.NodeConfig) {
				c.Join.Method = method
				c.System.TransparentHugePages = map[string]string{"enabled": "never", "defrag": "defer+madvise"}
			}), facts.Facts{})
			if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
				t.Fatal(fatal)
			}
			for name, value := range map[string]string{"enabled": "never", "defrag": "defer+madvise"} {
				r := resourceIn(p, resource.ID("Attribute:"+"/sys/kernel/mm/transparent_hugepage/"+name))
				if r == nil || *r.Spec.(*resource.Attribute) != (resource.Attribute{Path: "/sys/kernel/mm/transparent_hugepage/" + name, Value: value, Optional: true}) || r.ExitCode != exitcode.SysctlFailed {
					t.Fatalf("%s: %+v", name, r)
				}
				if method != nodeconfig.JoinNone {
					precedes(t, p, r.ID())
				}
			}
			want := "w " + "/sys/kernel/mm/transparent_hugepage/" + "defrag - - - - defer+madvise\nw " + "/sys/kernel/mm/transparent_hugepage/" + "enabled - - - - never\n"
			if got := string(fileAt(t, p, "/etc/tmpfiles.d/slipway-hugepages.conf").Content); got != want {
				t.Errorf("%q", got)
			}
		}
	})
}

// Swap has the size that AKS gives it, is there before the kubelet, and again at each boot.
func TestSwap(t *testing.T) {
	families(t, func(t *testing.T, layout string) {
		for megabytes, bytes := range map[int32]int64{1: 1 << 20, 512: 512_000 << 10, 1<<31 - 1: 2_199_023_254_568_960} {
			c := minimal(t, layout, func(c *nodeconfig.NodeConfig) {
				c.System.SwapMB = megabytes
				c.Kubelet.Config = map[string]any{"failSwapOn": false}
			})
			p, problems := New(c, facts.Facts{})
			r := resourceIn(p, resource.IDOf(&resource.Swap{Path: "/var/lib/swapfile"}))
			if len(nodeconfig.Fatal(problems)) > 0 || r == nil {
				t.Fatal(problems)
			}
			if got := r.Spec.(*resource.Swap).Bytes; got != bytes || got%(64<<10) != 0 {
				t.Errorf("%d is %d bytes", megabytes, got)
			}
			if r.ExitCode != exitcode.SwapFailed || r.Spec.(*resource.Swap).ExitCodes[resource.CauseNoRoom] != exitcode.SwapNoRoom || r.Class != resource.Restart || !slices.Equal(r.Restarts, []string{concern.KubeletUnit}) {
				t.Errorf("%+v", r)
			}
			precedes(t, p, r.ID())
			unit := string(fileAt(t, p, resource.UnitDir+"/"+"var-lib-swapfile.swap").Content)
			for _, line := range []string{"What=" + "/var/lib/swapfile", "ConditionPathExists=" + "/var/lib/swapfile", "Before="} {
				if !strings.Contains(unit, "\n"+line) {
					t.Errorf("no %s in\n%s", line, unit)
				}
			}
			for _, name := range []string{concern.KubeletUnit, familyOf(c).Agent.Unit} {
				if !slices.ContainsFunc(settings(unit), func(s [2]string) bool {
					return s[0] == "Before" && slices.Contains(strings.Fields(s[1]), name)
				}) {
					t.Errorf("it is not before %s:\n%s", name, unit)
				}
			}
			if link := resourceIn(p, resource.ID("Symlink:"+resource.UnitDir+"/swap.target.wants/"+"var-lib-swapfile.swap")); link == nil ||
				link.Spec.(*resource.Symlink).Target != resource.UnitDir+"/"+"var-lib-swapfile.swap" {
				t.Errorf("the link is %+v", link)
			}
		}
	})
}

// AKS's swap file is on the temporary disk of a machine that has one with room for it, and made again on an empty one. The boot
// does not wait for that disk, and an image has none.
func TestSwapOnTemporaryDisk(t *testing.T) {
	const fits = 4 * 512_000 << 10 / 3
	with := func(bytes int64) facts.Facts {
		return facts.Facts{CloudInit: true, Disks: []facts.Disk{{Name: "sda", SizeBytes: 1 << 50}, {Name: "sdb", SizeBytes: bytes, Temporary: true}}}
	}
	for name, c := range map[string]struct {
		disk    string
		machine facts.Facts
		join    nodeconfig.JoinMethod
		want    string
	}{
		"a disk with room":                     {nodeconfig.PreferTemporary, with(fits + 4), "", "/mnt/swapfile"},
		"no more than a quarter would be left": {nodeconfig.PreferTemporary, with(fits - 4), "", "/var/lib/swapfile"},
		"nothing mounts it":                    {nodeconfig.PreferTemporary, facts.Facts{Disks: with(1 << 40).Disks}, "", "/var/lib/swapfile"},
		"no such disk":                         {nodeconfig.PreferTemporary, facts.Facts{CloudInit: true, Disks: []facts.Disk{{Name: "sda", SizeBytes: 1 << 50}}}, "", "/var/lib/swapfile"},
		"it is not preferred":                  {"OS", with(1 << 40), "", "/var/lib/swapfile"},
		"nothing is said":                      {"", with(1 << 40), "", "/var/lib/swapfile"},
		"an image":                             {nodeconfig.PreferTemporary, with(1 << 40), nodeconfig.JoinNone, ""},
		"an image's own disk":                  {"OS", with(1 << 40), nodeconfig.JoinNone, "/var/lib/swapfile"},
	} {
		families(t, func(t *testing.T, layout string) {
			p, problems := New(minimal(t, layout, func(config *nodeconfig.NodeConfig) {
				config.System.SwapMB, config.System.SwapDisk = 512, c.disk
				config.Kubelet.Config = map[string]any{"failSwapOn": false}
				if c.join != "" {
					config.Join = nodeconfig.Join{Method: c.join}
				}
			}), c.machine)
			if len(nodeconfig.Fatal(problems)) > 0 {
				t.Fatal(problems)
			}
			var at []string
			for _, r := range p.Resources {
				if s, ok := r.Spec.(*resource.Swap); ok {
					at = append(at, s.Path)
					if onDisk := s.Disk == "/mnt"; onDisk != (s.Path == "/mnt/swapfile") {
						t.Errorf("%s: %s is on the disk at %q", name, s.Path, s.Disk)
					}
				}
			}
			if got := strings.Join(at, " "); got != c.want {
				t.Errorf("%s: %q", name, got)
			}
			if c.want != "/mnt/swapfile" {
				return
			}
			unit := string(fileAt(t, p, resource.UnitDir+"/mnt-swapfile.swap").Content)
			for _, line := range []string{"DefaultDependencies=no", "ConditionPathIsMountPoint=/mnt", "Before=umount.target", "Before=kubelet.service\n", "WantedBy=multi-user.target"} {
				if !strings.Contains(unit, line) {
					t.Errorf("no %s in\n%s", line, unit)
				}
			}
			if strings.Contains(unit, familyOf(contract(t, "native/minimal.yaml")).Agent.Unit) {
				t.Errorf("the agent waits for a disk that cloud-init mounts:\n%s", unit)
			}
		})
	}
}

// No node has swap whose kubelet would not start with it. What a kubelet of an image takes is not known before it joins.
func TestSwapThatFails(t *testing.T) {
	flags := func(value string) func(*nodeconfig.NodeConfig) {
		return func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Config = map[string]any{"failSwapOn": false}
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "fail-swap-on", Value: value}}
		}
	}
	for name, c := range map[string]struct {
		edit  func(*nodeconfig.NodeConfig)
		taken bool
	}{
		"by default":               {func(*nodeconfig.NodeConfig) {}, false},
		"true":                     {func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = map[string]any{"failSwapOn": true} }, false},
		"false":                    {func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = map[string]any{"failSwapOn": false} }, true},
		"the flag goes before":     {flags("true"), false},
		"the flag says the same":   {flags("false"), true},
		"a flag that is no answer": {flags("maybe"), false},
		"an image":                 {func(c *nodeconfig.NodeConfig) { c.Join = nodeconfig.Join{Method: nodeconfig.JoinNone} }, true},
	} {
		families(t, func(t *testing.T, layout string) {
			p, problems := New(minimal(t, layout, func(config *nodeconfig.NodeConfig) {
				config.System.SwapMB = 512
				c.edit(config)
			}), facts.Facts{})
			refused := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
				return p.Fatal && p.Kind == nodeconfig.Invalid && p.Path == "$.system.swapMB" && strings.Contains(p.Reason, "failSwapOn")
			})
			if has := planned(p, resource.IDOf(&resource.Swap{Path: "/var/lib/swapfile"})); refused == c.taken || has != c.taken {
				t.Errorf("%s: refused: %v, planned: %v", name, refused, has)
			}
		})
	}
}

// The kubelet's data is on the temporary disk, or the kubelet does not run.
func TestKubeletData(t *testing.T) {
	families(t, func(t *testing.T, layout string) {
		on := func(disk string) (*nodeconfig.NodeConfig, resource.Plan) {
			c := minimal(t, layout, func(c *nodeconfig.NodeConfig) { c.Kubelet.DataDisk = disk })
			return c, first(New(c, facts.Facts{}))
		}
		id := resource.IDOf(&resource.Mount{Where: "/var/lib/kubelet"})
		if _, p := on("OS"); resourceIn(p, id) != nil || fileIn(p, resource.UnitDir+"/"+"var-lib-kubelet.mount") != nil {
			t.Error("the disk of the operating system takes a mount")
		}
		c, p := on("Temporary")
		r := resourceIn(p, id)
		if r == nil {
			t.Fatal("it is not mounted")
		}
		mount := r.Spec.(*resource.Mount)
		if mount.What != familyOf(c).Paths.KubeletTemporary || mount.Disk != "/mnt" || r.ExitCode != exitcode.KubeletStartFailed || r.Class != resource.Reboot || r.Why == "" || r.Source == "" {
			t.Errorf("%+v, %+v", mount, r)
		}
		unit := settings(string(fileAt(t, p, resource.UnitDir+"/"+"var-lib-kubelet.mount").Content))
		for _, want := range [][2]string{
			{"What", mount.What}, {"Where", "/var/lib/kubelet"}, {"Options", "bind"}, {"DefaultDependencies", "no"},
			{"Requires", "mnt.mount"}, {"After", "mnt.mount"}, {"AssertPathIsMountPoint", "/mnt"},
		} {
			if !slices.Contains(unit, want) {
				t.Errorf("no %s in %s", want, unit)
			}
		}
		dropIn := settings(string(fileAt(t, p, concern.KubeletDropIns+"10-data-disk.conf").Content))
		if !slices.Equal(dropIn, [][2]string{{"Requires", "var-lib-kubelet.mount"}, {"After", "var-lib-kubelet.mount"}}) {
			t.Errorf("the kubelet's drop-in is %s", dropIn)
		}
		if !planned(p, resource.IDOf(concern.Wants("var-lib-kubelet.mount"))) {
			t.Error("it is not mounted at boot")
		}
	})
}

// If the facts show no temporary disk, a contract with the kubelet's data there causes a warning before the machine waits for the disk.
func TestKubeletDataWithoutDisk(t *testing.T) {
	disks := func(temporary bool) []facts.Disk {
		return []facts.Disk{{Name: "sda", SizeBytes: 1 << 35}, {Name: "sdb", SizeBytes: 1 << 34, Temporary: temporary}}
	}
	for name, c := range map[string]struct {
		facts facts.Facts
		disk  string
		warns bool
	}{
		"there is one":  {facts.Facts{Platform: facts.Azure, Disks: disks(true)}, "Temporary", false},
		"no disk":       {facts.Facts{Platform: facts.Azure, Disks: disks(false)}, "Temporary", true},
		"unknown disks": {facts.Facts{Platform: facts.Azure}, "Temporary", false},
		"another cloud": {facts.Facts{Platform: facts.EC2, Disks: disks(false)}, "Temporary", false},
		"not wanted":    {facts.Facts{Platform: facts.Azure, Disks: disks(false)}, "OS", false},
	} {
		families(t, func(t *testing.T, layout string) {
			p, problems := New(minimal(t, layout, func(config *nodeconfig.NodeConfig) { config.Kubelet.DataDisk = c.disk }), c.facts)
			warns := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
				return !p.Fatal && p.Kind == nodeconfig.NotInstalled && p.Path == "$.kubelet.dataDisk"
			})
			if mounts := planned(p, resource.IDOf(&resource.Mount{Where: "/var/lib/kubelet"})); warns != c.warns || mounts != (c.disk == "Temporary") {
				t.Errorf("%s: warned: %v, mounted: %v", name, warns, mounts)
			}
		})
	}
}
