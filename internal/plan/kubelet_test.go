package plan

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletFile returns the kubelet's configuration, read back, or nil if the plan has none.
func kubeletFile(t *testing.T, c *nodeconfig.NodeConfig) map[string]any {
	t.Helper()
	p, _ := New(c, facts.Facts{})
	place := familyOf(c).Paths.KubeletConfig
	if !planned(p, resource.ID("File:"+place)) {
		return nil
	}
	var config map[string]any
	if err := json.Unmarshal(fileAt(t, p, place).Content, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// The contract's configuration is passed through, over Slipway's defaults in a family that has any.
func TestKubeletConfig(t *testing.T) {
	const crt, key = "/etc/kubernetes/certs/kubeletserver.crt", "/etc/kubernetes/certs/kubeletserver.key"
	for _, c := range []struct {
		name, layout, version string
		config                map[string]any
		want                  map[string]any // of the fields that are looked at
		gone                  []string
		none                  bool
	}{
		{name: "no file in AKS's layout", layout: nodeconfig.LayoutAKS, none: true},
		{name: "kind is filled in", layout: nodeconfig.LayoutAKS, config: map[string]any{"maxPods": json.Number("30")}, want: map[string]any{
			"maxPods": 30.0, "kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1",
		}, gone: []string{"clusterDNS", "authorization"}},
		{name: "defaults", layout: nodeconfig.LayoutStandard, want: map[string]any{
			"rotateCertificates": true, "cgroupDriver": "systemd", "clusterDomain": "cluster.local",
			"authorization": map[string]any{"mode": "Webhook"},
		}, gone: []string{"clusterDNS"}},
		{name: "over the defaults, by field", layout: nodeconfig.LayoutStandard,
			config: map[string]any{
				"authentication": map[string]any{"webhook": map[string]any{"cacheTTL": "1m"}}, "authorization": "replaced",
				"clusterDNS": []any{"10.1.1.1"}, "unknown": map[string]any{"deep": []any{nil, 1.5}},
			},
			want: map[string]any{
				"authentication": map[string]any{
					"anonymous": map[string]any{"enabled": false},
					"webhook":   map[string]any{"enabled": true, "cacheTTL": "1m"},
					"x509":      map[string]any{"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
				},
				"authorization": "replaced", "clusterDNS": []any{"10.1.1.1"}, "unknown": map[string]any{"deep": []any{nil, 1.5}},
			}},
		{name: "a certificate that nothing creates", layout: nodeconfig.LayoutAKS, config: map[string]any{"tlsCertFile": crt, "tlsPrivateKeyFile": key},
			gone: []string{"tlsCertFile", "tlsPrivateKeyFile"}},
		{name: "that certificate, where it is the contract's own", layout: nodeconfig.LayoutStandard,
			config: map[string]any{"tlsCertFile": crt, "tlsPrivateKeyFile": key}, want: map[string]any{"tlsCertFile": crt, "tlsPrivateKeyFile": key}},
		{name: "a certificate of one's own", layout: nodeconfig.LayoutAKS, config: map[string]any{"tlsCertFile": "/x.crt", "tlsPrivateKeyFile": "/x.key"},
			want: map[string]any{"tlsCertFile": "/x.crt", "tlsPrivateKeyFile": "/x.key"}},
		{name: "a certificate that the cluster signs", layout: nodeconfig.LayoutAKS,
			config: map[string]any{"tlsCertFile": "/x.crt", "serverTLSBootstrap": true},
			want:   map[string]any{"serverTLSBootstrap": true}, gone: []string{"tlsCertFile"}},
		{name: "idle timeout before 1.34", layout: nodeconfig.LayoutAKS, version: "1.33.1", config: map[string]any{"streamingConnectionIdleTimeout": "4h"},
			want: map[string]any{"streamingConnectionIdleTimeout": "4h"}},
		{name: "idle timeout from 1.34", layout: nodeconfig.LayoutAKS, version: "1.34.1", config: map[string]any{"streamingConnectionIdleTimeout": "4h"},
			gone: []string{"streamingConnectionIdleTimeout"}},
		{name: "numbers stay as they are", layout: nodeconfig.LayoutAKS, config: map[string]any{"a": json.Number("1e2"), "b": json.Number("10.0")},
			want: map[string]any{"a": 100.0, "b": 10.0}},
		{name: "null", layout: nodeconfig.LayoutStandard, config: map[string]any{"staticPodPath": nil}, want: map[string]any{"staticPodPath": nil}},
	} {
		got := kubeletFile(t, contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Components.Layout, n.Kubelet.Config = c.layout, c.config
			n.Cluster.ServiceCIDRs, n.Cluster.DNSServiceIPs = nil, nil
			if c.version != "" {
				n.Cluster.KubernetesVersion = c.version
			}
		}))
		if c.none != (got == nil) {
			t.Errorf("%s: there is a file: %v", c.name, got != nil)
		}
		for field, want := range c.want {
			if value, ok := got[field]; !ok || !reflect.DeepEqual(value, want) {
				t.Errorf("%s: %s is %v, want %v", c.name, field, value, want)
			}
		}
		for _, field := range c.gone {
			if value, ok := got[field]; ok {
				t.Errorf("%s: %s is %v, want none", c.name, field, value)
			}
		}
	}
}

func TestMergeChangesNeither(t *testing.T) {
	base := map[string]any{"a": map[string]any{"x": 1}, "b": 2}
	over := map[string]any{"a": map[string]any{"y": 3}, "c": 4}
	got := kubeletsetting.Merge(base, over)
	if want := map[string]any{"a": map[string]any{"x": 1, "y": 3}, "b": 2, "c": 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if !reflect.DeepEqual(base, map[string]any{"a": map[string]any{"x": 1}, "b": 2}) || !reflect.DeepEqual(over, map[string]any{"a": map[string]any{"y": 3}, "c": 4}) {
		t.Errorf("changed to %v and %v", base, over)
	}
}

func TestServingCALabel(t *testing.T) {
	for _, layout := range profile.Names() {
		for _, rotation := range []any{nil, false, "true", true} {
			for _, labels := range []map[string]string{nil, {"a": "b"}} {
				c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
					n.Components.Layout, n.Kubelet.Labels = layout, labels
					n.Kubelet.Config = map[string]any{"serverTLSBootstrap": rotation}
				})
				for _, v := range violations(c, facts.Facts{}) {
					t.Errorf("%s, %v: %s", layout, rotation, v)
				}
				_, variables, err := kubeletCommand(first(New(c, facts.Facts{})))
				if err != nil {
					t.Fatal(err)
				}
				want := layout == nodeconfig.LayoutAKS && rotation == true
				if got := strings.Contains(variables["KUBELET_NODE_LABELS"], "kubernetes.azure.com/kubelet-serving-ca=cluster"); got != want {
					t.Errorf("%s, %v: labels are %s", layout, rotation, variables["KUBELET_NODE_LABELS"])
				}
			}
		}
	}
}

func TestNodeIP(t *testing.T) {
	for _, c := range []struct {
		name, layout, version string
		contract, known       []string
		families              []string
		want                  string
	}{
		{name: "the contract's", layout: nodeconfig.LayoutStandard, contract: []string{"10.0.0.9", "fd00::9"}, known: []string{"10.0.0.1"}, want: "10.0.0.9,fd00::9"},
		{name: "standard leaves it to the kubelet", layout: nodeconfig.LayoutStandard, known: []string{"10.0.0.1"}},
		{name: "AKS", layout: nodeconfig.LayoutAKS, known: []string{"10.0.0.1", "fd00::1"}, want: "10.0.0.1"},
		{name: "AKS, not needed yet", layout: nodeconfig.LayoutAKS, version: "1.28.1", known: []string{"10.0.0.1"}},
		{name: "AKS, both families", layout: nodeconfig.LayoutAKS, known: []string{"10.0.0.1", "fd00::1"}, families: []string{"IPv4", "IPv6"}, want: "10.0.0.1,fd00::1"},
		{name: "AKS, IPv6", layout: nodeconfig.LayoutAKS, known: []string{"10.0.0.1", "fd00::1"}, families: []string{"IPv6"}, want: "fd00::1"},
		{name: "AKS, none known", layout: nodeconfig.LayoutAKS},
	} {
		config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Components.Layout, n.Kubelet.NodeIPs, n.Network.IPFamilies = c.layout, c.contract, c.families
			if c.version != "" {
				n.Cluster.KubernetesVersion = c.version
			}
		})
		argv, _, err := kubeletCommand(first(New(config, facts.Facts{NodeIPs: c.known})))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, arg := range argv {
			if ip, ok := strings.CutPrefix(arg, "--node-ip="); ok {
				got = ip
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Flags are in order of name; those of one name stay in theirs, since the last of them counts.
func TestOrderOfFlags(t *testing.T) {
	made := profile.Of(nodeconfig.LayoutAKS).Kubelet.SelfSigned.Certificate
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Components.Layout, n.Kubelet.NodeName = nodeconfig.LayoutAKS, "node-1"
		n.Kubelet.Taints = []nodeconfig.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "c", Effect: "NoExecute"}}
		n.Kubelet.Flags = []nodeconfig.Flag{
			{Name: "v", Value: "1"}, {Name: "address", Value: "2"}, {Name: "v", Value: "0"},
			{Name: "tls-cert-file", Value: made}, {Name: "tls-private-key-file", Value: "/mine"},
		}
	})
	_, variables, err := kubeletCommand(first(New(c, facts.Facts{})))
	if err != nil {
		t.Fatal(err)
	}
	want := "--address=2 --hostname-override=node-1 --register-with-taints=a=b:NoSchedule,c:NoExecute " +
		"--tls-private-key-file=/mine --v=1 --v=0"
	if got := variables[familyOf(c).Kubelet.Variable(profile.Flags)]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Components.Layout = nodeconfig.LayoutStandard // where the file may well be there
	argv, _, err := kubeletCommand(first(New(c, facts.Facts{})))
	if err != nil || !slices.Contains(argv, "--"+"tls-cert-file"+"="+made) {
		t.Errorf("got %s, %v", argv, err)
	}
	many := contract(t, "native/minimal.yaml")
	for i := range 100 {
		many.Kubelet.Flags = append(many.Kubelet.Flags, nodeconfig.Flag{Name: string(rune('y' - i%2)), Value: strconv.Itoa(i)})
	}
	argv, _, err = kubeletCommand(first(New(many, facts.Facts{})))
	given := argv[max(0, len(argv)-100):]
	if err != nil || !strings.HasPrefix(given[0], "--x=1") || !slices.IsSortedFunc(given, func(a, b string) int {
		a, one, _ := strings.Cut(a, "=")
		b, other, _ := strings.Cut(b, "=")
		first, _ := strconv.Atoi(one)
		second, _ := strconv.Atoi(other)
		return cmp.Or(cmp.Compare(a, b), cmp.Compare(first, second))
	}) {
		t.Errorf("flags are in the order %v, %v", given, err)
	}
}

// An image may hold several kubelets. The wanted one is installed.
func TestKubeletBinary(t *testing.T) {
	for _, c := range []struct{ version, path, wanted, link string }{
		{"1.36.3", "/opt/bin/kubelet-1.36.3", "1.36.3", "/opt/bin/kubelet-1.36.3"},
		{"1.36.3", "/usr/bin/kubelet", "1.36.3", ""},
		{"1.36.2", "/opt/bin/kubelet-1.36.2", "1.36.3", ""},
		{"1.36.3", "opt/bin/kubelet", "1.36.3", ""},
		{"1.36.3", "/opt/../kubelet", "1.36.3", ""},
		{"1.36.3", "", "1.36.3", ""},
		{"", "/opt/bin/kubelet-", "", ""},
	} {
		config := contract(t, "native/minimal.yaml")
		config.Cluster.KubernetesVersion = c.wanted
		known, err := facts.Parse([]byte(`{"components":[{"name":"kubelet","version":"` + c.version + `","path":"` + c.path + `"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := New(config, known)
		link := ""
		for _, r := range p.Resources {
			if s, ok := r.Spec.(*resource.Symlink); ok && s.Path == familyOf(config).Paths.Kubelet {
				link = s.Target
				if !slices.Equal(r.Restarts, []string{concern.KubeletUnit}) {
					t.Errorf("restarts %v", r.Restarts)
				}
			}
		}
		if link != c.link {
			t.Errorf("%+v: the kubelet is %q", c, link)
		}
		if !planned(p, "Check:kubelet-binary") {
			t.Error("no check looks for a kubelet")
		}
	}
}

func TestImageCredentialProvider(t *testing.T) {
	config := map[string]any{"providers": []any{map[string]any{"defaultCacheDuration": "10m", "n": json.Number("3"), "f": json.Number("2.5"), "on": "yes"}}}
	place := profile.Of(nodeconfig.LayoutStandard).Paths.CredentialConfig
	for _, c := range []struct {
		name, flag, file string
		provider         *nodeconfig.ImageCredentialProvider
		warned           string
	}{
		{name: "none"},
		{name: "a configuration", provider: &nodeconfig.ImageCredentialProvider{Config: config}, flag: place, file: place},
		{name: "with a place", provider: &nodeconfig.ImageCredentialProvider{Config: config, ConfigFile: "/etc/kubernetes/p.yaml"}, flag: "/etc/kubernetes/p.yaml", file: "/etc/kubernetes/p.yaml"},
		{name: "the image's", provider: &nodeconfig.ImageCredentialProvider{ConfigFile: "/usr/share/p.yaml"}, flag: "/usr/share/p.yaml"},
		{name: "nothing", provider: &nodeconfig.ImageCredentialProvider{}, warned: "$.kubelet.imageCredentialProvider.config"},
	} {
		n := contract(t, "native/minimal.yaml")
		if n.Kubelet.ImageCredentialProvider = c.provider; c.provider != nil {
			c.provider.BinDir = "/opt/provider"
		}
		p, problems := New(n, facts.Facts{})
		argv, _, err := kubeletCommand(p)
		if err != nil {
			t.Fatal(err)
		}
		both := slices.Contains(argv, "--image-credential-provider-config="+c.flag) && slices.Contains(argv, "--image-credential-provider-bin-dir=/opt/provider")
		if any := strings.Contains(strings.Join(argv, " "), "image-credential-provider"); any != (c.flag != "") || any && !both {
			t.Errorf("%s: the kubelet gets %q", c.name, argv)
		}
		if warned := len(problems) == 1 && problems[0].Path == c.warned; warned != (c.warned != "") {
			t.Errorf("%s: problems are %v", c.name, problems)
		}
		if c.file == "" {
			if planned(p, resource.ID("File:"+place)) || planned(p, resource.ID("File:"+c.flag)) {
				t.Errorf("%s: a file is written", c.name)
			}
			continue
		}
		var got map[string]any
		if err := yaml.Unmarshal(fileAt(t, p, c.file).Content, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"providers": []any{map[string]any{"defaultCacheDuration": "10m", "n": 3, "f": 2.5, "on": "yes"}}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
