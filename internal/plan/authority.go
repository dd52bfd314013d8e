package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
)

// authority writes the cluster's certificates.
var authority = concern{
	name:  "cluster certificates",
	joins: true,
	reads: []string{"$.cluster.certificateAuthority", pinsPath, "$.cluster.serverCertificate", skipPath},
	plan:  planAuthority,
}

func planAuthority(in *input, out *output) {
	unpinnedAuthority(in, out)
	c := in.config.Cluster
	out.file(resource.Join, in.family.Paths.CA, in.family.Paths.CAMode, []byte(c.CertificateAuthority),
		"verifies the API server and the kubelet's clients", kubeletUnit)
	if c.ServerCertificate != "" {
		out.file(resource.Join, in.family.Paths.ServerCert, 0o644, []byte(c.ServerCertificate), "the API server's own certificate")
	}
}
