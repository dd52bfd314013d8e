package resource

import (
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Duration is a span of time, written as in Go: "15m0s".
type Duration = nodeconfig.Duration

// Check is a condition that must be true. It changes nothing. Exactly one of its conditions is set.
type Check struct {
	// Label names the check within the plan.
	Label string `json:"label"`
	// Timeout limits the wait for the condition.
	Timeout Duration `json:"timeout"`
	// Unless is a path: if it has a non-empty file, the check does not run.
	Unless string `json:"unless,omitempty"`
	// Advisory reports that the node works without it: a failure is a warning.
	Advisory bool `json:"advisory,omitempty"`
	// ExitCodes are the provisioning's exit codes by cause; the resource's ExitCode is for every other cause.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
	// PathExists requires that this path exists.
	PathExists string `json:"pathExists,omitempty"`
	// UnitActive requires an active unit.
	UnitActive string `json:"unitActive,omitempty"`
	// Holds is a unit that this boot and later ones do not start any more once the check has failed. If it runs, it continues to run. It
	// may be empty.
	Holds string `json:"holds,omitempty"`
	// Foreign reports that only a command starts the unit. A directory host runs no command and skips the check.
	Foreign bool `json:"foreign,omitempty"`
	// Steady is how long the unit must have been active without interruption: a unit that systemd restarts again and
	// again is also active at times.
	Steady Duration `json:"steady,omitempty"`
	// Well ends the wait for Steady as soon as the unit's health endpoint answers, and answers again a while later.
	Well *Healthz `json:"well,omitempty"`
	// Restarts is how often systemd may restart the unit during the wait for Steady, or before it is active: a unit
	// that starts too early for a dependency fails once, one that rejects its settings fails each time.
	Restarts int `json:"restarts,omitempty"`
	// APIServer requires a reachable API server.
	APIServer *APIServer `json:"apiServer,omitempty"`
	// RuntimeReady requires a container runtime that answers.
	RuntimeReady *RuntimeReady `json:"runtimeReady,omitempty"`
	// Healthz requires a kubelet that reports that it is healthy.
	Healthz *Healthz `json:"healthz,omitempty"`
	// LeaseRenewed requires a kubelet that reaches its cluster.
	LeaseRenewed *LeaseRenewed `json:"leaseRenewed,omitempty"`
	// FreeName requires a Node's name that no other machine has.
	FreeName *FreeName `json:"freeName,omitempty"`
	// Reachable requires a reachable server.
	Reachable *Reachable `json:"reachable,omitempty"`
	// Manifest requires an image whose component manifest is the expected one.
	Manifest *nodeconfig.ManifestRequirement `json:"manifest,omitempty"`
	// Digest requires a file with this content.
	Digest *Digest `json:"digest,omitempty"`
	// Network requires what a kubelet reads of the machine's network when it starts.
	Network *Network `json:"network,omitempty"`
}

// Digest is the content of a file.
type Digest struct {
	Path string `json:"path"`
	// SHA256 is the file's digest, in hexadecimal.
	SHA256 string `json:"sha256"`
}

// Network is what a kubelet reads of the machine's network when it starts. It does not read it again, or only after a
// failure.
type Network struct {
	// Addresses are the addresses that it registers: each must be the machine's and not tentative, and there must be a
	// default route. An unspecified one means any of its family that other machines can reach.
	Addresses []string `json:"addresses,omitempty"`
	// Resolver is the path of the file with the DNS servers (resolv.conf(5)), if a name must be resolved. It must have
	// a server.
	Resolver string `json:"resolver,omitempty"`
	// HostName requires that the host has a name (hostname(5)): the Node is named after it.
	HostName bool `json:"hostName,omitempty"`
	// After is a target that is reached after a program has named the host. It may be empty. The check waits for it
	// while systemd is starting it, as a unit with that ordering would.
	After string `json:"after,omitempty"`
}

// APIServer is an API server that must be reachable as the node will reach it: by name, over TLS, with the node's
// credential.
type APIServer struct {
	// Server is its URL.
	Server string `json:"server"`
	// CertificateAuthority is the PEM its certificate is verified with.
	CertificateAuthority string `json:"certificateAuthority"`
	// Token is sent as the bearer token, where the node joins with one.
	Token Hidden `json:"token,omitzero"`
}

// AsNode is an API server that is asked with the node's credential: with the node's bootstrap token while that is on
// the machine, and otherwise, or if the server rejects the token, with the kubelet's client certificate.
type AsNode struct {
	// Server is its URL.
	Server string `json:"server"`
	// CertificateAuthority is the PEM its certificate is verified with.
	CertificateAuthority string `json:"certificateAuthority"`
	// Bootstrap is the path of the kubeconfig with the token. It may be empty.
	Bootstrap string `json:"bootstrap,omitempty"`
	// Credentials are the possible paths of the kubelet's client certificate; the first existing one is used.
	Credentials []KeyPair `json:"credentials,omitempty"`
}

// FreeName is a Node's name that no other Ready machine may have. If the cluster does not answer, the name counts as
// free.
type FreeName struct {
	AsNode
	// Node is the Node's name. Empty means the host's name, in lower case.
	Node string `json:"node,omitempty"`
}

// Reachable is a server that must be reachable: its name resolves, it accepts a connection, and it presents a
// certificate that the machine trusts.
type Reachable struct {
	// Server is HOST:PORT.
	Server string `json:"server"`
	// Proxy is the path of an environment file with the HTTP proxy to the server. Empty means no proxy.
	Proxy string `json:"proxy,omitempty"`
}

// RuntimeReady is a container runtime that must answer the kubelet's requests: by gRPC, and as a CRI runtime.
type RuntimeReady struct {
	// Socket is the path of its unix socket.
	Socket string `json:"socket"`
}

// Healthz is a health endpoint that must answer with HTTP status 200.
type Healthz struct {
	// URL is http, with a loopback address: "http://127.0.0.1:10248/healthz".
	URL string `json:"url"`
}

// LeaseRenewed is a Node whose lease in kube-node-lease must be renewed, which its kubelet does every ten seconds. It
// is requested with the kubelet's credential.
type LeaseRenewed struct {
	// Server is the API server's URL.
	Server string `json:"server"`
	// CertificateAuthority is the PEM its certificate is verified with.
	CertificateAuthority string `json:"certificateAuthority"`
	// Credentials are the possible paths of the kubelet's client certificate; the first existing one is used.
	Credentials []KeyPair `json:"credentials"`
	// Node is the Node's name. Empty means the name in the certificate, or else the host's name.
	Node string `json:"node,omitempty"`
	// Since is the time after which it must have been renewed. Zero means the start of the check.
	Since time.Time `json:"since,omitzero"`
}

// KeyPair are the files of a client certificate and its key, in PEM.
type KeyPair struct {
	Certificate string `json:"certificate"`
	// Key is empty if one file holds both.
	Key string `json:"key,omitempty"`
}

// Cause is why something failed, if a person would act differently on it.
type Cause string

// The causes.
const (
	CauseDNS         Cause = "dns"         // the name does not resolve
	CauseConnection  Cause = "connection"  // nothing answers
	CauseTLS         Cause = "tls"         // the server cannot be trusted
	CauseCredential  Cause = "credential"  // the node's credential is refused
	CauseMissing     Cause = "missing"     // a file is missing
	CauseUnit        Cause = "unit"        // a unit is not active
	CauseUnhealthy   Cause = "unhealthy"   // a part of the node does not answer, or reports that it is unhealthy
	CauseForbidden   Cause = "forbidden"   // the node's credential may not request a certificate
	CauseDenied      Cause = "denied"      // the node's request for a certificate was denied
	CauseCloudDNS    Cause = "cloud-dns"   // the name does not resolve, by the cloud's DNS server
	CauseNoRoom      Cause = "no-room"     // a disk is full
	CauseUnapproved  Cause = "unapproved"  // the node's request for a certificate was not approved
	CauseSigner      Cause = "signer"      // the cluster's signer fails, or does not sign approved requests
	CauseUnusable    Cause = "unusable"    // the certificate that the cluster has issued is not for this node
	CauseRedirect    Cause = "redirect"    // a server sends the node to another one
	CauseDiscovery   Cause = "discovery"   // the cluster does not show its CA
	CauseUnsigned    Cause = "unsigned"    // the cluster's information is not signed for the node's token
	CausePin         Cause = "pin"         // the cluster's CA differs from the contract's pin
	CauseProxy       Cause = "proxy"       // the proxy cannot be reached, or does not reach the server
	CauseAbsent      Cause = "absent"      // no source has a component
	CauseUnreachable Cause = "unreachable" // no server of a component answers, or all have errors
	CauseRefused     Cause = "refused"     // a component's server denies access to this machine
	CauseContent     Cause = "content"     // a file is not the expected one
	CauseUnpack      Cause = "unpack"      // the downloaded file cannot be unpacked
	CauseForeign     Cause = "foreign"     // another machine has the Node's name
	CauseIdentity    Cause = "identity"    // the machine has no token for a registry
)

// Kind implements Spec.
func (*Check) Kind() string { return "Check" }

// Name implements Spec.
func (c *Check) Name() string { return c.Label }

// Paths implements Spec.
func (*Check) Paths() []string { return nil }

// Valid implements Spec.
func (c *Check) Valid() error { return named(c) }

// Describe implements Spec.
func (c *Check) Describe() Description {
	return Description{Title: c.Label, What: "within " + c.Deadline().String()}
}

// withoutToken is the check without the API server's token, which is in a file of the plan.
func (c *Check) withoutToken() *Check {
	if c.APIServer == nil {
		return c
	}
	check, server := *c, *c.APIServer
	server.Token = Hidden{}
	check.APIServer = &server
	return &check
}

// Deadline returns the check's timeout, or a default of five seconds.
func (c *Check) Deadline() time.Duration {
	if c.Timeout == 0 {
		return 5 * time.Second
	}
	return c.Timeout.Std()
}
