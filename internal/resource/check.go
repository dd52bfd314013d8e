package resource

import (
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Duration is a span of time, written as in Go: "15m0s".
type Duration = nodeconfig.Duration

// Check is something that must be true; it changes nothing. Exactly one of its parts is set.
type Check struct {
	// Label names the check within the plan.
	Label string `json:"label"`
	// Timeout bounds how long it may take to become true.
	Timeout Duration `json:"timeout"`
	// Unless is a path: the check is not performed once a file is there that is not empty.
	Unless string `json:"unless,omitempty"`
	// Advisory says that the node does without: a failure is a warning.
	Advisory bool `json:"advisory,omitempty"`
	// ExitCodes are the codes of a provisioning that fails here, by cause; the resource's own is
	// for every other cause.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
	// PathExists wants something to be at this path.
	PathExists string `json:"pathExists,omitempty"`
	// UnitActive wants a unit to be active.
	UnitActive string `json:"unitActive,omitempty"`
	// Holds is a unit that a boot does not start any more once the check has failed; empty for none.
	Holds string `json:"holds,omitempty"`
	// Foreign says that a command starts the unit, and nobody else: in a directory, where none is run, it is not asked for.
	Foreign bool `json:"foreign,omitempty"`
	// Steady is how long the unit must have been active, in one piece: one that ends and is started again
	// by systemd is active now and then too.
	Steady Duration `json:"steady,omitempty"`
	// Well ends the wait for Steady as soon as the unit answers so, and answers so again a while later.
	Well *Healthz `json:"well,omitempty"`
	// Restarts is how often the unit may end, and be started again by systemd, during the wait for Steady, or before it
	// is active: one that came too early for something does so once, one that refuses its settings each time.
	Restarts int `json:"restarts,omitempty"`
	// APIServer wants an API server that can be reached.
	APIServer *APIServer `json:"apiServer,omitempty"`
	// RuntimeReady wants a container runtime that answers.
	RuntimeReady *RuntimeReady `json:"runtimeReady,omitempty"`
	// Healthz wants a kubelet that says it is well.
	Healthz *Healthz `json:"healthz,omitempty"`
	// LeaseRenewed wants a kubelet that reaches its cluster.
	LeaseRenewed *LeaseRenewed `json:"leaseRenewed,omitempty"`
	// FreeName wants a Node's name that no other machine has.
	FreeName *FreeName `json:"freeName,omitempty"`
	// Reachable wants a server that can be reached.
	Reachable *Reachable `json:"reachable,omitempty"`
	// Network wants what a kubelet reads of the machine's network when it starts.
	Network *Network `json:"network,omitempty"`
}

// Network is what a kubelet reads of the machine's network when it starts, and does not read again, or only after a failure.
type Network struct {
	// Addresses are those that it registers: each must be the machine's own, and no more tentative, and there must be a
	// default route. An unspecified one stands for any of its family that others can reach.
	Addresses []string `json:"addresses,omitempty"`
	// Resolver is the path of the file that names the DNS servers (resolv.conf(5)), where a name must be resolved; there
	// must be a server in it.
	Resolver string `json:"resolver,omitempty"`
	// HostName wants the host to have a name (hostname(5)): the Node is named after it.
	HostName bool `json:"hostName,omitempty"`
	// After is a target that somebody reaches who names the host; empty for none. It is waited for while systemd is
	// starting it, as a unit that is ordered after it would.
	After string `json:"after,omitempty"`
}

// APIServer is an API server that must be reachable as the node will reach it: by name, over TLS,
// with the node's credential.
type APIServer struct {
	// Server is its URL.
	Server string `json:"server"`
	// CertificateAuthority is the PEM its certificate is verified with.
	CertificateAuthority string `json:"certificateAuthority"`
	// Token is sent as the bearer token, where the node joins with one.
	Token Hidden `json:"token,omitzero"`
}

// AsNode is an API server that is asked with the node's own credential: with the token that the node joins with while that is on
// the machine, and else, or if the server refuses the token, with the kubelet's client certificate.
type AsNode struct {
	// Server is its URL.
	Server string `json:"server"`
	// CertificateAuthority is the PEM its certificate is verified with.
	CertificateAuthority string `json:"certificateAuthority"`
	// Bootstrap is the path of the kubeconfig with the token; empty for none.
	Bootstrap string `json:"bootstrap,omitempty"`
	// Credentials are where the kubelet's client certificate may be; the first that is there is used.
	Credentials []KeyPair `json:"credentials,omitempty"`
}

// FreeName is a Node's name that no machine may have that is Ready, but for this one. Where the cluster does not say, it is free.
type FreeName struct {
	AsNode
	// Node is the Node's name; where it is empty, it is the host's name, in lower case.
	Node string `json:"node,omitempty"`
}

// Reachable is a server that must be reached: its name resolves, it can be connected to, and it has a certificate that the machine
// trusts.
type Reachable struct {
	// Server is HOST:PORT.
	Server string `json:"server"`
	// Proxy is the path of an environment file with the HTTP proxy that leads there; empty where none is in between.
	Proxy string `json:"proxy,omitempty"`
}

// RuntimeReady is a container runtime that must answer as the kubelet will ask it: by gRPC, and as a
// runtime of the CRI.
type RuntimeReady struct {
	// Socket is the path of its unix socket.
	Socket string `json:"socket"`
}

// Healthz is a health endpoint that must answer with HTTP status 200.
type Healthz struct {
	// URL is http, of an address of the loopback: "http://127.0.0.1:10248/healthz".
	URL string `json:"url"`
}

// LeaseRenewed is a Node whose lease in kube-node-lease must be renewed, which its kubelet does every
// ten seconds. It is asked for with the kubelet's own credential.
type LeaseRenewed struct {
	// Server is the API server's URL.
	Server string `json:"server"`
	// CertificateAuthority is the PEM its certificate is verified with.
	CertificateAuthority string `json:"certificateAuthority"`
	// Credentials are where the kubelet's client certificate may be; the first that is there is used.
	Credentials []KeyPair `json:"credentials"`
	// Node is the Node's name; where it is empty, the certificate says it, or else the host's name does.
	Node string `json:"node,omitempty"`
	// Since is when it must have been renewed after; zero means when the check began.
	Since time.Time `json:"since,omitzero"`
}

// KeyPair are the files of a client certificate and its key, in PEM.
type KeyPair struct {
	Certificate string `json:"certificate"`
	// Key is empty where one file holds both.
	Key string `json:"key,omitempty"`
}

// Cause is why something failed, where a person would act differently on it.
type Cause string

// The causes.
const (
	CauseDNS         Cause = "dns"         // the name does not resolve
	CauseConnection  Cause = "connection"  // nothing answers
	CauseTLS         Cause = "tls"         // who answers cannot be trusted
	CauseCredential  Cause = "credential"  // the node's credential is refused
	CauseMissing     Cause = "missing"     // something is not there
	CauseUnit        Cause = "unit"        // a unit is not active
	CauseUnhealthy   Cause = "unhealthy"   // a part of the node does not answer, or says that it is not well
	CauseForbidden   Cause = "forbidden"   // the node's credential may not ask for a certificate
	CauseDenied      Cause = "denied"      // somebody has denied the node's request for a certificate
	CauseCloudDNS    Cause = "cloud-dns"   // the name does not resolve, and the cloud's own DNS server says so
	CauseNoRoom      Cause = "no-room"     // a disk has no room
	CauseUnapproved  Cause = "unapproved"  // nobody has approved the node's request for a certificate
	CauseSigner      Cause = "signer"      // the cluster's signer fails, or does not sign what is approved
	CauseUnusable    Cause = "unusable"    // the certificate that the cluster has issued is not one for this node
	CauseRedirect    Cause = "redirect"    // a server sends the node to another one
	CauseDiscovery   Cause = "discovery"   // the cluster does not show its CA
	CauseUnsigned    Cause = "unsigned"    // what the cluster shows is not signed for the node's token
	CausePin         Cause = "pin"         // the cluster's CA is another than the contract pins
	CauseProxy       Cause = "proxy"       // the proxy cannot be reached, or does not lead there
	CauseAbsent      Cause = "absent"      // no place has a component
	CauseUnreachable Cause = "unreachable" // no server of a component answers, or none can give it
	CauseRefused     Cause = "refused"     // the server of a component does not give it to this machine
	CauseContent     Cause = "content"     // what was brought is not what was asked for
	CauseUnpack      Cause = "unpack"      // the file that is wanted does not come out of what was brought
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

// withoutToken is the check without the API server's token, which a file of the plan holds.
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
