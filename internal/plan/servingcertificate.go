package plan

import (
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The settings by which a kubelet asks the cluster for its serving certificate.
const (
	rotationFlag  = "rotate-server-certificates"
	rotationField = "serverTLSBootstrap"
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

// servingRotation reports whether the contract's kubelet asks the cluster for its serving certificate: its configuration says
// so, or the flag, which takes precedence.
func servingRotation(c *nodeconfig.NodeConfig) bool {
	configured := strconv.FormatBool(c.Kubelet.Config[rotationField] == true)
	asks, err := strconv.ParseBool(kubeletSetting(c.Kubelet, rotationFlag, "", configured))
	return err == nil && asks
}

// servingTagMatters reports whether the kubelet asks for it, unless a tag of the machine's says no. The tag is AKS's, and
// means nothing on nodes of a family that has no label for whoever signs the certificate.
func (in *input) servingTagMatters() bool {
	return servingRotation(in.config) && len(in.family.Kubelet.ServingLabels) > 0
}

// servingOff reports whether a tag of the machine's says that the kubelet makes it itself, and not as the contract says.
func (in *input) servingOff() bool {
	return in.servingTagMatters() && in.facts.Instance != nil && in.facts.Instance.OwnServingCertificate
}

// rotatesServing reports whether the kubelet asks the cluster for its serving certificate.
func (in *input) rotatesServing() bool { return servingRotation(in.config) && !in.servingOff() }

// withServingOff returns the kubelet's configuration in which it does not ask, where a tag says so.
func withServingOff(in *input, out *output, config map[string]any) map[string]any {
	if config[rotationField] != true || !in.servingOff() {
		return config
	}
	config = maps.Clone(config)
	config[rotationField] = false
	warnServingOff(out, "$.kubelet.config."+rotationField)
	return config
}

func warnServingOff(out *output, at string) {
	out.warn(nodeconfig.Dropped, at, "is off, because the machine's tag %s says so: the kubelet makes its serving certificate itself", facts.ServingTag)
}
