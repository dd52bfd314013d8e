package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

const (
	// approvalPatience is how long a request may wait: an approver answers within a second.
	approvalPatience = 15 * time.Second
	// maxRequests limits the list of requests.
	maxRequests = 8 << 20
	maxReason   = 200
)

// requestChecks are those of the request for the kubelet's certificate.
var requestChecks = []Check{{
	Name: "certificate-request", Asks: "Does the cluster answer the machine's request for a certificate?",
	Needs: []string{"credential"}, Live: true, Deadline: 2 * time.Second,
	Causes: []Cause{
		{"not-approved", "the request waits for approval", "approve it (`kubectl certificate approve NAME`), and let a controller approve requests: bind the bootstrap token's group to system:certificates.k8s.io:certificatesigningrequests:nodeclient, or start the cloud's approver"},
		{"denied", "the request was denied", "ask the approver why (`kubectl describe csr NAME`): some approve only machines that their cloud knows, by name and address"},
		{"not-signed", "the request is approved, and no signer answers", "look at the kube-controller-manager: its flags --cluster-signing-cert-file and --cluster-signing-key-file sign requests"},
		{"signer-failed", "the signer failed", "look at the kube-controller-manager's log: its CA, or the usages and the name in the request, do not pass"},
	},
	Look: lookRequest,
}}

func lookRequest(ctx context.Context, p *Patient) Finding {
	answer := p.known.own.answer.Load()
	if answer == nil {
		return skipped("this machine has no credential to ask with")
	}
	if !answer.credential.bootstrap {
		return fine("the kubelet has its certificate, or another credential that lasts")
	}
	s := p.server()
	a := s.attempt(ctx, p, tlsbootstrap.RequestsPath+tlsbootstrap.RequestsOf)
	a.Token, a.Certificate, a.Key, a.Limit = answer.credential.token, answer.credential.pair, answer.credential.key, maxRequests
	o := p.Machine.Attempt(ctx, a)
	evidence := Evidence{"list the requests for kubelets' certificates", describe(o)}
	name := p.Kubelet().Node.Value
	switch {
	case o.Failed != "":
		return unknown("the requests cannot be listed: %s", reason(o.Err)).with(evidence)
	case o.Status != http.StatusOK:
		return fine("the bootstrap credential may not list the requests (HTTP status %d)", o.Status).with(evidence)
	}
	r, err := tlsbootstrap.Newest(o.Body, name)
	if err != nil {
		return unknown("the list of requests cannot be read: %s", err).with(evidence)
	}
	if r == nil {
		return fine("no request for the Node %s has reached the cluster yet", name).with(evidence)
	}
	return judgeRequest(r, p.Now().Sub(r.Created), p.Patience(approvalPatience)).with(evidence)
}

func judgeRequest(r *tlsbootstrap.Listed, age, patience time.Duration) Finding {
	name := redact.Line(r.Name, 80)
	since := fmt.Sprintf("since %s", stamp(r.Created))
	switch {
	case r.Refused != "" && r.Failed:
		return wrong("signer-failed", "the request %s %s", name, redact.Line(r.Refused, maxReason))
	case r.Refused != "":
		return wrong("denied", "the request %s %s", name, redact.Line(r.Refused, maxReason))
	case len(r.Certificate) > 0:
		return fine("the request %s has its certificate", name)
	case age < patience:
		return fine("the request %s waits %s", name, since)
	case r.Approved:
		return wrong("not-signed", "the request %s is approved, and not signed %s", name, since)
	}
	return wrong("not-approved", "the request %s waits for approval %s", name, since)
}

var errNoNode = errors.New("is no Node")
