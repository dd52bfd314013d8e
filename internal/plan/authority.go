package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
)

// authority writes the cluster's certificates.
var authority = concern{
	name:  "cluster certificates",
	joins: true,
	reads: []string{"$.cluster.certificateAuthority", "$.cluster.serverCertificate"},
	plan:  planAuthority,
}

func planAuthority(in *input, out *output) {
	c := in.config.Cluster
	out.file(resource.Join, in.layout.ca, in.layout.caMode, []byte(c.CertificateAuthority),
		"verifies the API server and the kubelet's clients", kubeletUnit)
	if c.ServerCertificate != "" {
		out.file(resource.Join, in.layout.serverCert, 0o644, []byte(c.ServerCertificate), "the API server's own certificate")
	}
}
