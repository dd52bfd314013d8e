package tlsbootstrap

import (
	"encoding/json"
	"fmt"
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

// Read parses a request from the API server.
func Read(data []byte) (Answer, error) {
	var object struct {
		Kind     string
		Metadata struct{ Name string }
		Status   struct {
			Certificate []byte
			Conditions  []struct{ Type, Reason, Message string }
		}
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return Answer{}, fmt.Errorf("is not a certificate signing request: %w", err)
	}
	if object.Kind != kind {
		return Answer{}, fmt.Errorf("is a %.40q, not a certificate signing request", object.Kind)
	}
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
	return a, nil
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
