package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/redact"
)

// serverPatience is how long the API server may take to answer.
const serverPatience = 3 * time.Second

// apiServerChecks are those of the way to the API server.
var apiServerChecks = []Check{{
	Name: "kubeconfig", Asks: "Does the kubelet have a kubeconfig, or a bootstrap kubeconfig, that can be read?", Needs: []string{"waiting"},
	Causes: []Cause{
		{"missing", "the kubelet is set up, and has neither of its kubeconfigs", "join the machine: run its provisioning (`slipway-node provision`, `kubeadm join`), or restore the file from the machine's backup"},
		{"unreadable", "the file is empty, damaged or incomplete", "remove the damaged file and join the machine again; a power cut while the kubelet wrote the file leaves it empty"},
	},
	Look: lookKubeconfig,
}, {
	Name: "api-server", Asks: "Does the API server answer this machine, with a certificate of its cluster?",
	Needs: []string{"clock", "route", "names", "proxy", "kubeconfig"}, Live: true, Deadline: serverPatience + time.Second,
	Causes: []Cause{
		{"refused", "nothing listens at the API server's address", "start the API server or its load balancer; check that the kubeconfig has the right address and port"},
		{"unreachable", "the network has no way to the API server's address", "check the machine's routes and the router: an ICMP message or the kernel reports that there is no way"},
		{"silent", "the API server's address does not answer", "check the address, and the firewalls on the way: packets to it are dropped"},
		{"silent-azure", "the API server's address does not answer, on Azure", "check the subnet's network security group and route table (a firewall that 0.0.0.0/0 points to must let the API server's address and port through), the cluster's authorized IP ranges, and for a private cluster its private endpoint and the peering"},
		{"silent-ec2", "the API server's address does not answer, on EC2", "check that the cluster's security group lets this machine's security group in on port 443, the subnet's route table and network ACL, and the cluster's endpoint access (private, or public with this machine's NAT address in publicAccessCidrs)"},
		{"large-packets", "the API server answers small packets, and large ones are lost", "lower the interface's MTU to what the path carries (overlays and VPNs: often 1400 or less), or let ICMP \"fragmentation needed\" through the firewalls"},
		{"handshake", "the connection stands, and the TLS handshake does not end", "check what listens at this address, and whether a firewall on the way inspects or drops TLS connections"},
		{"other-authority", "the server's certificate is not of the CA in the kubeconfig: another cluster, or a program that inspects TLS", "check that the server's address and the CA in the kubeconfig are of the same cluster, and join again with the right ones; exclude the API server from TLS inspection"},
		{"expired", "the server's certificate has expired", "renew the API server's certificate (kubeadm: `kubeadm certs renew apiserver` on the control plane)"},
		{"not-yet-valid", "the server's certificate is not valid yet", "compare the clocks of this machine and of the control plane"},
		{"other-name", "the server's certificate does not have the name in the kubeconfig", "use a name or address that the certificate has, or add this one to the API server's certificate (kubeadm: apiServer.certSANs)"},
		{"not-kubernetes", "another server answers in its place", "check the server's URL in the kubeconfig: another program, or a proxy's page, answers"},
		{"failing", "the API server answers with an error", "look at the API server's log and at its etcd"},
	},
	Look: lookServer,
}}

func lookKubeconfig(_ context.Context, p *Patient) *Finding {
	k, a := p.Kubelet(), p.access()
	if k.Origin == "" || p.Provisions && a.kubelet == nil && a.bootstrap == nil {
		return fine("this machine has no kubelet yet")
	}
	if a.kubelet != nil {
		return fine("%s is for %s", a.kubelet.File, a.kubelet.Server)
	}
	if a.bootstrap != nil {
		if a.kubeletError == nil || missing(a.kubeletError) {
			return fine("%s is for %s, and %s does not exist yet", a.bootstrap.File, a.bootstrap.Server, k.Kubeconfig.Value)
		}
		return wrong("unreadable", "the kubelet does not start: %s", a.kubeletError)
	}
	for _, err := range []error{a.kubeletError, a.bootstrapError} {
		if err != nil && !missing(err) {
			if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) {
				return unknownFor(err)
			}
			return wrong("unreadable", "the kubelet cannot use its kubeconfig: %s", err)
		}
	}
	switch {
	case k.Kubeconfig.Value == "":
		return fine("the kubelet has no flag --kubeconfig, and so no API server")
	case k.Bootstrap.Value == "":
		return wrong("missing", "the kubelet's kubeconfig %s does not exist, and no bootstrap kubeconfig is set up (%s)", k.Kubeconfig.Value, k.Origin)
	}
	return wrong("missing", "neither the kubelet's kubeconfig %s nor its bootstrap kubeconfig %s exists (%s)", k.Kubeconfig.Value, k.Bootstrap.Value, k.Origin)
}

func lookServer(ctx context.Context, p *Patient) *Finding {
	s := p.server()
	if s == nil {
		return skipped("this machine does not know its API server yet")
	}
	limited, cancel := context.WithTimeout(ctx, p.Patience(serverPatience))
	defer cancel()
	o := p.Machine.Attempt(limited, s.attempt(limited, p, "/version"))
	f := new(Finding).with("GET "+s.Server+"/version", describe(o))
	if o.Failed == "" {
		return judgeServer(f, s, o)
	}
	return s.failed(ctx, f, p, o)
}

// describe is an outcome as evidence.
func describe(o *host.Outcome) string {
	at := ""
	if o.Address.IsValid() {
		at = " (" + o.Address.String() + ")"
	}
	if o.Failed != "" {
		return fmt.Sprintf("not %s%s: %s", o.Failed, at, reason(o.Err))
	}
	return fmt.Sprintf("HTTP status %d%s", o.Status, at)
}

// judgeServer judges an answer. A server that wants a credential has answered as an API server does.
func judgeServer(f *Finding, s *server, o *host.Outcome) *Finding {
	var got struct{ GitVersion, Kind string }
	isKubernetes := json.Unmarshal(o.Body, &got) == nil && (got.GitVersion != "" || got.Kind == "Status")
	switch {
	case o.Status >= 500:
		return f.wrong("failing", "the API server %s answers with HTTP status %d", s.at(o), o.Status)
	case o.Status == http.StatusOK && !isKubernetes, o.Status/100 == 3, o.Status == http.StatusNotFound && !isKubernetes:
		return f.wrong("not-kubernetes", "the answer of %s to GET /version is not an API server's (HTTP status %d, %q)", s.at(o), o.Status, redact.Line(o.Header.Get("Content-Type"), 60))
	case got.GitVersion != "":
		return f.fine("the API server %s answers: Kubernetes %s", s.at(o), redact.Line(got.GitVersion, 40))
	}
	return f.fine("the API server %s answers (HTTP status %d without a credential)", s.at(o), o.Status)
}

// at names the server with the address that was tried.
func (s *server) at(o *host.Outcome) string {
	name := net.JoinHostPort(s.host, s.port)
	if a := o.Address; a.IsValid() && a.Addr().String() != s.host && s.proxy.IsZero() {
		name += " (" + a.Addr().String() + ")"
	}
	return name
}

// failed finds the cause of a failed attempt.
func (s *server) failed(ctx context.Context, f *Finding, p *Patient, o *host.Outcome) *Finding {
	switch o.Failed {
	case host.Resolved:
		return f.unknown("the API server %s was not asked: %s", s.at(o), reason(o.Err))
	case host.Connected:
		return s.unconnected(f, p, o)
	case host.Tunneled:
		return f.unknown("the proxy does not lead to %s: %s", s.at(o), reason(o.Err))
	case host.Secured:
		if found := s.untrusted(f, p, o); found != nil {
			return found
		}
	}
	return s.stalled(ctx, f, p, o)
}

// unconnected is a failed connection.
func (s *server) unconnected(f *Finding, p *Patient, o *host.Outcome) *Finding {
	switch {
	case errors.Is(o.Err, syscall.ECONNREFUSED):
		return f.wrong("refused", "the API server's address refuses the connection: nothing listens at %s", s.at(o))
	case errors.Is(o.Err, syscall.ENETUNREACH), errors.Is(o.Err, syscall.EHOSTUNREACH), errors.Is(o.Err, syscall.ENETDOWN):
		return f.wrong("unreachable", "there is no way to the API server: connecting to %s fails with %q", s.at(o), reason(o.Err))
	case isTimeout(o.Err):
		return f.wrong(inCloud("silent", p.Machine.Platform()), "the API server does not answer: a TCP connection to %s is not accepted within %s", s.at(o), p.Patience(serverPatience).Round(time.Second))
	}
	return f.wrong("unreachable", "the API server %s cannot be reached: %s", s.at(o), reason(o.Err))
}

// inCloud is the cause that has the action for a cloud.
func inCloud(cause, platform string) string {
	switch platform {
	case facts.Azure, facts.EC2:
		return cause + "-" + platform
	}
	return cause
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// untrusted is a certificate that does not pass, or nil.
func (s *server) untrusted(f *Finding, p *Patient, o *host.Outcome) *Finding {
	issuer, from := "an unknown issuer", s.AuthorityFile
	if len(o.Shown) > 0 {
		issuer = fmt.Sprintf("%q", redact.Line(o.Shown[0].Issuer.String(), 80))
	}
	if from == "" {
		from = s.File
	}
	var unknownCA x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	switch {
	case errors.As(o.Err, &unknownCA):
		return f.wrong("other-authority", "the API server %s has a certificate that %s has signed, which is not a CA in %s", s.at(o), issuer, from)
	case errors.As(o.Err, &name):
		return f.wrong("other-name", "the certificate of the API server %s is not for that name: %s", s.at(o), redact.Line(name.Error(), 160))
	case errors.As(o.Err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		now, c := p.Now(), invalid.Cert
		which := "the certificate of the API server " + s.at(o)
		if c.IsCA {
			which = "the CA of " + which
		}
		if now.Before(c.NotBefore) {
			return f.wrong("not-yet-valid", "%s is valid only from %s, and the clock, which is right, shows %s", which, stamp(c.NotBefore), stamp(now))
		}
		return f.wrong("expired", "%s has expired at %s", which, stamp(c.NotAfter))
	}
	var refused *tls.CertificateVerificationError
	if errors.As(o.Err, &refused) {
		return f.wrong("other-authority", "the certificate of the API server %s does not pass: %s", s.at(o), redact.Line(reason(o.Err), 160))
	}
	return nil
}

//go:noinline
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// stalled is a connection on which no answer comes. A request without TLS shows whether small packets pass: a server with
// TLS answers it with an error (Go: net/http, "client sent an HTTP request to an HTTPS server").
func (s *server) stalled(ctx context.Context, f *Finding, p *Patient, o *host.Outcome) *Finding {
	step := map[host.Step]string{host.Secured: "the TLS handshake", host.Answered: "the request"}[o.Failed]
	if !isTimeout(o.Err) {
		how := redact.Line(reason(o.Err), 120)
		if errors.Is(o.Err, io.EOF) || errors.Is(o.Err, io.ErrUnexpectedEOF) || errors.Is(o.Err, syscall.ECONNRESET) {
			how = "the other side ends the connection"
		}
		return f.wrong("handshake", "the API server %s accepts a connection, and %s fails: %s", s.at(o), step, how)
	}
	ctx, cancel := context.WithTimeout(ctx, p.Patience(time.Second*9/10))
	defer cancel()
	small := s.attempt(ctx, p, "/")
	small.URL = "http" + strings.TrimPrefix(small.URL, "https")
	if s.url.Port() == "" {
		small.URL = "http://" + net.JoinHostPort(s.host, s.port) + "/"
	}
	small.Authority, small.Limit = "", 0
	got := p.Machine.Attempt(ctx, small)
	f.with("GET "+small.URL+" in one small packet", describe(got))
	if got.Failed == "" {
		return f.wrong("large-packets", "the API server %s answers small packets, and %s with its large ones does not end: packets of the path's MTU of %d are lost", s.at(o), step, o.MTU)
	}
	return f.wrong("handshake", "the API server %s accepts a connection, and %s gets no answer within %s", s.at(o), step, p.Patience(serverPatience).Round(time.Second))
}
