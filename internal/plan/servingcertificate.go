package plan

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// servingCertificate plans that a kubelet that nobody signs a serving certificate for finds one when it starts. It would make
// it itself, before anything else that it does, with two keys of RSA: on a small machine that takes longer than all that the agent does.
var servingCertificate = concern{
	name:  "serving certificate",
	joins: true,
	reads: []string{"$.kubelet.config", "$.kubelet.flags", "$.kubelet.nodeName"},
	plan:  planServingCertificate,
}

// The settings that say what the kubelet's serving certificate may be.
const (
	cipherSuitesFlag  = "tls-cipher-suites"
	cipherSuitesField = "tlsCipherSuites"
	// curveSuites is what the names of those cipher suites begin with that a key on an elliptic curve can be used with.
	curveSuites = "TLS_ECDHE_ECDSA_"
)

// makesServing reports whether the agent makes the kubelet's serving certificate: nobody names one or signs it, and who
// connects can agree on a cipher with a key on an elliptic curve.
func makesServing(in *input) bool {
	k := in.config.Kubelet
	named := func(flag, field string) bool {
		value := kubeletSetting(k, flag, field, "")
		return value != "" && !isSelfSigned(in, flag, value)
	}
	suites := kubeletSetting(k, cipherSuitesFlag, cipherSuitesField, "")
	return in.joins() && !in.rotatesServing() && retiringCertificate(k) != "" &&
		!named(certificateFlag, certificateField) && !named(keyFlag, keyField) &&
		(suites == "" || strings.Contains(suites, curveSuites))
}

func planServingCertificate(in *input, out *output) {
	if !makesServing(in) {
		return
	}
	pair := servingPair(path.Dir(retiringCertificate(in.config.Kubelet)))
	out.addTo(firstGroup, resource.Resource{
		Phase:    resource.Join,
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "the kubelet finds the serving certificate that it would make itself",
		Spec: &resource.ServingCertificate{
			Label:       "kubelet-server",
			Node:        nodeName(in.config.Kubelet),
			Certificate: pair[0],
			Key:         pair[1],
			Unit:        kubeletUnit,
		},
	})
}
