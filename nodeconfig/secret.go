package nodeconfig

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Redacted replaces a Secret's value wherever it is shown.
const Redacted = "[redacted]"

// Secret is a value that is written only to the node. If it is formatted or logged, it shows only [Redacted] (or nothing if it is
// empty). It cannot be marshalled, because a document with "[redacted]" in it would join no node. [Encode] writes a config with its
// secrets. [Secret.Reveal] is the only access to the value, so that its uses can be counted.
type Secret struct {
	_ [0]func() // == would compare addresses
	// value is behind a pointer, because fmt prints unexported fields, and fields with a wrong verb, without calling their methods.
	value *string
}

// NewSecret makes a Secret of value.
//
//go:noinline
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal returns the value. Treat everything that is made from it as secret, too.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether the value is empty.
func (s Secret) IsZero() bool { return s.value == nil }

// String returns the redacted form.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// GoString returns the redacted form, for %#v.
func (s Secret) GoString() string { return s.String() }

// Format writes the redacted form for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// LogValue returns the redacted form.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// errMarshalled is the error of an attempt to marshal a secret.
var errMarshalled = errors.New("a secret is not marshalled: nodeconfig.Encode writes a config with its secrets")

// MarshalText returns nothing for an empty secret, and an error for any other: for JSON, YAML and all other formats.
func (s Secret) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return nil, nil
	}
	return nil, errMarshalled
}

// errRedacted is the error of a document that was copied from output in which secrets are redacted.
var errRedacted = errors.New("is " + Redacted + ", which stands for a secret where a contract is shown; want the secret itself (in Go, write a config with nodeconfig.Encode)")

// UnmarshalText sets the value. It refuses the placeholder of a redacted value.
func (s *Secret) UnmarshalText(text []byte) error {
	if isRedacted(string(text)) {
		return errRedacted
	}
	*s = NewSecret(string(text))
	return nil
}

// isRedacted reports whether a string is the placeholder of a secret.
func isRedacted(text string) bool { return strings.TrimSpace(text) == Redacted }
