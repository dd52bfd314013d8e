package tlsbootstrap

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"time"
)

// Answer is the API server's state of a request.
type Answer struct {
	// Name is the request's name.
	Name string
	// Approved reports whether the request is approved.
	Approved bool
	// Refused is why the request was denied, or why the signer failed. It is empty if neither is true. Failed reports
	// that it was the signer.
	Refused string
	Failed  bool
	// Certificate is the issued certificate, in PEM. It is empty until then.
	Certificate []byte
}

// The conditions of a request (Kubernetes: certificate signing requests).
const (
	conditionApproved = "Approved"
	conditionDenied   = "Denied"
	conditionFailed   = "Failed"
)

// object is a request in the API.
type object struct {
	Kind     string
	Metadata struct {
		Name              string
		CreationTimestamp time.Time
	}
	Spec struct {
		Request    []byte
		SignerName string
	}
	Status struct {
		Certificate []byte
		Conditions  []struct{ Type, Reason, Message string }
	}
}

// Read parses a request from the API server.
func Read(data []byte) (Answer, error) {
	var object object
	if err := json.Unmarshal(data, &object); err != nil {
		return Answer{}, fmt.Errorf("is not a certificate signing request: %w", err)
	}
	if object.Kind != kind {
		return Answer{}, fmt.Errorf("is a %.40q, not a certificate signing request", object.Kind)
	}
	return object.answer(), nil
}

// Listed is a request in a list.
type Listed struct {
	Answer
	Created time.Time
}

// Newest returns the newest request for a node's client certificate in a list from the API server, or nil.
func Newest(list []byte, node string) (*Listed, error) {
	var all struct {
		Kind  string
		Items []object
	}
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, fmt.Errorf("is not a list of certificate signing requests: %w", err)
	}
	if all.Kind != kind+"List" {
		return nil, fmt.Errorf("is a %.40q, not a list of certificate signing requests", all.Kind)
	}
	var newest *Listed
	for i := range all.Items {
		o := &all.Items[i]
		if o.Spec.SignerName != signer || !isFor(o.Spec.Request, node) {
			continue
		}
		if newest == nil || o.Metadata.CreationTimestamp.After(newest.Created) {
			newest = &Listed{o.answer(), o.Metadata.CreationTimestamp}
		}
	}
	return newest, nil
}

// isFor reports whether a request in PEM is for a node's client certificate.
func isFor(request []byte, node string) bool {
	block, _ := pem.Decode(request)
	if block == nil {
		return false
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	return err == nil && parsed.Subject.CommonName == NodeUser+node
}

func (object *object) answer() Answer {
	a := Answer{Name: object.Metadata.Name, Certificate: object.Status.Certificate}
	for _, c := range object.Status.Conditions {
		switch c.Type {
		case conditionApproved:
			a.Approved = true
		case conditionDenied:
			a.Refused, a.Failed = "was denied"+reason(c.Reason, c.Message), false
		case conditionFailed:
			a.Refused, a.Failed = "was approved, and the signer failed"+reason(c.Reason, c.Message), true
		}
	}
	if a.Refused != "" {
		a.Certificate = nil
	}
	return a
}

// reason is a condition's text beside its type.
func reason(reason, message string) (text string) {
	for _, part := range []string{reason, message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}
