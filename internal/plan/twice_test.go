package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// twiceCases are contracts that have one setting twice. Each has the warning's path, and a text that it must contain.
var twiceCases = []struct {
	name   string
	change func(*nodeconfig.NodeConfig)
	want   []string
}{
	{"a flag goes before a field", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "max-pods", Value: "50"}, {Name: "max-pods", Value: "50"}}
		c.Kubelet.Config = map[string]any{"maxPods": 110}
	}, []string{"$.kubelet.config.maxPods: kubelet.flags[1] gives --max-pods, which goes before the configuration file"}},
	{"a flag and a field that mean the same", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{
			{Name: "sync-frequency", Value: "60s"}, {Name: "system-reserved", Value: "cpu=2,memory=1Gi"}, {Name: "allowed-unsafe-sysctls", Value: "net.core.somaxconn"},
			{Name: "allowed-unsafe-sysctls", Value: "net.ipv4.tcp_rmem"}, {Name: "feature-gates", Value: "NodeSwap=true"}, {Name: "serialize-image-pulls", Value: "1"},
		}
		c.Kubelet.Config = map[string]any{
			"syncFrequency": "1m", "systemReserved": map[string]any{"cpu": "2000m", "memory": "1024Mi"}, "allowedUnsafeSysctls": []any{"net.core.somaxconn", "net.ipv4.tcp_rmem"},
			"featureGates": map[string]any{"NodeSwap": true}, "serializeImagePulls": true,
		}
	}, nil},
	{"a feature gate in both", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "feature-gates", Value: "CPUManagerPolicyAlphaOptions=true"}}
		c.Kubelet.Config = map[string]any{"featureGates": map[string]any{"CPUManagerPolicyAlphaOptions": false, "TopologyManagerPolicyAlphaOptions": true}}
	}, []string{"$.kubelet.config.featureGates.CPUManagerPolicyAlphaOptions: kubelet.flags[0] gives --feature-gates"}},
	{"a map of a flag takes the place of the whole field", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "system-reserved", Value: "cpu=1"}}
		c.Kubelet.Config = map[string]any{"systemReserved": map[string]any{"cpu": "1", "memory": "1Gi"}}
	}, []string{"$.kubelet.config.systemReserved: kubelet.flags[0]"}},
	{"the last flag of a name counts", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "max-pods", Value: "50"}, {Name: "max-pods", Value: "60"}}
	}, []string{"$.kubelet.flags[0]: kubelet.flags[1] gives it again with another value, and the kubelet takes the last"}},
	{"verbosities of files, which add up", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "vmodule", Value: "a=1"}, {Name: "vmodule", Value: "b=2"}}
		c.Kubelet.Config = map[string]any{"logging": map[string]any{"vmodule": []any{map[string]any{"filePattern": "c", "verbosity": 3}}}}
	}, nil},
	{"flags that add up", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{
			{Name: "system-reserved", Value: "cpu=1"}, {Name: "system-reserved", Value: "memory=1Gi"}, {Name: "system-reserved", Value: "cpu=1000m"},
			{Name: "allowed-unsafe-sysctls", Value: "net.core.somaxconn"}, {Name: "allowed-unsafe-sysctls", Value: "net.ipv4.tcp_rmem"},
		}
	}, nil},
	{"one name of flags that add up", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "system-reserved", Value: "cpu=1"}, {Name: "system-reserved", Value: "cpu=2"}}
	}, []string{"$.kubelet.flags[0]: kubelet.flags[1]"}},

	{"some thresholds", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Config = map[string]any{"evictionHard": map[string]any{"memory.available": "500Mi", "nodefs.available": "10%"}}
	}, []string{"$.kubelet.config.evictionHard: turns off the kubelet's other default thresholds: nodefs.inodesFree<5%, imagefs.inodesFree<5%; give these, too, or set mergeDefaultEvictionSettings"}},
	{"thresholds of the disk that images are on", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Config = map[string]any{"evictionHard": map[string]any{"memory.available": "500Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}}
	}, nil},
	{"some thresholds in a flag", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "eviction-hard", Value: "memory.available<500Mi,imagefs.available<15%,imagefs.inodesFree<5%,nodefs.available<1%"}}
	}, []string{"$.kubelet.flags[0]: nodefs.inodesFree<5%; give these, too"}},
	{"thresholds that are merged", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Config = map[string]any{"evictionHard": map[string]any{"memory.available": "500Mi"}, "mergeDefaultEvictionSettings": true}
	}, nil},
	{"soft thresholds, which have no defaults", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Config = map[string]any{"evictionSoft": map[string]any{"memory.available": "500Mi"}, "evictionSoftGracePeriod": map[string]any{"memory.available": "1m"}}
	}, nil},

	{"a variable of a drop-in, and the environment file", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("kubelet.service", "05-a.conf", "[Service]\nEnvironment=A=b KUBELET_EXTRA_ARGS=--v=4\n")
	}, []string{"$.units[0].dropIns[0].content: line 2: the variable KUBELET_EXTRA_ARGS is not used: /etc/default/kubelet"}},
	{"a variable of an earlier drop-in", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("kubelet.service", "05-a.conf", "[Service]\nEnvironment=KUBELET_CONFIG_ARGS=x\n")
	}, []string{"$.units[0].dropIns[0].content: line 2: the variable KUBELET_CONFIG_ARGS is not used: /etc/systemd/system/kubelet.service.d/10-config.conf"}},
	{"a variable of a later drop-in", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("kubelet.service", "50-a.conf", "[Service]\nEnvironment=KUBELET_CONFIG_ARGS=x\n")
	}, []string{"$.units[0].dropIns[0].content: line 2: the variable KUBELET_CONFIG_ARGS takes the place of Slipway's in /etc/systemd/system/kubelet.service.d/10-config.conf"}},
	{"a variable of the author's environment file", func(c *nodeconfig.NodeConfig) {
		c.Files = []nodeconfig.File{{Path: "/etc/more", Content: "KUBELET_EXTRA_ARGS=\"--v=4\"\n"}}
		c.Units = dropIn("kubelet.service", "50-a.conf", "[Service]\nEnvironmentFile=-/etc/more\n")
	}, []string{"$.files[0]: the variable KUBELET_EXTRA_ARGS takes the place of Slipway's in /etc/default/kubelet"}},
	{"the same variable with the same value", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("kubelet.service", "05-a.conf", "[Service]\nEnvironment=KUBELET_EXTRA_ARGS=\nEnvironment=B=c\n")
	}, nil},

	{"the kubelet's command line", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("kubelet.service", "50-a.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet\n")
	}, []string{"$.units[0].dropIns[0].content: line 2: ExecStart= takes the place of Slipway's in /etc/systemd/system/kubelet.service"}},
	{"containerd's command line", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("containerd.service", "50-a.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/containerd\n")
	}, []string{"$.units[0].dropIns[0].content: line 2: ExecStart= takes the place of Slipway's in /etc/systemd/system/containerd.service"}},
	{"limits in a later drop-in", func(c *nodeconfig.NodeConfig) {
		c.Runtime.Containerd.Limits = map[string]string{"NOFILE": "4096"}
		c.Units = dropIn("containerd.service", "50-a.conf", "[Service]\nLimitNOFILE=8192\n")
	}, []string{"$.units[0].dropIns[0].content: line 2: LimitNOFILE= takes the place of runtime.containerd.limits"}},
	{"limits in an earlier drop-in", func(c *nodeconfig.NodeConfig) {
		c.Runtime.Containerd.Limits = map[string]string{"NOFILE": "4096"}
		c.Units = dropIn("containerd.service", "05-a.conf", "[Service]\nLimitNOFILE=8192\nLimitNPROC=1\n")
	}, []string{"$.units[0].dropIns[0].content: line 2: LimitNOFILE= is not used: /etc/systemd/system/containerd.service.d/10-limits.conf"}},
	{"another setting of Slipway's unit, for which drop-ins are", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("kubelet.service", "50-a.conf", "[Service]\nRestartSec=9\nCPUWeight=900\n")
	}, nil},
	{"a unit and its drop-in", func(c *nodeconfig.NodeConfig) {
		c.Units = dropIn("a.service", "50-a.conf", "[Service]\nNice=2\n")
		c.Units[0].Content = "[Service]\nExecStart=/bin/a\nNice=1\n"
	}, []string{"$.units[0].content: line 3: Nice= is not used: line 2 of units[0].dropIns[0].content"}},

	{"a kernel parameter in an earlier file", func(c *nodeconfig.NodeConfig) {
		c.System.Sysctls = map[string]string{"vm.swappiness": "60", "net.core.somaxconn": "1 2"}
		c.Files = []nodeconfig.File{{Path: "/etc/sysctl.d/10-a.conf", Content: "# a comment = 1\n-vm/swappiness = 10\nnet.core.somaxconn=1  2\nnet.ipv4.conf.*.rp_filter=1\n"}}
	}, []string{`$.files[0]: line 2: the kernel parameter is not used: system.sysctls["vm.swappiness"]`}},
	{"a kernel parameter in a later file", func(c *nodeconfig.NodeConfig) {
		c.System.Sysctls = map[string]string{"vm.swappiness": "60"}
		c.Files = []nodeconfig.File{{Path: "/usr/local/lib/sysctl.d/a.conf", Content: "vm.swappiness = 10\nnet.ipv4.ip_forward = 0\n"}}
	}, []string{
		"$.files[0]: line 2: the kernel parameter counts from the next boot on, and until then /etc/sysctl.d/99-kubernetes-cri.conf",
		`$.files[0]: line 1: the kernel parameter counts from the next boot on, and until then system.sysctls["vm.swappiness"]`,
	}},
	{"a file with the name of another one", func(c *nodeconfig.NodeConfig) {
		c.Files = []nodeconfig.File{{Path: "/etc/sysctl.d/a.conf", Content: "vm.swappiness=1\n"}, {Path: "/usr/local/lib/sysctl.d/a.conf", Content: "vm.swappiness=2\n"}}
	}, []string{"$.files[1]: is not read: files[0] has the same name"}},
	{"files that systemd-sysctl does not read", func(c *nodeconfig.NodeConfig) {
		c.System.Sysctls = map[string]string{"vm.swappiness": "60"}
		c.Files = []nodeconfig.File{
			{Path: "/etc/sysctl.d/a.txt", Content: "vm.swappiness=1\n"}, {Path: "/etc/sysctl.d/.a.conf", Content: "vm.swappiness=2\n"}, {Path: "/etc/sysctl.d/a/b.conf", Content: "vm.swappiness=3\n"},
		}
	}, nil},
	{"three files", func(c *nodeconfig.NodeConfig) {
		c.Files = []nodeconfig.File{{Path: "/etc/sysctl.d/a.conf", Content: "vm.swappiness=1\n"}, {Path: "/etc/sysctl.d/b.conf", Content: "vm.swappiness=2\n"}, {Path: "/etc/sysctl.conf", Content: "vm.swappiness=2\n"}}
	}, []string{"$.files[0]: line 1: the kernel parameter is not used: line 1 of files[1]"}},
}

func dropIn(unit, name, content string) []nodeconfig.Unit {
	return []nodeconfig.Unit{{Name: unit, DropIns: []nodeconfig.DropIn{{Name: name, Content: content}}}}
}

func TestOneSettingInTwoPlacesIsOneWarning(t *testing.T) {
	_, usual := New(contract(t, "native/minimal.yaml"), facts.Facts{})
	for _, c := range twiceCases {
		_, problems := New(contract(t, "native/minimal.yaml", c.change), facts.Facts{})
		problems = slices.DeleteFunc(problems, func(p nodeconfig.Problem) bool { return slices.Contains(usual, p) })
		if !slices.EqualFunc(problems, c.want, func(p nodeconfig.Problem, want string) bool {
			at, reason, _ := strings.Cut(want, ": ")
			return !p.Fatal && p.Path == at && strings.Contains(p.Reason, reason)
		}) {
			t.Errorf("%s:\ngot  %v\nwant %q", c.name, problems, c.want)
		}
	}
}

func TestUnitsThatSystemdRefusesAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		units []nodeconfig.Unit
		want  string
	}{
		"a second command of the kubelet's":  {dropIn("kubelet.service", "99-a.conf", "[Service]\nExecStart=/usr/bin/kubelet --foo\n"), "$.units[0].dropIns[0].content: line 2: is a second ExecStart="},
		"a mount unit with another name":     {[]nodeconfig.Unit{{Name: "mnt-a.mount", Content: "[Mount]\nWhat=/dev/x\nWhere=/mnt/b\n"}}, "$.units[0].content: line 3: Where= does not fit the unit's name"},
		"a service without a command":        {[]nodeconfig.Unit{{Name: "a.service", Content: "[Service]\nType=notify\n"}}, "$.units[0].content: line 2: the service has no ExecStart="},
		"a unit without a section's last ]":  {[]nodeconfig.Unit{{Name: "a.service", Content: "[Service]\nExecStart=/bin/a\n[Install\n"}}, "$.units[0].content: line 3: is not the head of a section"},
		"a drop-in that takes the rest away": {dropIn("kubelet.service", "99-a.conf", "[Service]\nExecStart=\n"), "$.units[0]: the service has no ExecStart="},
	} {
		_, problems := New(contract(t, "native/minimal.yaml", func(config *nodeconfig.NodeConfig) { config.Units = c.units }), facts.Facts{})
		at, reason, _ := strings.Cut(c.want, ": ")
		if !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return p.Fatal && p.Path == at && strings.HasPrefix(p.Reason, reason)
		}) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
