package nodeconfig

import (
	"fmt"
	"log/slog"
)

// Redacted is what a Secret shows of itself.
const Redacted = "[redacted]"

// Secret is a value that is written to the node and nowhere else. However it is formatted, logged
// or marshalled, it shows only [Redacted] (or nothing, where it is empty); [Secret.Reveal] is the
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

// MarshalText returns the redacted form, for JSON, YAML and all else.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the value.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
