package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// healthCheck is the check of a label, or nil.
func healthCheck(checks []resource.Resource, label string) *resource.Check {
	for _, r := range checks {
		if check := r.Spec.(*resource.Check); check.Label == label {
			return check
		}
	}
	return nil
}

// Every example's checks are a chain, as a part of no plan, with a deadline and a known exit code each.
func TestHealthChecks(t *testing.T) {
	for name, c := range contracts(t) {
		before := nodeconfig.Encode(c)
		checks := healthChecks(c)
		if !reflect.DeepEqual(checks, healthChecks(c)) || !bytes.Equal(before, nodeconfig.Encode(c)) {
			t.Errorf("%s: the checks differ, or the config does", name)
		}
		p, _ := New(c, ubuntu(t))
		for i, r := range checks {
			if planned(p, r.ID()) {
				t.Errorf("%s: %s is in the plan too", name, r.ID())
			}
			var want []resource.ID
			if i > 0 {
				want = []resource.ID{checks[i-1].ID()}
			}
			if !reflect.DeepEqual(r.Requires, want) {
				t.Errorf("%s: %s requires %s", name, r.ID(), r.Requires)
			}
			for _, problem := range resourceViolations(c, r) {
				t.Errorf("%s: %s %s", name, r.ID(), problem)
			}
			if check := r.Spec.(*resource.Check); check.Timeout <= 0 || r.ExitCode == 0 || r.Reason == "" || check.Unless != "" {
				t.Errorf("%s: %+v %+v", name, r, check)
			}
		}
		if problems := jsonViolations(resource.Plan{Resources: checks}); len(problems) > 0 {
			t.Errorf("%s: %s", name, problems)
		}
	}
}

func TestHealthOfAJoiningNode(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Kubelet.NodeName = "node-1" })
	checks := healthChecks(c)
	var labels []string
	for _, r := range checks {
		labels = append(labels, r.Spec.Name())
	}
	const want = "health-containerd-active health-runtime-ready health-kubelet-active health-kubelet-healthz health-node-lease"
	if got := strings.Join(labels, " "); got != want {
		t.Errorf("got %s", got)
	}
	if got := healthCheck(checks, "health-runtime-ready").RuntimeReady.Socket; got != "/run/containerd/containerd.sock" {
		t.Errorf("socket is %s", got)
	}
	lease := healthCheck(checks, "health-node-lease")
	if lease.Timeout != nodeconfig.DefaultChangeTimeout || lease.ExitCodes[resource.CauseDNS] != exitcode.APIServerNameUnresolved ||
		!reflect.DeepEqual(lease.LeaseRenewed, &resource.LeaseRenewed{
			Server: c.Cluster.Server, CertificateAuthority: c.Cluster.CertificateAuthority, Node: "node-1",
			Credentials: []resource.KeyPair{{Certificate: "/var/lib/kubelet/pki/kubelet-client-current.pem"}},
		}) {
		t.Errorf("got %+v", lease)
	}
}

// The contract sets how long a change waits for the lease. The wait of a first boot is separate.
func TestChangeTimeout(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Kubelet.NodeName, n.Checks.ChangeTimeout = "node-1", nodeconfig.Duration(7*time.Second)
	})
	if got := healthCheck(healthChecks(c), "health-node-lease").Timeout; got != c.Checks.ChangeTimeout {
		t.Errorf("got %s", got)
	}
}

func TestHealthByJoinMethod(t *testing.T) {
	const current = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	for _, test := range []struct {
		method      nodeconfig.JoinMethod
		kubelet     bool
		credentials []resource.KeyPair
	}{
		{nodeconfig.JoinNone, false, nil},
		{nodeconfig.JoinExec, true, nil},
		{nodeconfig.JoinAttested, true, []resource.KeyPair{{Certificate: current}}},
		{nodeconfig.JoinBootstrapToken, true, []resource.KeyPair{{Certificate: current}}},
		{nodeconfig.JoinClientCertificate, true, []resource.KeyPair{
			{Certificate: current},
			{Certificate: "/etc/kubernetes/pki/kubelet-client.crt", Key: "/etc/kubernetes/pki/kubelet-client.key"},
		}},
	} {
		c := contract(t, "native/minimal.yaml")
		c.Join.Method = test.method
		checks := healthChecks(c)
		if got := healthCheck(checks, "health-kubelet-active") != nil; got != test.kubelet {
			t.Errorf("%s: the kubelet is checked: %v", test.method, got)
		}
		lease := healthCheck(checks, "health-node-lease")
		if (lease != nil) != (test.credentials != nil) || lease != nil && !reflect.DeepEqual(lease.LeaseRenewed.Credentials, test.credentials) {
			t.Errorf("%s: %+v", test.method, lease)
		}
	}
	c := contract(t, "native/minimal.yaml")
	c.Kubelet.Config = map[string]any{"": "/y"} // a field without a name is not a setting
	if got, want := healthCheck(healthChecks(c), "health-node-lease").LeaseRenewed.Credentials[0].Certificate, current; got != want {
		t.Errorf("the certificate is %s, want %s", got, want)
	}
	c.Kubelet.Flags = []nodeconfig.Flag{{Name: "cert-dir", Value: "/x/"}, {Name: "hostname-override", Value: "Other"}}
	lease := healthCheck(healthChecks(c), "health-node-lease").LeaseRenewed
	if lease.Credentials[0].Certificate != "/x/kubelet-client-current.pem" || lease.Node != "other" {
		t.Errorf("got %+v", lease)
	}
}

func TestHealthzURL(t *testing.T) {
	flags := func(pairs ...string) (flags []nodeconfig.Flag) {
		for i := 0; i < len(pairs); i += 2 {
			flags = append(flags, nodeconfig.Flag{Name: pairs[i], Value: pairs[i+1]})
		}
		return flags
	}
	for _, test := range []struct {
		config map[string]any
		flags  []nodeconfig.Flag
		want   string
	}{
		{nil, nil, "http://127.0.0.1:10248/healthz"},
		{map[string]any{"healthzPort": json.Number("1234")}, nil, "http://127.0.0.1:1234/healthz"},
		{map[string]any{"healthzPort": float64(20248)}, nil, "http://127.0.0.1:20248/healthz"},
		{map[string]any{"healthzPort": int64(0)}, nil, ""},
		{map[string]any{"healthzPort": "many"}, nil, ""},
		{map[string]any{"healthzPort": int64(70000)}, nil, ""},
		{map[string]any{"healthzPort": nil, "healthzBindAddress": ""}, nil, "http://127.0.0.1:10248/healthz"},
		{map[string]any{"healthzBindAddress": "0.0.0.0"}, nil, "http://127.0.0.1:10248/healthz"},
		{map[string]any{"healthzBindAddress": "::"}, nil, "http://[::1]:10248/healthz"},
		{map[string]any{"healthzBindAddress": "::1"}, nil, "http://[::1]:10248/healthz"},
		{map[string]any{"healthzBindAddress": "10.0.0.4"}, nil, ""},
		{map[string]any{"healthzBindAddress": "localhost"}, nil, ""},
		{map[string]any{"healthzPort": int64(0)}, flags("healthz-port", "1", "healthz-port", "2"), "http://127.0.0.1:2/healthz"},
		{nil, flags("healthz-port", "0"), ""},
		{nil, flags("healthz-bind-address", "127.0.0.9"), "http://127.0.0.9:10248/healthz"},
	} {
		got := ""
		if healthz := kubelet.Healthz(nodeconfig.Kubelet{Config: test.config, Flags: test.flags}); healthz != nil {
			got = healthz.URL
		}
		if got != test.want {
			t.Errorf("%v %v: got %q, want %q", test.config, test.flags, got, test.want)
		}
	}
	// As it comes from a document.
	c := contract(t, "aks/kubelet-config-file.json", func(n *nodeconfig.NodeConfig) { n.Kubelet.Config["healthzPort"] = json.Number("10300") })
	if check := healthCheck(healthChecks(c), "health-kubelet-healthz"); check.Healthz.URL != "http://127.0.0.1:10300/healthz" {
		t.Errorf("got %+v", check.Healthz)
	}
}
