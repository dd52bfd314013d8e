package resource

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PlanAPIVersion identifies the JSON form of a plan.
const (
	PlanAPIVersion = "slipway.dev/v1"
	PlanKind       = "Plan"
)

type planJSON struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Config     string     `json:"config"`
	Dialect    string     `json:"dialect"`
	Resources  []Resource `json:"resources"`
	Health     []Resource `json:"health,omitempty"`
}

// MarshalJSON writes the plan for people and tools; secret content is left out.
func (p Plan) MarshalJSON() ([]byte, error) {
	return marshalPlain(planJSON{PlanAPIVersion, PlanKind, p.Config, p.Dialect, p.Resources, p.Health})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Kind != PlanKind || j.APIVersion != PlanAPIVersion {
		return fmt.Errorf("is %q %q, want %q %q", j.APIVersion, j.Kind, PlanAPIVersion, PlanKind)
	}
	*p = Plan{j.Config, j.Dialect, j.Resources, j.Health}
	return nil
}

type resourceJSON struct {
	ID       ID              `json:"id"`
	Kind     string          `json:"kind"`
	Phase    Phase           `json:"phase"`
	Requires []ID            `json:"requires,omitempty"`
	Restarts []string        `json:"restarts,omitempty"`
	ExitCode int             `json:"exitCode,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Spec     json.RawMessage `json:"spec"`
}

// MarshalJSON writes the resource with its kind.
func (r Resource) MarshalJSON() ([]byte, error) {
	spec, err := marshalPlain(r.Spec)
	if err != nil {
		return nil, err
	}
	return marshalPlain(resourceJSON{r.ID(), r.Spec.Kind(), r.Phase, r.Requires, r.Restarts, r.ExitCode, r.Reason, spec})
}

// marshalPlain marshals without HTML's escapes: plans are read by people.
func marshalPlain(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// specs makes an empty spec of each kind.
var specs = map[string]func() Spec{
	"File":      func() Spec { return new(File) },
	"Directory": func() Spec { return new(Directory) },
	"Symlink":   func() Spec { return new(Symlink) },
	"Sysctl":    func() Spec { return new(Sysctl) },
	"Module":    func() Spec { return new(Module) },
	"Unit":      func() Spec { return new(Unit) },
	"Command":   func() Spec { return new(Command) },
	"Check":     func() Spec { return new(Check) },
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Resource) UnmarshalJSON(data []byte) error {
	var j resourceJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	fresh, ok := specs[j.Kind]
	if !ok {
		return fmt.Errorf("resource %q has unknown kind %q", j.ID, j.Kind)
	}
	spec := fresh()
	if err := json.Unmarshal(j.Spec, spec); err != nil {
		return fmt.Errorf("resource %q: %w", j.ID, err)
	}
	*r = Resource{j.Phase, j.Requires, j.Restarts, j.ExitCode, j.Reason, spec}
	return nil
}

// octal is a mode as people write it: "0644".
type octal uint32

func (o octal) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%04o", uint32(o)), nil }

func (o *octal) UnmarshalText(text []byte) error {
	mode, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil {
		return fmt.Errorf("mode %q: want octal digits", text)
	}
	*o = octal(mode)
	return nil
}

type directoryJSON struct {
	Path string `json:"path"`
	Mode octal  `json:"mode"`
	UID  int    `json:"uid,omitempty"`
	GID  int    `json:"gid,omitempty"`
}

// MarshalJSON writes the directory.
func (d Directory) MarshalJSON() ([]byte, error) {
	return marshalPlain(directoryJSON{d.Path, octal(d.Mode), d.UID, d.GID})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Directory) UnmarshalJSON(data []byte) error {
	var j directoryJSON
	err := json.Unmarshal(data, &j)
	*d = Directory{j.Path, uint32(j.Mode), j.UID, j.GID}
	return err
}

type fileJSON struct {
	Path string `json:"path"`
	Mode octal  `json:"mode"`
	UID  int    `json:"uid,omitempty"`
	GID  int    `json:"gid,omitempty"`
	// Content is the text of a file that is text, Base64 the bytes of one that is not.
	Content *string `json:"content,omitempty"`
	Base64  []byte  `json:"base64,omitempty"`
	// Secret content is not shown; Fingerprint tells two contents apart.
	Secret      bool     `json:"secret,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	Until       []string `json:"until,omitempty"`
}

// MarshalJSON writes the file, secret content as a fingerprint only.
func (f File) MarshalJSON() ([]byte, error) {
	j := fileJSON{Path: f.Path, Mode: octal(f.Mode), UID: f.UID, GID: f.GID, Secret: f.Secret, Until: f.Until}
	switch {
	case f.Secret:
		j.Fingerprint = f.Fingerprint()
	case utf8.Valid(f.Content):
		j.Content = new(string(f.Content))
	default:
		j.Base64 = f.Content
	}
	return marshalPlain(j)
}

// UnmarshalJSON reads what MarshalJSON writes. A secret's content cannot come back: its place is
// taken by the fingerprint, so that two plans can still be compared.
func (f *File) UnmarshalJSON(data []byte) error {
	var j fileJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*f = File{j.Path, uint32(j.Mode), j.UID, j.GID, j.Base64, j.Secret, j.Until}
	switch {
	case j.Secret:
		f.Content = []byte(j.Fingerprint)
	case j.Content != nil:
		f.Content = []byte(*j.Content)
	}
	return nil
}

// Fingerprint tells two contents apart: 32 bits of a SHA-256, too few to confirm a guess of what a
// secret file holds.
func (f File) Fingerprint() string {
	if f.Secret && len(f.Content) == fingerprintLen && strings.HasPrefix(string(f.Content), fingerprintPrefix) {
		return string(f.Content) // read back from a plan's JSON
	}
	sum := sha256.Sum256(f.Content)
	return fingerprintPrefix + hex.EncodeToString(sum[:4])
}

const (
	fingerprintPrefix = "sha256/32:"
	fingerprintLen    = len(fingerprintPrefix) + 8
)
