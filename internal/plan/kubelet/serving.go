package kubelet

import (
	"cmp"
	"maps"
	"strconv"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The settings by which a kubelet asks the cluster for its serving certificate.
const (
	rotationFlag  = "rotate-server-certificates"
	rotationField = "serverTLSBootstrap"
)

// servingRotation reports whether the kubelet requests its serving certificate from the cluster. The flag takes precedence over the
// contract's configuration, and that over the family's.
func servingRotation(in *concern.Input) bool {
	configured := cmp.Or(kubeletsetting.Field(in.Config.Kubelet, rotationField), in.FamilySets(rotationField)) == true
	asks, err := strconv.ParseBool(kubeletsetting.Value(in.Config.Kubelet, rotationFlag, "", strconv.FormatBool(configured)))
	return err == nil && asks
}

// ServingTagMatters reports whether the kubelet requests the certificate unless a tag of the machine prevents it. The tag is
// AKS's, and has no meaning on nodes of a family without a label for the signer of the certificate.
func ServingTagMatters(in *concern.Input) bool {
	return servingRotation(in) && len(in.Family.Kubelet.ServingLabels) > 0
}

// servingOff reports whether a tag of the machine has the kubelet make the certificate itself, against the contract.
func servingOff(in *concern.Input) bool {
	return ServingTagMatters(in) && in.Facts.Instance != nil && in.Facts.Instance.OwnServingCertificate
}

// rotatesServing reports whether the kubelet asks the cluster for its serving certificate.
func rotatesServing(in *concern.Input) bool { return servingRotation(in) && !servingOff(in) }

// withServingOff returns the kubelet's configuration without the request, if a tag prevents it.
func withServingOff(in *concern.Input, out *concern.Output, config map[string]any) map[string]any {
	if config[rotationField] != true || !servingOff(in) {
		return config
	}
	config = maps.Clone(config)
	config[rotationField] = false
	warnServingOff(out, "$.kubelet.config."+rotationField)
	return config
}

func warnServingOff(out *concern.Output, at string) {
	out.Warn(nodeconfig.Dropped, at, "is off, because the machine's tag %s says so: the kubelet makes its serving certificate itself", facts.ServingTag)
}

// The settings that name the kubelet's serving certificate and its key.
const (
	certificateFlag  = "tls-cert-file"
	certificateField = "tlsCertFile"
	keyFlag          = "tls-private-key-file"
	keyField         = "tlsPrivateKeyFile"
)

// isSelfSigned reports whether a setting names a certificate, or its key, that the family's own scripts would make.
func isSelfSigned(in *concern.Input, flag, value string) bool {
	pair := in.Family.Kubelet.SelfSigned
	return value != "" && (flag == certificateFlag && value == pair.Certificate || flag == keyFlag && value == pair.Key)
}
