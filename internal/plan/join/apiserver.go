package join

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// apiServer checks, while the kubelet starts, that the API server can be reached the way the
// kubelet reaches it: a failure here has a name, one in the kubelet's log has to be searched for.
var apiServer = concern.Concern{
	Name:  "API server",
	Joins: true,
	Reads: []string{
		"$.checks.apiServerTimeout",
		"$.cluster.certificateAuthority",
		setting.AuthorityHashes,
		"$.cluster.server",
		setting.SkipVerification,
		"$.join.bootstrapToken",
		"$.kubelet.flags",
	},
	Plan: planAPIServer,
}

func planAPIServer(in *concern.Input, out *concern.Output) {
	c := in.Config
	check := &resource.Check{
		Label:   concern.APIServerLabel,
		Timeout: c.Checks.APIServerTimeout,
		ExitCodes: map[resource.Cause]int{
			resource.CauseDNS:      exitcode.APIServerNameUnresolved,
			resource.CauseCloudDNS: exitcode.APIServerNameUnknown,
		},
		APIServer: &resource.APIServer{
			Server:               c.Cluster.Server,
			CertificateAuthority: c.Cluster.CertificateAuthority,
		},
	}
	// A node that has joined has a certificate; the token may have expired since, and the kubelet waits for an API server
	// that does not answer.
	check.Unless = in.Certificate
	if in.Method == nodeconfig.JoinBootstrapToken {
		check.APIServer.Token = resource.Hidden{Secret: c.Join.BootstrapToken}
	}
	out.Append(resource.Resource{
		Phase:    resource.Join,
		After:    []resource.ID{concern.CertificateGroup.All()},
		ExitCode: exitcode.APIServerUnreachable,
		Reason:   "the API server answers at its name, with trusted TLS, and accepts the node's credential",
		Spec:     check,
	})
	if !in.FallsBack() {
		return
	}
	// The token is of interest only when the kubelet starts with it, because it got no certificate before.
	fallback, server := *check, *check.APIServer
	server.Token = resource.Hidden{Secret: c.Join.BootstrapToken}
	fallback.Label, fallback.APIServer = "api-server-token", &server
	out.Append(resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{concern.StartGroup.All()},
		ExitCode: exitcode.APIServerUnreachable,
		Reason:   "the API server accepts the token that the node falls back on",
		Spec:     &fallback,
	})
}
