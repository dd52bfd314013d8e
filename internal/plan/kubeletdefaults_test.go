package plan

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// shown is what kubeadm init puts into the ConfigMap, with a setting of the cluster's administrator.
const shown = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}}
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
crashLoopBackOff: {}
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
maxPods: 64
memorySwap: {}
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
`

// answered are the facts of a machine whose cluster has answered with a configuration.
func answered(t testing.TB, c *nodeconfig.NodeConfig, text string) facts.Facts {
	t.Helper()
	known := ubuntu(t)
	known.ClusterAuthority = authorityOf(t)
	answer, err := kubelet.ReadDefaults(concern.WithFetchedAuthority(c, known), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	known.KubeletDefaults = &answer
	return known
}

// authorityOf is the CA of the examples.
func authorityOf(t testing.TB) string {
	t.Helper()
	return contract(t, "native/minimal.yaml").Cluster.CertificateAuthority
}

// plannedKubelet is the kubelet's configuration in a plan.
func plannedKubelet(t testing.TB, p resource.Plan, c *nodeconfig.NodeConfig) map[string]any {
	t.Helper()
	var config map[string]any
	if err := json.Unmarshal(fileAt(t, p, familyOf(c).Paths.KubeletConfig).Content, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// TestClusterSetsKubeletDefaults: all that a cluster of kubeadm sets is in the kubelet's configuration, and nothing else of the node
// differs; a machine's own values stay, without a warning.
func TestClusterSetsKubeletDefaults(t *testing.T) {
	for _, name := range []string{"kubeadm/join.txt", "kubeadm/kubeconfig.yaml", "kubeadm/join-configuration.yaml"} {
		c := contract(t, name)
		known := answered(t, c, shown)
		with, problems := New(c, known)
		for _, p := range problems {
			if strings.Contains(p.Path, "kubeadm") || strings.Contains(p.Path, "dns") {
				t.Errorf("%s: %s", name, p)
			}
		}
		config := plannedKubelet(t, with, c)
		for field, want := range map[string]any{
			"clusterDNS": []any{"10.96.0.10"}, "maxPods": 64.0, "cgroupDriver": "systemd", "clusterDomain": "cluster.local", "shutdownGracePeriod": "0s",
			"resolvConf": concern.ResolvedList, "containerRuntimeEndpoint": nil, "streamingConnectionIdleTimeout": nil,
		} {
			if got := config[field]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is %v, want %v", name, field, got, want)
			}
		}
		known.KubeletDefaults = nil
		without, problems := New(c, known)
		for _, p := range problems {
			if strings.Contains(p.Path, "dns") {
				t.Errorf("%s, before the cluster has answered: %s", name, p)
			}
		}
		path := familyOf(c).Paths.KubeletConfig
		for i, r := range without.Resources {
			if other := with.Resources[i]; r.ID() != other.ID() || !reflect.DeepEqual(r, other) && r.Spec.Name() != path {
				t.Errorf("%s: %s differs", name, other.ID())
			}
		}
		if len(with.Resources) != len(without.Resources) {
			t.Errorf("%s: there are %d resources, and %d without an answer", name, len(with.Resources), len(without.Resources))
		}
		if !slices.Contains(Needs(c, known), NeedKubeletDefaults) || slices.Contains(Needs(c, answered(t, c, shown)), NeedKubeletDefaults) {
			t.Errorf("%s: the cluster is not asked once", name)
		}
	}
}

// TestContractGoesBeforeCluster: the contract wins field by field.
func TestContractGoesBeforeCluster(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Cluster.Kubeadm, c.Cluster.DNSDomain = true, "own.example"
		c.Cluster.ServiceCIDRs, c.Cluster.DNSServiceIPs = []string{"10.7.0.0/16"}, nil
		c.Kubelet.Config = map[string]any{"maxPods": json.Number("32"), "evictionHard": map[string]any{"memory.available": "1Gi"}}
	})
	p, problems := New(c, answered(t, c, shown+"evictionHard: {memory.available: 2Gi, nodefs.available: 5%}\nserializeImagePulls: false\n"))
	if len(problems) > 0 {
		t.Error(problems)
	}
	got := plannedKubelet(t, p, c)
	for field, want := range map[string]any{
		"clusterDNS": []any{"10.7.0.10"}, "clusterDomain": "own.example", "maxPods": 32.0, "serializeImagePulls": false,
		"evictionHard": map[string]any{"memory.available": "1Gi", "nodefs.available": "5%"},
	} {
		if !reflect.DeepEqual(got[field], want) {
			t.Errorf("%s is %v, want %v", field, got[field], want)
		}
	}
}

// TestHostileKubeletDefaults: a field that is not of the cluster, or that a kubelet refuses, is left out with a warning, and
// everything else is taken.
func TestHostileKubeletDefaults(t *testing.T) {
	for field, text := range map[string]string{
		"staticPodPath":                     "staticPodPath: /tmp",
		"staticPodURL":                      "staticPodURL: http://u:p@x.example/",
		"staticPodURLHeader":                "staticPodURLHeader: {Authorization: [Basic]}",
		"authentication.x509.clientCAFile":  "authentication: {x509: {clientCAFile: /tmp/ca.crt}}",
		"tlsCertFile":                       "tlsCertFile: /tmp/x",
		"providerID":                        "providerID: aws:///x/i-1",
		"kubeReservedCgroup":                "kubeReservedCgroup: /x",
		"enforceNodeAllocatable":            "enforceNodeAllocatable: [pods, kube-reserved]",
		"healthzPort":                       "healthzPort: 1",
		"cgroupDriver":                      "cgroupDriver: cgroupfs",
		"rotateCertificates":                "rotateCertificates: false",
		"maxPods":                           "maxPods: many",
		"imageGCHighThresholdPercent":       "imageGCHighThresholdPercent: 101",
		"featureGates.NoSuchGate":           "featureGates: {NoSuchGate: true, KubeletPSI: true}",
		"noSuchField":                       "noSuchField: 1",
		"logging.options.noSuchFieldEither": "logging: {options: {noSuchFieldEither: 1}}",
	} {
		c := contract(t, "kubeadm/kubeconfig.yaml")
		known := answered(t, c, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nclusterDNS: [10.96.0.10]\n"+text)
		if strings.Contains(string(known.KubeletDefaults.Config), "u:p@") || strings.Contains(string(known.KubeletDefaults.Config), "Basic") {
			t.Errorf("%s: a credential is in the facts: %s", field, known.KubeletDefaults.Config)
		}
		p, problems := New(c, known)
		if len(nodeconfig.Fatal(problems)) > 0 || !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return p.Path == setting.Kubeadm && strings.Contains(p.Reason, "without "+field+":")
		}) {
			t.Errorf("%s: got %v", field, problems)
		}
		plain := contract(t, "kubeadm/kubeconfig.yaml")
		base, _ := New(plain, ubuntu(t))
		want := plannedKubelet(t, base, plain)
		want["clusterDNS"] = []any{"10.96.0.10"}
		got := plannedKubelet(t, p, c)
		if gates, ok := got["featureGates"].(map[string]any); ok && maps.Equal(gates, map[string]any{"KubeletPSI": true}) {
			delete(got, "featureGates")
		}
		delete(got, "logging")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the kubelet gets\n%v, want\n%v", field, got, want)
		}
	}
}

// TestNoKubeletConfiguration: an object of another kind is not taken for a KubeletConfiguration.
func TestNoKubeletConfiguration(t *testing.T) {
	c := contract(t, "kubeadm/kubeconfig.yaml")
	for _, text := range []string{"", "{", "[]", "x", "kind: KubeletConfiguration", "apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration", strings.Repeat("[", 1000)} {
		if got, err := kubelet.ReadDefaults(c, []byte(text)); err == nil || len(got.Config) > 0 {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

// TestAnswerOfAnotherCluster: the answer of another cluster is not used.
func TestAnswerOfAnotherCluster(t *testing.T) {
	c := contract(t, "kubeadm/kubeconfig.yaml")
	known := answered(t, c, shown)
	known.KubeletDefaults.Cluster = strings.Repeat("0", 64)
	p, _ := New(c, known)
	if got := plannedKubelet(t, p, c)["clusterDNS"]; got != nil || !slices.Contains(Needs(c, known), NeedKubeletDefaults) {
		t.Errorf("clusterDNS is %v", got)
	}
}

// TestNoClusterDNS: a node whose pods cannot resolve service names is made, with a warning.
func TestNoClusterDNS(t *testing.T) {
	none := func(c *nodeconfig.NodeConfig) { c.Cluster.ServiceCIDRs, c.Cluster.DNSServiceIPs = nil, nil }
	flag := func(c *nodeconfig.NodeConfig) {
		none(c)
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "cluster-dns", Value: "10.0.0.10"}}
	}
	field := func(c *nodeconfig.NodeConfig) {
		none(c)
		c.Kubelet.Config = map[string]any{"clusterDNS": []any{"10.0.0.10"}}
	}
	layout := func(name string, also func(*nodeconfig.NodeConfig)) func(*nodeconfig.NodeConfig) {
		return func(c *nodeconfig.NodeConfig) { also(c); c.Components.Layout = name }
	}
	exec := func(c *nodeconfig.NodeConfig) {
		none(c)
		c.Cluster.Kubeadm = true
		c.Join = nodeconfig.Join{Method: nodeconfig.JoinExec, Exec: &nodeconfig.ExecCredential{APIVersion: "client.authentication.k8s.io/v1", Command: "/bin/x"}}
	}
	kubeadm := func(c *nodeconfig.NodeConfig) { none(c); c.Cluster.Kubeadm = true }
	for name, c := range map[string]struct {
		change    func(*nodeconfig.NodeConfig)
		answer    string // why the cluster has given none
		agentless bool
		path      string // empty for no warning
		want      string
	}{
		"none":                   {change: none, path: "$.cluster.dnsServiceIPs", want: "no name of a service"},
		"a range":                {change: func(c *nodeconfig.NodeConfig) {}},
		"a flag":                 {change: flag},
		"a field":                {change: field},
		"none, AKS":              {change: layout(nodeconfig.LayoutAKS, none), path: "$.kubelet.config.clusterDNS", want: "no name of a service"},
		"a range, AKS":           {change: layout(nodeconfig.LayoutAKS, func(*nodeconfig.NodeConfig) {}), path: "$.kubelet.config.clusterDNS", want: "no name of a service"},
		"a flag, AKS":            {change: layout(nodeconfig.LayoutAKS, flag)},
		"the cluster is asked":   {change: kubeadm},
		"no answer":              {change: kubeadm, answer: "the node's credential may not read it (HTTP status 403)", path: "$.cluster.dnsServiceIPs", want: "(HTTP status 403)"},
		"no agent":               {change: kubeadm, agentless: true, path: "$.cluster.dnsServiceIPs", want: "--kubelet-config"},
		"a plug-in's credential": {change: exec, path: "$.cluster.dnsServiceIPs", want: "no name of a service"},
	} {
		config := contract(t, "native/minimal.yaml", c.change)
		known := ubuntu(t)
		if c.answer != "" {
			known.KubeletDefaults = &facts.KubeletDefaults{Cluster: concern.ClusterName(config), Unanswered: c.answer}
		}
		planner := New
		if c.agentless {
			planner = WithoutAgent
		}
		_, problems := planner(config, known)
		found := ""
		for _, p := range problems {
			if p.Kind == nodeconfig.Missing && strings.Contains(p.Reason, "no name of a service") {
				if found = p.Path; !strings.Contains(p.Reason, c.want) || p.Fatal {
					t.Errorf("%s: %s", name, p)
				}
			}
		}
		if found != c.path {
			t.Errorf("%s: a warning at %q, want %q: %v", name, found, c.path, problems)
		}
	}
}

// FuzzKubeletDefaults: whatever a cluster answers, there is a plan without an additional fatal problem, and only the configuration
// file changes.
func FuzzKubeletDefaults(f *testing.F) {
	f.Add(shown)
	f.Add("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nauthentication: 1\nfeatureGates: [a]\n\"a.b[0]\": {}\n")
	c := contract(f, "kubeadm/kubeconfig.yaml")
	known := ubuntu(f)
	base, _ := New(c, known)
	f.Fuzz(func(t *testing.T, text string) {
		answer, err := kubelet.ReadDefaults(c, []byte(text))
		if err != nil {
			return
		}
		known := known
		known.KubeletDefaults = &answer
		p, problems := New(c, known)
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 || len(p.Resources) != len(base.Resources) {
			t.Errorf("%q: %v", text, fatal)
		}
		if _, err := document.Parse(fileAt(t, p, familyOf(c).Paths.KubeletConfig).Content); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// ofKubeadm makes a change of a contract whose cluster is kubeadm's.
func ofKubeadm(change func(*nodeconfig.NodeConfig)) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		if c.Cluster.Kubeadm = true; with {
			change(c)
		}
	}
}
