package resource

import "fmt"

// ServingCertificate is the certificate that a kubelet signs for itself where nobody else does, with its key. It is written
// where the kubelet looks for it, before the kubelet starts. A pair that is there is kept, as the kubelet keeps it.
type ServingCertificate struct {
	// Label names it within the plan.
	Label string `json:"label"`
	// Node is the name that it is for; where it is empty, it is the host's name, in lower case.
	Node string `json:"node,omitempty"`
	// Certificate and Key are where the kubelet looks for them.
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	// Unit is the kubelet's. One that runs has a certificate already.
	Unit string `json:"unit"`
}

// Kind implements Spec.
func (*ServingCertificate) Kind() string { return "ServingCertificate" }

// Name implements Spec.
func (c *ServingCertificate) Name() string { return c.Label }

// Paths implements Spec: what it writes is the kubelet's from then on.
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
