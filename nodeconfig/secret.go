package nodeconfig

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Redacted is what a Secret shows of itself.
const Redacted = "[redacted]"

// Secret is a value that is written to the node and nowhere else. However it is formatted or logged, it
// shows only [Redacted] (or nothing, where it is empty), and it is not marshalled at all: a document with
// "[redacted]" in it would join no node. [Encode] writes a config with its secrets; [Secret.Reveal] is the
// one way to the value, so that its uses can be counted.
type Secret struct {
	_ [0]func() // == would compare addresses
	// value is behind a pointer because fmt prints fields itself, without asking their methods, where
	// they are not exported and where the verb is wrong.
	value *string
}

// NewSecret makes a Secret of value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal returns the value. Whatever is made from it must be treated as secret too.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no value.
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

// errMarshalled refuses to marshal a secret.
var errMarshalled = errors.New("a secret is not marshalled: nodeconfig.Encode writes a config with its secrets")

// MarshalText returns nothing for no secret, and an error for any other: for JSON, YAML and all else.
func (s Secret) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return nil, nil
	}
	return nil, errMarshalled
}

// errRedacted is what is wrong with a document that was made from what is shown of one.
var errRedacted = errors.New("is " + Redacted + ", which stands for a secret where a contract is shown; want the secret itself (in Go, write a config with nodeconfig.Encode)")

// UnmarshalText takes the value. The sign for one that is not shown is refused.
func (s *Secret) UnmarshalText(text []byte) error {
	if isRedacted(string(text)) {
		return errRedacted
	}
	*s = NewSecret(string(text))
	return nil
}

// isRedacted reports whether a text is the sign that stands for a secret.
func isRedacted(text string) bool { return strings.TrimSpace(text) == Redacted }
