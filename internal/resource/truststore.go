package resource

import "errors"

// TrustStore is what programs read of the certificate authorities that a machine trusts: a bundle, and on some distributions
// links by the hash of a certificate's subject. It is made of the image's authorities and an administrator's, as the
// distribution's own tool makes it.
type TrustStore struct {
	// Label names it within the plan.
	Label string `json:"label"`
	// Bundle is the file with all certificates.
	Bundle string `json:"bundle"`
	// Anchors is the directory with an administrator's certificates.
	Anchors string `json:"anchors"`
	// Packages is the directory with those of packages, and Selection the list of those that count. Empty means that the bundle
	// is made of what Links leads to.
	Packages  string `json:"packages,omitempty"`
	Selection string `json:"selection,omitempty"`
	// Links is the directory with the links. Empty means none, and that the bundle is only added to: what else there is to it
	// the distribution's tool alone knows.
	Links string `json:"links,omitempty"`
	// Added are the files with the plan's certificates, one each. The bundle has all of them.
	Added []string `json:"added"`
}

// Kind implements Spec.
func (*TrustStore) Kind() string { return "TrustStore" }

// Name implements Spec.
func (s *TrustStore) Name() string { return s.Label }

// Paths implements Spec. The files are the distribution's.
func (*TrustStore) Paths() []string { return nil }

// Valid implements Spec.
func (s *TrustStore) Valid() error {
	errs := []error{named(s), checkPath(s.Bundle), checkPath(s.Anchors)}
	for _, path := range append([]string{s.Packages, s.Selection, s.Links}, s.Added...) {
		if path != "" {
			errs = append(errs, checkPath(path))
		}
	}
	if (s.Packages == "") != (s.Selection == "") || s.Packages != "" && s.Links == "" {
		errs = append(errs, errors.New("a trust store has packages with a selection and links, or neither packages nor a selection"))
	}
	return errors.Join(errs...)
}

// Describe implements Spec.
func (s *TrustStore) Describe() Description { return Description{Title: s.Label, What: s.Bundle} }

// Reads reports whether it is to be made again after a change at a path.
func (s *TrustStore) Reads(path string) bool { return below(path, s.Anchors) }
