package plan

import (
	"maps"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The agent requests the kubelet's certificate after the node has the name that the kubelet will use. What starts the kubelet
// comes after that, and after the kubelet's serving certificate.
func TestOrderOfCertificates(t *testing.T) {
	const client, serving = "Certificate:kubelet-client", "ServingCertificate:kubelet-server"
	named := func(c *nodeconfig.NodeConfig) { c.Kubelet.NodeName = "node-1" }
	for name, c := range map[string]struct {
		change  func(*nodeconfig.NodeConfig)
		known   facts.Facts
		starter resource.ID
		// after and requires are what the request comes after.
		after, requires []resource.ID
	}{
		"named after the host": {change: func(*nodeconfig.NodeConfig) {}, starter: "Unit:kubelet.service"},
		"named by cloud-init": {change: func(*nodeconfig.NodeConfig) {}, known: facts.Facts{CloudInit: true, Instance: &facts.Instance{Hostname: "other"}},
			starter: "Unit:kubelet.service", after: []resource.ID{"Check:kubelet-network"}},
		"named by its cloud": {change: func(*nodeconfig.NodeConfig) {}, known: facts.Facts{Instance: &facts.Instance{Hostname: "node-1"}},
			starter: "Unit:kubelet.service", requires: []resource.ID{"Sysctl:kernel.hostname"}},
		"named by the contract":        {change: named, starter: "Unit:kubelet.service"},
		"a command starts the kubelet": {change: startedBy("systemctl start kubelet"), starter: "Command:command-1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := New(contract(t, "native/minimal.yaml", c.change), c.known)
			resources := p.ByID()
			if after := resources[c.starter].After; !slices.Equal(after, []resource.ID{client, serving}) {
				t.Errorf("the kubelet starts after %q", after)
			}
			request := resources[client]
			if !slices.Equal(request.After, c.after) || !slices.Equal(request.Requires, c.requires) {
				t.Errorf("the request comes after %q, and requires %q", request.After, request.Requires)
			}
			want := make(map[resource.Cause]int) // by the causes at which the kubelet would fail, too; the API server's check reports all others
			for _, cause := range []resource.Cause{
				resource.CauseForbidden, resource.CauseDenied, resource.CauseUnapproved, resource.CauseSigner, resource.CauseUnusable,
			} {
				want[cause] = exitcode.CertificateRefused
			}
			if codes := request.Spec.(*resource.Certificate).ExitCodes; !maps.Equal(codes, want) {
				t.Errorf("exit codes %v", codes)
			}
		})
	}
}
