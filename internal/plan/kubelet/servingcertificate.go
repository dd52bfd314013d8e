package kubelet

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/resource"
)

// servingCertificate prepares a serving certificate for a kubelet that gets none from a signer. The kubelet would make it before
// anything else, with two RSA keys: on a small machine that takes longer than the whole run of the agent.
var servingCertificate = concern.Concern{
	Name:  "serving certificate",
	Joins: true,
	Reads: []string{"$.kubelet.config", "$.kubelet.flags", "$.kubelet.nodeName"},
	Plan:  planServingCertificate,
}

// The settings that limit the kubelet's serving certificate.
const (
	cipherSuitesFlag  = "tls-cipher-suites"
	cipherSuitesField = "tlsCipherSuites"
	// curveSuites is what the names of those cipher suites begin with that a key on an elliptic curve can be used with.
	curveSuites = "TLS_ECDHE_ECDSA_"
)

// makesServing reports whether the agent makes the kubelet's serving certificate: no setting names one, no signer signs one, and
// the ciphers for clients include one for a key on an elliptic curve.
func makesServing(in *concern.Input) bool {
	k := in.Config.Kubelet
	named := func(flag, field string) bool {
		value := kubeletsetting.Value(k, flag, field, "")
		return value != "" && !isSelfSigned(in, flag, value)
	}
	suites := kubeletsetting.Value(k, cipherSuitesFlag, cipherSuitesField, "")
	return in.Joins() && !rotatesServing(in) && concern.RetiringCertificate(k) != "" &&
		!named(certificateFlag, certificateField) && !named(keyFlag, keyField) &&
		(suites == "" || strings.Contains(suites, curveSuites))
}

func planServingCertificate(in *concern.Input, out *concern.Output) {
	if !makesServing(in) {
		return
	}
	pair := concern.ServingPair(path.Dir(concern.RetiringCertificate(in.Config.Kubelet)))
	out.AppendTo(concern.FirstGroup, resource.Resource{
		Phase:    resource.Join,
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "the kubelet finds the serving certificate that it would make itself",
		Spec: &resource.ServingCertificate{
			Label:       "kubelet-server",
			Node:        kubeletsetting.NodeName(in.Config.Kubelet),
			Certificate: pair[0],
			Key:         pair[1],
			Unit:        concern.KubeletUnit,
		},
	})
}
