package lab

import (
	"context"
	"net/http"
	"slices"
)

const requestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// CertificateRequest is a certificate signing request.
type CertificateRequest struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       map[string]any `json:"spec"`
	Status     struct {
		Certificate []byte           `json:"certificate,omitempty"`
		Conditions  []map[string]any `json:"conditions,omitempty"`
	} `json:"status"`
}

// CertificateRequests returns all requests.
func (a *API) CertificateRequests(ctx context.Context) ([]CertificateRequest, error) {
	var list struct{ Items []CertificateRequest }
	err := a.Get(ctx, requestsPath, &list)
	for i := range list.Items { // the items of a list have no kind
		list.Items[i].APIVersion, list.Items[i].Kind = "certificates.k8s.io/v1", "CertificateSigningRequest"
	}
	return list.Items, err
}

// OpenRequest waits for a pending certificate signing request.
func (a *API) OpenRequest(ctx context.Context) (CertificateRequest, error) {
	var open CertificateRequest
	err := Watch(ctx, a, requestsPath, func(r CertificateRequest) bool {
		open = r
		return len(r.Status.Conditions) == 0
	})
	return open, err
}

// Decide approves or denies a pending certificate signing request.
func (a *API) Decide(ctx context.Context, open CertificateRequest, approve bool) error {
	decision := map[bool]string{true: "Approved", false: "Denied"}[approve]
	open.Status.Conditions = append(open.Status.Conditions, map[string]any{
		"type": decision, "status": "True", "reason": "E2E", "message": "the case wants it so",
	})
	return a.call(ctx, http.MethodPut, requestsPath+"/"+open.Metadata["name"].(string)+"/approval", jsonType, open, nil)
}

// SetApprover turns the controller manager's approval of nodes' first certificates on or off.
func (a *API) SetApprover(ctx context.Context, running bool) error {
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := a.Get(ctx, bindingsPath, &list); err != nil {
		return err
	}
	is := slices.ContainsFunc(list.Items, func(b struct{ Metadata struct{ Name string } }) bool { return b.Metadata.Name == approval.name })
	switch {
	case running && !is:
		return a.bind(ctx, approval)
	case !running && is:
		return a.Delete(ctx, bindingsPath+"/"+approval.name)
	}
	return nil
}
