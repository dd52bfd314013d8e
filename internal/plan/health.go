package plan

import (
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// How long the parts of a running node are waited for after a change.
const (
	// unitPatience is a unit's: one that was restarted is active within seconds, or is not at all.
	unitPatience = resource.Duration(30 * time.Second)
	// kubeletSteady is how long a kubelet that refuses its settings takes at most to end, on a slow
	// machine.
	kubeletSteady = resource.Duration(5 * time.Second)
	// answerPatience is that of what a unit answers once it runs, on a small machine that has just read
	// all its images and pods.
	answerPatience = resource.Duration(90 * time.Second)
)

// The client certificate, with its key, that a kubelet asks the cluster for when it joins, and before the
// one that it has expires (Kubernetes: TLS bootstrapping; kubelet: --cert-dir).
const (
	kubeletCertDir     = "/var/lib/kubelet/pki"
	kubeletCertificate = tlsbootstrap.Current
)

// healthChecks are the checks that follow a change of a running node, or a way back: each of its parts does what it is
// there for, from the container runtime to the Node that the cluster sees. Each requires the one before
// it, so that the first to fail is the one to look at. A first boot does not ask them: its kubelet may take longer
// to join than a change may take to show that it did no harm.
//
// Parts that cannot be asked are left out: a kubelet whose health endpoint is disabled or on another
// address than the loopback's, a Node whose credential only a plug-in has, and the whole kubelet of a
// config that does not join. A lease needs a node that has joined; on one that has not, its check fails,
// as resource.CauseMissing.
func healthChecks(c *nodeconfig.NodeConfig) []resource.Resource {
	h := &health{}
	h.add(resource.Base, exitcode.UnitStartFailed, "the container runtime runs",
		&resource.Check{Label: "health-containerd-active", Timeout: unitPatience, UnitActive: containerdUnit})
	h.add(resource.Base, exitcode.UnitStartFailed, "the container runtime answers the kubelet's calls",
		&resource.Check{Label: "health-runtime-ready", Timeout: answerPatience, RuntimeReady: containerdReady()})
	if c.Join.Method == nodeconfig.JoinNone {
		return h.checks
	}
	h.add(resource.Join, exitcode.KubeletStartFailed, "the kubelet runs",
		&resource.Check{Label: "health-kubelet-active", Timeout: unitPatience, UnitActive: kubeletUnit, Steady: kubeletSteady})
	if healthz := kubeletHealthz(c.Kubelet); healthz != nil {
		h.add(resource.Join, exitcode.KubeletStartFailed, "the kubelet is healthy",
			&resource.Check{Label: "health-kubelet-healthz", Timeout: answerPatience, Healthz: healthz})
	}
	if credentials := kubeletCredentials(c); credentials != nil {
		h.add(resource.Join, exitcode.KubeletStartFailed, "the kubelet renews its Node's lease, so the cluster sees the node",
			&resource.Check{
				Label:   "health-node-lease",
				Timeout: c.Checks.ChangeTimeout,
				ExitCodes: map[resource.Cause]int{
					resource.CauseDNS:        exitcode.APIServerNameUnresolved,
					resource.CauseCloudDNS:   exitcode.APIServerNameUnknown,
					resource.CauseConnection: exitcode.APIServerUnreachable,
					resource.CauseTLS:        exitcode.APIServerUnreachable,
					resource.CauseCredential: exitcode.APIServerUnreachable,
				},
				LeaseRenewed: &resource.LeaseRenewed{
					Server:               c.Cluster.Server,
					CertificateAuthority: c.Cluster.CertificateAuthority,
					Credentials:          credentials,
					Node:                 nodeName(c.Kubelet),
				},
			})
	}
	return h.checks
}

// nodeName is the Node's name that the contract gives, in lower case; empty where it is the host's.
func nodeName(k nodeconfig.Kubelet) string {
	return strings.ToLower(kubeletSetting(k, "hostname-override", "", k.NodeName))
}

// containerdReady asks containerd as the kubelet does.
func containerdReady() *resource.RuntimeReady {
	return &resource.RuntimeReady{Socket: strings.TrimPrefix(containerdSocket, "unix://")}
}

// RuntimeCheck asks the container runtime whether it answers. It is for a kubelet that has failed: one whose runtime
// hangs ends, or is not well, and is not to blame.
func RuntimeCheck() resource.Resource {
	return resource.Resource{Phase: resource.Base, ExitCode: exitcode.UnitStartFailed, Reason: "the kubelet needs a container runtime that answers",
		Spec: &resource.Check{Label: "runtime-answers", Timeout: resource.Duration(10 * time.Second), RuntimeReady: containerdReady()}}
}

// health is a chain of checks.
type health struct{ checks []resource.Resource }

func (h *health) add(phase resource.Phase, exitCode int, reason string, check *resource.Check) {
	r := resource.Resource{Phase: phase, ExitCode: exitCode, Reason: reason, Spec: check}
	if n := len(h.checks); n > 0 {
		r.Requires = []resource.ID{h.checks[n-1].ID()}
	}
	h.checks = append(h.checks, r)
}

// kubeletHealthz is what a kubelet can be asked how it is by; nil where it cannot.
func kubeletHealthz(k nodeconfig.Kubelet) *resource.Healthz {
	if url := healthzURL(k); url != "" {
		return &resource.Healthz{URL: url}
	}
	return nil
}

// healthzURL is the kubelet's health endpoint, or "" where there is none on the loopback (Kubernetes:
// KubeletConfiguration, healthzBindAddress and healthzPort; 0 disables it).
func healthzURL(k nodeconfig.Kubelet) string {
	port, err := strconv.ParseUint(kubeletSetting(k, "healthz-port", "healthzPort", "10248"), 10, 16)
	if err != nil || port == 0 {
		return ""
	}
	address, err := netip.ParseAddr(kubeletSetting(k, "healthz-bind-address", "healthzBindAddress", "127.0.0.1"))
	switch {
	case err != nil:
		return ""
	case address == netip.IPv4Unspecified():
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case address == netip.IPv6Unspecified():
		address = netip.IPv6Loopback()
	case !address.IsLoopback():
		return ""
	}
	return "http://" + netip.AddrPortFrom(address, uint16(port)).String() + "/healthz"
}

// kubeletSetting is the value of a kubelet's setting: the flag's, which takes precedence, or else the
// field's in its configuration, or else the default. The field is empty for a setting that only a flag sets.
func kubeletSetting(k nodeconfig.Kubelet, flag, field, otherwise string) string {
	value := otherwise
	if set := configured(k, field); set != nil {
		value = fmt.Sprint(set)
	}
	for _, f := range k.Flags { // the last of one name is the one that counts
		if f.Name == flag {
			value = f.Value
		}
	}
	return value
}

// kubeletList is the same for a list of texts. Flags of one name add up (github.com/spf13/pflag, StringSlice).
func kubeletList(k nodeconfig.Kubelet, flag, field string) []string {
	var values []string
	given := false
	for _, f := range k.Flags {
		if f.Name == flag {
			values, given = append(values, strings.Split(f.Value, ",")...), true
		}
	}
	if list, _ := configured(k, field).([]any); !given {
		for _, item := range list {
			values = append(values, fmt.Sprint(item))
		}
	}
	return values
}

// kubeletSwitch is the same for a setting that is on or off. One that is neither is what it is without a setting: the kubelet itself
// refuses it.
func kubeletSwitch(k nodeconfig.Kubelet, flag, field string, otherwise bool) bool {
	on, err := strconv.ParseBool(kubeletSetting(k, flag, field, strconv.FormatBool(otherwise)))
	if err != nil {
		return otherwise
	}
	return on
}

// kubeletCredentials are where the kubelet's client certificate is. Like the kubelet, they prefer the one
// that it was given by the cluster to the one that it was installed with.
func kubeletCredentials(c *nodeconfig.NodeConfig) []resource.KeyPair {
	own := resource.KeyPair{Certificate: ownCertificate(c.Kubelet)}
	switch c.Join.Method {
	case nodeconfig.JoinBootstrapToken, nodeconfig.JoinAttested:
		return []resource.KeyPair{own}
	case nodeconfig.JoinClientCertificate:
		l := profile.Of(c.Components.Layout).Paths
		return []resource.KeyPair{own, {Certificate: l.ClientCert, Key: l.ClientKey}}
	}
	return nil
}

// ownCertificate is where the kubelet keeps the certificate that the cluster gave it.
func ownCertificate(k nodeconfig.Kubelet) string {
	return path.Join(kubeletSetting(k, "cert-dir", "", kubeletCertDir), kubeletCertificate)
}
