package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/runtime"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

func TestModules(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.System.Modules = []string{"ip_vs", "overlay", "ip_vs"} })
	p, _ := New(c, facts.Facts{})
	want := []string{"br_netfilter", "ip_vs", "nf_conntrack", "overlay"}
	if got := string(fileAt(t, p, "/etc/modules-load.d/slipway.conf").Content); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("got %q", got)
	}
	var loaded []string
	for _, r := range p.Resources {
		if m, ok := r.Spec.(*resource.Module); ok {
			loaded = append(loaded, m.Module)
		}
	}
	if !slices.Equal(loaded, want) {
		t.Errorf("loaded are %q", loaded)
	}
}

// Parameters are written for every boot, and set now once the module is there that brings them; the
// kubelet starts after all of them.
func TestSysctls(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.System.Sysctls = map[string]string{
			"net.ipv4.ip_forward": "0", "net.netfilter.nf_conntrack_max": "1", "net.ipv6.conf.all.disable_ipv6": "1",
			"net.ipv4.conf.*.rp_filter": "2", "vm.max_map_count": "9",
		}
	})
	p, problems := New(c, facts.Facts{})
	if len(problems) != 1 || problems[0].Path != `$.system.sysctls["net.ipv4.conf.*.rp_filter"]` || problems[0].Fatal {
		t.Errorf("problems are %v", problems)
	}
	content := string(fileAt(t, p, "/etc/sysctl.d/99-slipway.conf").Content)
	if !slices.IsSorted(strings.Split(strings.TrimSpace(content), "\n")) || !strings.Contains(content, "net.ipv4.conf.*.rp_filter=2\n") {
		t.Errorf("got %q", content)
	}
	got := make(map[string]resource.Resource)
	var kubelet resource.Resource
	for _, r := range p.Resources {
		if s, ok := r.Spec.(*resource.Sysctl); ok {
			got[s.Key] = r
		}
		if r.ID() == "Unit:kubelet.service" {
			kubelet = r
		}
	}
	for _, want := range []struct {
		key, value, module string
		optional           bool
	}{
		{"net.ipv4.ip_forward", "0", "", false}, // the contract's wins
		{"net.ipv4.conf.all.forwarding", "1", "", false},
		{"net.ipv6.conf.all.forwarding", "1", "", true},
		{"net.ipv6.conf.all.disable_ipv6", "1", "", true},
		{"net.bridge.bridge-nf-call-iptables", "1", "br_netfilter", false},
		{"net.netfilter.nf_conntrack_max", "1", "nf_conntrack", false},
		{"vm.max_map_count", "9", "", false},
	} {
		r := got[want.key]
		var requires []resource.ID
		if want.module != "" {
			requires = append(requires, resource.ID("Module:"+want.module))
		}
		s, _ := r.Spec.(*resource.Sysctl)
		if s == nil || s.Value != want.value || s.Optional != want.optional || !slices.Equal(r.Requires, requires) || r.ExitCode != exitcode.SysctlFailed {
			t.Errorf("%s: %+v %+v", want.key, r, s)
		}
		if !slices.Contains(kubelet.Requires, resource.ID("Sysctl:"+want.key)) {
			t.Errorf("the kubelet does not wait for %s", want.key)
		}
		delete(got, want.key)
	}
	if len(got) > 0 {
		t.Errorf("set too: %v", got)
	}
}

func TestImageCheck(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		layout       string
		preinstalled *bool
		checked      bool
	}{
		{nodeconfig.LayoutAKS, &yes, true}, {nodeconfig.LayoutAKS, &no, false}, {nodeconfig.LayoutAKS, nil, false},
		{nodeconfig.LayoutStandard, &yes, false}, {nodeconfig.LayoutStandard, nil, false},
	} {
		n := contract(t, "native/minimal.yaml")
		n.Components.Layout, n.Components.Preinstalled = c.layout, c.preinstalled
		p, _ := New(n, facts.Facts{})
		if got := planned(p, "Check:image-built"); got != c.checked {
			t.Errorf("%+v: checked: %v", c, got)
		}
		for _, r := range p.Resources {
			if r.ID() == "Unit:containerd.service" && slices.Contains(r.Requires, "Check:image-built") != c.checked {
				t.Errorf("%+v: containerd waits for %v", c, r.Requires)
			}
		}
	}
}

func TestResolver(t *testing.T) {
	for _, c := range []struct {
		layout, os string
		linked     bool
	}{
		{nodeconfig.LayoutAKS, "ubuntu", true}, {nodeconfig.LayoutAKS, "azurelinux", false}, {nodeconfig.LayoutAKS, "", false},
		{nodeconfig.LayoutStandard, "ubuntu", false},
	} {
		n := contract(t, "native/minimal.yaml")
		n.Components.Layout = c.layout
		p, _ := New(n, facts.Facts{OS: facts.OS{ID: c.os}})
		if got := planned(p, "Symlink:/etc/resolv.conf"); got != c.linked {
			t.Errorf("%+v: linked: %v", c, got)
		}
	}
}

func TestCNI(t *testing.T) {
	const conflist, template = "File:/etc/cni/net.d/10-azure.conflist", "File:" + concern.KubenetFile
	for _, c := range []struct {
		plugin, policy string
		azure, kubenet bool
	}{
		{plugin: "none"}, {plugin: ""},
		{plugin: "azure", azure: true},
		{plugin: "azure", policy: "none", azure: true},
		{plugin: "azure", policy: "azure", azure: true},
		{plugin: "azure", policy: "calico", azure: true},
		{plugin: "kubenet", kubenet: true},
		{plugin: "kubenet", policy: "azure", kubenet: true},
		{plugin: "kubenet", policy: "calico"},
	} {
		n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Network.Plugin, n.Network.Policy = c.plugin, c.policy })
		p, _ := New(n, facts.Facts{})
		if got := planned(p, template); got != c.kubenet {
			t.Errorf("%+v: template: %v", c, got)
		}
		if got := strings.Contains(string(fileAt(t, p, "/etc/containerd/config.toml").Content), concern.KubenetFile); got != c.kubenet {
			t.Errorf("%+v: containerd knows the template: %v", c, got)
		}
		if got := planned(p, conflist); got != c.azure {
			t.Errorf("%+v: list: %v", c, got)
		}
	}
	if !json.Valid([]byte(azureList)) {
		t.Errorf("no JSON: %s", azureList)
	}
	// containerd's output of the template is JSON, for one range and for two.
	for _, ranges := range []int{1, 2} {
		subnets := strings.Repeat(`, [{"subnet": "10.0.0.0/24"}]`, ranges)[2:]
		before, rest, _ := strings.Cut(runtime.KubenetTemplate, "[{{range $i, $range")
		_, rest, _ = strings.Cut(rest, "}]{{end}}")
		between, after, _ := strings.Cut(rest, "{{range $i, $route")
		_, after, _ = strings.Cut(after, "}{{end}}")
		made := before + "[" + subnets + between + `{"dst": "0.0.0.0/0"}` + after
		if !json.Valid([]byte(made)) {
			t.Errorf("no JSON: %s", made)
		}
	}
}

func TestFeatures(t *testing.T) {
	c := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) { n.Components.Features = map[string]string{"B": "2", "A": "x=y"} })
	f := fileAt(t, first(New(c, facts.Facts{})), familyOf(c).Paths.Features)
	if string(f.Content) != "A=x=y\nB=2\n" || f.Mode != 0o600 {
		t.Errorf("%04o %q", f.Mode, f.Content)
	}
}

// azure.json: exponent and jitter are there but in mode v2, and the secret is in this file alone.
func TestAzureConfig(t *testing.T) {
	for _, mode := range []string{"v2", "v1", "default"} {
		c := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) {
			n.Cloud.Azure.Backoff.Mode = mode
			n.Cloud.Azure.Backoff.Exponent = new(1.5)
			n.Cloud.Azure.Identity.ClientSecret = nodeconfig.NewSecret(`p"\<&>é`)
		})
		p, _ := New(c, facts.Facts{})
		f := fileAt(t, p, familyOf(c).Paths.CloudConfig)
		var got map[string]any
		if err := json.Unmarshal(f.Content, &got); err != nil {
			t.Fatal(err)
		}
		if got["cloudProviderBackoffMode"] != mode {
			t.Errorf("mode is %v, want %s", got["cloudProviderBackoffMode"], mode)
		}
		if got["aadClientSecret"] != `p"\<&>é` || !f.Secret || f.Mode != 0o600 {
			t.Errorf("secret is %q, in a file of mode %04o", got["aadClientSecret"], f.Mode)
		}
		exponent, has := got["cloudProviderBackoffExponent"]
		if has != (mode != "v2") || has && exponent != 1.5 {
			t.Errorf("%s: exponent is %v", mode, exponent)
		}
		if got["cloud"] != "AzurePublicCloud" || got["maximumLoadBalancerRuleCount"] != 250.0 || got["providerKeyName"] != "k8s" {
			t.Errorf("got %v", got)
		}
	}
}

// A kubelet is restarted for a new azure.json where it reads it itself.
func TestReadersOfAzureConfig(t *testing.T) {
	for _, flag := range []string{"cloud-config", "cloud-provider"} {
		c := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) {
			n.Kubelet.Flags = []nodeconfig.Flag{{Name: flag, Value: "x"}}
			n.Cloud.Azure.Custom = &nodeconfig.AzureCustomCloud{Endpoints: "{}"}
		})
		p, _ := New(c, facts.Facts{})
		for _, r := range p.Resources {
			if r.Spec.Name() == familyOf(c).Paths.CloudConfig && (len(r.Restarts) == 1) != (flag == "cloud-config") {
				t.Errorf("%s: restarts %v", flag, r.Restarts)
			}
		}
		if f := fileAt(t, p, familyOf(c).Paths.CustomCloud); string(f.Content) != "{}" || f.Mode != 0o600 {
			t.Errorf("%04o %q", f.Mode, f.Content)
		}
		if _, variables, _ := kubeletCommand(p); variables["AZURE_ENVIRONMENT_FILEPATH"] != familyOf(c).Paths.CustomCloud {
			t.Errorf("variables are %v", variables)
		}
	}
}

// On Azure, exactly these two rules keep pods from the wire server. AKS allows eBPF host routing only on nodes without
// other rules. Each rule is removed, if it exists, before it is inserted.
func TestWireServerRules(t *testing.T) {
	want := map[string][]string{"": nil, "azure": {
		"-iptables -w -D FORWARD -d 168.63.129.16 -p tcp --dport 80 -j DROP",
		"iptables -w -I FORWARD -d 168.63.129.16 -p tcp --dport 80 -j DROP",
		"-iptables -w -D FORWARD -d 168.63.129.16 -p tcp --dport 32526 -j DROP",
		"iptables -w -I FORWARD -d 168.63.129.16 -p tcp --dport 32526 -j DROP",
	}}
	for provider, rules := range want {
		c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Cloud.Provider = provider })
		var got []string
		for _, s := range settings(string(fileAt(t, first(New(c, facts.Facts{})), resource.UnitDir+"/"+familyOf(c).Kubelet.Prepare).Content)) {
			if s[0] == "ExecStart" && strings.Contains(s[1], "iptables") {
				got = append(got, s[1])
			}
		}
		if !slices.Equal(got, rules) {
			t.Errorf("%q: got %q, want %q", provider, got, rules)
		}
	}
}
