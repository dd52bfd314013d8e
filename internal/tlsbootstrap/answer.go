package tlsbootstrap

import (
	"encoding/json"
	"fmt"
)

// Answer is what the API server says of a request.
type Answer struct {
	// Name is the request's.
	Name string
	// Approved says that somebody has approved it.
	Approved bool
	// Refused says that somebody has denied it, or that the signer has failed, and why; empty where neither is so. Failed says
	// that it was the signer.
	Refused string
	Failed  bool
	// Certificate is what was issued, in PEM; empty until then.
	Certificate []byte
}

// The conditions of a request (Kubernetes: certificate signing requests).
const (
	conditionApproved = "Approved"
	conditionDenied   = "Denied"
	conditionFailed   = "Failed"
)

// Read reads a request as the API server has it.
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

// reason is what a condition says beside its type.
func reason(reason, message string) (text string) {
	for _, part := range []string{reason, message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}
