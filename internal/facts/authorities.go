package facts

import "slices"

// Authorities are the certificate authorities that the machine's cloud wants it to trust. They are public.
type Authorities struct {
	// Certificates are in PEM, one in each text, sorted.
	Certificates []string `json:"certificates,omitempty"`
	// Refused are the names of what the cloud gave for a certificate, and that is none.
	Refused []string `json:"refused,omitempty"`
	// Unanswered says that the cloud was asked and has not answered, or not everything.
	Unanswered bool `json:"unanswered,omitempty"`
}

// After returns the authorities as they count on a machine that had others before. Those that the cloud does not name any
// more are gone, if it has answered: what cannot be asked for now may still be needed.
func (a Authorities) After(before Authorities) Authorities {
	if a.Unanswered {
		all := slices.Concat(a.Certificates, before.Certificates)
		slices.Sort(all)
		a.Certificates = slices.Compact(all)
	}
	return a
}
