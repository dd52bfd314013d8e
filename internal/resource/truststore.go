package resource

import "errors"

// TrustStore has what programs read to know a machine's trusted certificate authorities: a bundle, and on some
// distributions links by the hash of a certificate's subject. It is built from the image's and an administrator's
// authorities, as the distribution's tool builds it.
type TrustStore struct {
	// Label names it within the plan.
	Label string `json:"label"`
	// Bundle is the file with all certificates.
	Bundle string `json:"bundle"`
	// Anchors is the directory with an administrator's certificates.
	Anchors string `json:"anchors"`
	// Packages is the directory with the packages' certificates, and Selection the list of the enabled ones. Empty
	// means that the bundle is built from the targets of Links.
	Packages  string `json:"packages,omitempty"`
	Selection string `json:"selection,omitempty"`
	// Links is the directory with the links. Empty means that there are no links, and that certificates are only added to
	// the bundle: only the distribution's tool can build the rest.
	Links string `json:"links,omitempty"`
	// Added are the files with the plan's certificates, one each. The bundle must have all of them.
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

// Reads reports whether it must be built again after a change at a path.
func (s *TrustStore) Reads(path string) bool { return below(path, s.Anchors) }
