package resource

import "fmt"

// ServingCertificate is the certificate, with its key, that a kubelet signs for itself if the cluster does not sign
// one. It is written at the kubelet's path, before the kubelet starts. An existing pair is kept, as the kubelet keeps
// it.
type ServingCertificate struct {
	// Label names it within the plan.
	Label string `json:"label"`
	// Node is its name. Empty means the host's name, in lower case.
	Node string `json:"node,omitempty"`
	// Certificate and Key are the kubelet's paths for them.
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	// Unit is the kubelet's unit. A running kubelet already has a certificate.
	Unit string `json:"unit"`
}

// Kind implements Spec.
func (*ServingCertificate) Kind() string { return "ServingCertificate" }

// Name implements Spec.
func (c *ServingCertificate) Name() string { return c.Label }

// Paths implements Spec: the kubelet owns the written files from then on.
func (*ServingCertificate) Paths() []string { return nil }

// Valid implements Spec.
func (c *ServingCertificate) Valid() error {
	if err := named(c); err != nil {
		return err
	}
	for _, path := range []string{c.Certificate, c.Key} {
		if err := checkPath(path); err != nil {
			return fmt.Errorf("serving certificate %q: %w", c.Label, err)
		}
	}
	return nil
}

// Describe implements Spec.
func (c *ServingCertificate) Describe() Description {
	return Description{Title: c.Label, What: c.Certificate}
}
