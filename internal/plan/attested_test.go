package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// attestedNode is a node that joins with its attested identity, and with a token or without.
func attestedNode(t *testing.T, token bool, change ...func(*nodeconfig.NodeConfig)) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		attestable(c)
		if !token {
			c.Join.BootstrapToken = nodeconfig.Secret{}
		}
		for _, f := range change {
			f(c)
		}
	})
}

// clientImage are the facts of an image that has the client at these paths.
func clientImage(paths ...string) facts.Facts {
	f := facts.Facts{Components: []components.Component{{Name: "kubelet", Version: "1.36.3", Path: "/usr/bin/kubelet"}}}
	for _, path := range paths {
		f.Components = append(f.Components, components.Component{Name: "aks-secure-tls-bootstrap-client", Path: path})
	}
	return f
}

// attestedClientPath is where AKS's images have the client.
const attestedClientPath = "/opt/bin/aks-secure-tls-bootstrap-client"

// attestedNodes are nodes that join with their attested identity.
var attestedNodes = map[string]struct {
	token  bool
	facts  facts.Facts
	change func(*nodeconfig.NodeConfig)
	// client is the path of the client that runs; empty if none does.
	client string
	// bootstraps means that the kubelet has a token.
	bootstraps bool
	// checks are those of the API server, the client and the kubelet that are planned.
	checks []string
	// says is a problem's path and the beginning of its reason. fatal is the problem's severity.
	says  string
	fatal bool
}{
	"nothing is known of the image": {
		client: attestedClientPath, checks: []string{"api-server", "attested-client", "attested-identity", "kubelet-active"},
	},
	"the image has the client": {
		facts: clientImage(attestedClientPath), client: attestedClientPath, checks: []string{"api-server", "attested-client", "attested-identity", "kubelet-active"},
	},
	"the client is elsewhere": {
		facts: clientImage("/usr/local/bin/client"), client: "/usr/local/bin/client",
		checks: []string{"api-server", "attested-client", "attested-identity", "kubelet-active"},
	},
	"with a token": {
		token: true, facts: clientImage(attestedClientPath), client: attestedClientPath, bootstraps: true,
		checks: []string{"api-server", "api-server-token", "attested-identity", "kubelet-active"},
	},
	"no client, and a token": {
		token: true, facts: clientImage(), bootstraps: true, checks: []string{"api-server", "kubelet-active"},
		says: "$.join.attested: needs aks-secure-tls-bootstrap-client, and the machine has none; the node joins with its bootstrap token",
	},
	"no client": {
		facts: clientImage(), checks: []string{"api-server", "kubelet-active"}, fatal: true,
		says: "$.join.attested: needs aks-secure-tls-bootstrap-client, and the machine has none; use an image that has it",
	},
	"another port": {
		change: func(c *nodeconfig.NodeConfig) { c.Cluster.Server = "https://api.example:6443" }, client: attestedClientPath,
		checks: []string{"api-server", "attested-client", "attested-identity", "kubelet-active"},
		says:   "$.cluster.server: has another port than 443", fatal: true,
	},
	"no cloud": {
		change: func(c *nodeconfig.NodeConfig) { c.Cloud.Azure = nil }, client: attestedClientPath,
		checks: []string{"api-server", "attested-client", "attested-identity", "kubelet-active"},
		says:   "$.cloud.azure: is missing", fatal: true,
	},
	"a certificate in a place that no unit can name": {
		change: func(c *nodeconfig.NodeConfig) { c.Kubelet.Flags = []nodeconfig.Flag{{Name: "cert-dir", Value: "/a b"}} },
		checks: []string{"api-server", "kubelet-active"}, says: "$.kubelet.flags: cert-dir is not", fatal: true,
	},
	"another family": {
		change: func(c *nodeconfig.NodeConfig) { c.Components.Layout = nodeconfig.LayoutStandard },
		checks: []string{"api-server", "kubelet-active"}, says: "$.join.method: needs a client that nodes of this layout have not", fatal: true,
	},
	"another method": {
		token: true, change: func(c *nodeconfig.NodeConfig) {
			c.Join.Method, c.Join.Attested = nodeconfig.JoinBootstrapToken, &nodeconfig.AttestedBootstrap{}
		},
		bootstraps: true, checks: []string{"api-server", "kubelet-active"}, says: "$.join.attested: is not used",
	},
}

// The contract and the image decide how a node joins. Every obstacle is reported.
func TestAttested(t *testing.T) {
	for name, c := range attestedNodes {
		t.Run(name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*nodeconfig.NodeConfig) {}
			}
			p, problems := New(attestedNode(t, c.token, change), c.facts)
			said := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
				return strings.HasPrefix(p.Path+": "+p.Reason, c.says) && p.Fatal == c.fatal
			})
			if c.says != "" && !said || c.fatal != (len(nodeconfig.Fatal(problems)) > 0) {
				t.Errorf("problems: %v", problems)
			}
			resources := p.ByID()
			unit, planned := resources["File:/etc/systemd/system/secure-tls-bootstrap.service"]
			if planned != (c.client != "") || planned && !strings.Contains(string(unit.Spec.(*resource.File).Content), "\nExecStart="+c.client+" ") {
				t.Errorf("the client's unit: %v, %s", planned, unit.Spec)
			}
			argv, _, err := kubeletCommand(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(strings.Join(argv, " "), "--bootstrap-kubeconfig="); got != c.bootstraps {
				t.Errorf("bootstraps: %v", got)
			}
			var checks []string
			for _, r := range p.Resources {
				if check, ok := r.Spec.(*resource.Check); ok && !slices.Contains([]string{"kubelet-binary", "kubelet-network", "image-built"}, check.Label) {
					checks = append(checks, check.Label)
				}
			}
			if slices.Sort(checks); !slices.Equal(checks, c.checks) {
				t.Errorf("checks: %q, want %q", checks, c.checks)
			}
		})
	}
}

// Without a token, everything waits for the client: its program exists before the kubelet starts, and its failure is not reported
// as the kubelet's. With a token, the client's failure is a warning, and the token is checked only then.
func TestAttestedOrder(t *testing.T) {
	const kubelet, identity = "Unit:kubelet.service", "Check:attested-identity"
	const certificate = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	for _, token := range []bool{false, true} {
		p, _ := New(attestedNode(t, token), facts.Facts{})
		resources := p.ByID()
		requires := func(id, of resource.ID) bool { return slices.Contains(resources[id].Requires, of) }
		if !requires(identity, kubelet) || requires("Check:kubelet-active", identity) == token {
			t.Errorf("token %v: the client is asked about out of order", token)
		}
		asked := resources[identity]
		check := asked.Spec.(*resource.Check)
		if check.Advisory != token || check.Unless != certificate || (check.Restarts > 0) == token || asked.ExitCode != exitcode.AttestedBootstrapFailed {
			t.Errorf("token %v: the client is asked about with %+v, exit code %d", token, check, asked.ExitCode)
		}
		server := resources["Check:api-server"].Spec.(*resource.Check)
		if !server.APIServer.Token.IsZero() || server.Unless != certificate {
			t.Errorf("token %v: the API server is asked with %+v", token, server)
		}
		if token {
			fallback := resources["Check:api-server-token"].Spec.(*resource.Check)
			if fallback.APIServer.Token.IsZero() || fallback.Unless != certificate || !requires("Check:api-server-token", kubelet) {
				t.Errorf("the token is asked about with %+v", fallback)
			}
		} else if !requires(kubelet, "Check:attested-client") || resources["Check:attested-client"].ExitCode != exitcode.AttestedClientMissing {
			t.Error("the kubelet starts without the client")
		}
	}
}

// The client runs as soon as the network is there and what precedes the kubelet has run, and does not wait for the container runtime.
// The kubelet does not come after it in the plan: systemd has its start wait while the client runs, and runs one again that has failed.
func TestAttestedStartsAhead(t *testing.T) {
	const client = "Unit:secure-tls-bootstrap.service"
	for _, token := range []bool{false, true} {
		p, _ := New(attestedNode(t, token), facts.Facts{})
		resources := p.ByID()
		start := resources[client]
		if !slices.Equal(start.Requires, []resource.ID{"Unit:kubelet-prepare.service"}) || !slices.Equal(start.After, []resource.ID{"Check:kubelet-network"}) {
			t.Errorf("token %v: it requires %q, and comes after %q", token, start.Requires, start.After)
		}
		if unit := start.Spec.(*resource.Unit); unit.Ahead != "/var/lib/kubelet/pki/kubelet-client-current.pem" {
			t.Errorf("token %v: it is started until there is %q", token, unit.Ahead)
		}
		kubelet := resources["Unit:kubelet.service"]
		if slices.Contains(kubelet.Requires, client) || slices.Contains(kubelet.After, client) {
			t.Errorf("token %v: the kubelet's start waits for it", token)
		}
	}
}

// The client has as long as its steps have, and never for ever.
func TestAttestedPatience(t *testing.T) {
	for name, c := range map[string]struct {
		timeouts map[string]nodeconfig.Duration
		want     string
	}{
		"by default":   {nil, "TimeoutStartSec=510\n"},
		"one is given": {map[string]nodeconfig.Duration{"credential": nodeconfig.Duration(time.Minute)}, "TimeoutStartSec=210\n"},
		"for ever": {map[string]nodeconfig.Duration{"credential": 1<<63 - 1, "nonce": 1<<63 - 1, "accessToken": 1<<63 - 1},
			"TimeoutStartSec=259275\n"},
	} {
		p, _ := New(attestedNode(t, false, func(n *nodeconfig.NodeConfig) { n.Join.Attested = &nodeconfig.AttestedBootstrap{Timeouts: c.timeouts} }), facts.Facts{})
		if unit := string(fileAt(t, p, "/etc/systemd/system/secure-tls-bootstrap.service").Content); !strings.Contains(unit, c.want) {
			t.Errorf("%s: want %s in\n%s", name, c.want, unit)
		}
		if timeout := p.ByID()["Check:attested-identity"].Spec.(*resource.Check).Timeout; timeout <= 0 {
			t.Errorf("%s: it is waited for %s", name, timeout)
		}
	}
}
