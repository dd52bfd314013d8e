package plan

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A kubelet gets a serving certificate of the agent's where it would make one itself, and a client can use its key.
func TestServingCertificate(t *testing.T) {
	const pair = "/var/lib/kubelet/pki/kubelet.crt"
	for name, c := range map[string]struct {
		change func(*nodeconfig.NodeConfig)
		want   string
	}{
		"a kubelet of which nothing is said": {want: pair},
		"a directory of the contract's": {
			change: flagged("cert-dir", "/x"), want: "/x/kubelet.crt",
		},
		"not a directory":               {change: flagged("cert-dir", "x y")},
		"the cluster signs it":          {change: configuredAs("serverTLSBootstrap", true)},
		"the cluster signs it, by flag": {change: flagged("rotate-server-certificates", "true")},
		"a certificate of the contract's": {
			change: configuredAs("tlsCertFile", "/etc/own.crt"),
		},
		"a key of the contract's, by flag": {change: flagged("tls-private-key-file", "/etc/own.key")},
		"suites for every key": {
			change: configuredAs("tlsCipherSuites", []any{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}),
			want:   pair,
		},
		"suites for RSA alone":             {change: configuredAs("tlsCipherSuites", []any{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"})},
		"suites for RSA alone, by flag":    {change: flagged("tls-cipher-suites", "TLS_RSA_WITH_AES_128_GCM_SHA256")},
		"a kubelet that the author starts": {change: startedBy("systemctl start kubelet"), want: pair},
		"a node that does not join":        {change: func(n *nodeconfig.NodeConfig) { n.Join = nodeconfig.Join{Method: nodeconfig.JoinNone} }},
	} {
		t.Run(name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*nodeconfig.NodeConfig) {}
			}
			p, _ := New(contract(t, "native/minimal.yaml", change), ubuntu(t))
			got := ""
			for _, r := range p.Resources {
				if s, ok := r.Spec.(*resource.ServingCertificate); ok {
					got = s.Certificate
				}
			}
			if got != c.want {
				t.Errorf("the pair is in %q, want %q", got, c.want)
			}
		})
	}
}

// startedBy has a command of the author's start the kubelet.
func startedBy(text string) func(*nodeconfig.NodeConfig) {
	return func(n *nodeconfig.NodeConfig) { n.Commands = []nodeconfig.ShellCommand{{Text: text, Replaces: true}} }
}

func flagged(name, value string) func(*nodeconfig.NodeConfig) {
	return func(n *nodeconfig.NodeConfig) {
		n.Kubelet.Flags = append(n.Kubelet.Flags, nodeconfig.Flag{Name: name, Value: value})
	}
}

func configuredAs(field string, value any) func(*nodeconfig.NodeConfig) {
	return func(n *nodeconfig.NodeConfig) {
		if n.Kubelet.Config == nil {
			n.Kubelet.Config = make(map[string]any)
		}
		n.Kubelet.Config[field] = value
	}
}
