package facts

import "slices"

// Authorities are the certificate authorities that the machine's cloud requires it to trust. They are public.
type Authorities struct {
	// Certificates are in PEM, one in each text, sorted.
	Certificates []string `json:"certificates,omitempty"`
	// Refused are the names of the cloud's entries that are not certificates.
	Refused []string `json:"refused,omitempty"`
	// Unanswered reports that the cloud has not answered the request, or not completely.
	Unanswered bool `json:"unanswered,omitempty"`
}

// After returns the authorities that a machine trusts, given its earlier ones. If the cloud has answered, authorities
// that it does not list any more are dropped. If it has not, they stay, because they may still be needed.
func (a Authorities) After(before Authorities) Authorities {
	if a.Unanswered {
		all := slices.Concat(a.Certificates, before.Certificates)
		slices.Sort(all)
		a.Certificates = slices.Compact(all)
	}
	return a
}
