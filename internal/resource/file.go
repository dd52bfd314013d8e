package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is a regular file with its whole content.
type File struct {
	Path    string
	Mode    uint32 // permission bits
	UID     int
	GID     int
	Content []byte
	// Secret content is written to the machine and never shown.
	Secret bool
	// Until are paths: once each has a non-empty file, this file is not needed any more, and is removed. It is for a
	// credential that others replace, and its content is recorded nowhere else.
	Until []string
	// Stays keeps a file with Until when it is not needed any more. Nothing reads it then, so its change has no
	// effects.
	Stays bool
}

// Kind implements Spec.
func (*File) Kind() string { return "File" }

// Name implements Spec.
func (f *File) Name() string { return f.Path }

// Paths implements Spec.
func (f *File) Paths() []string { return whole(f.Path) }

// Valid implements Spec.
func (f *File) Valid() error { return checkPath(f.Path) }

// Describe implements Spec.
func (f *File) Describe() Description {
	return Description{Title: f.Path, Mode: octal(f.Mode).String(), Secret: f.Secret}
}

// kept is nil for a temporary file: its content is not recorded.
func (f *File) kept() *File {
	if f.Temporary() {
		return nil
	}
	return f
}

// compared is the file without its content, which is compared as text, and without Until, which is not on the machine.
func (f *File) compared() *File {
	bare := *f
	bare.Content, bare.Until = nil, nil
	return &bare
}

func (f *File) text() *File { return f }

// Temporary reports whether the file is needed only until others exist.
func (f *File) Temporary() bool { return len(f.Until) > 0 }

// Directory is a directory. Its other content stays.
type Directory struct {
	Path string
	Mode uint32 // permission bits
	UID  int
	GID  int
}

// Kind implements Spec.
func (*Directory) Kind() string { return "Directory" }

// Name implements Spec.
func (d *Directory) Name() string { return d.Path }

// Paths implements Spec.
func (d *Directory) Paths() []string { return whole(d.Path) }

// Valid implements Spec.
func (d *Directory) Valid() error { return checkPath(d.Path) }

// Describe implements Spec.
func (d *Directory) Describe() Description {
	return Description{Title: d.Path, Mode: octal(d.Mode).String()}
}

// Symlink is a symbolic link.
type Symlink struct {
	Path   string `json:"path"`
	Target string `json:"target"`
}

// Kind implements Spec.
func (*Symlink) Kind() string { return "Symlink" }

// Name implements Spec.
func (s *Symlink) Name() string { return s.Path }

// Paths implements Spec.
func (s *Symlink) Paths() []string { return whole(s.Path) }

// Valid implements Spec.
func (s *Symlink) Valid() error { return checkPath(s.Path) }

// Describe implements Spec.
func (s *Symlink) Describe() Description { return Description{Title: s.Path, What: "-> " + s.Target} }

// octal is a mode as people write it: "0644".
type octal uint32

func (o octal) String() string { return fmt.Sprintf("%04o", uint32(o)) }

func (o octal) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

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
	// Content is the content of a text file, Base64 that of another file.
	Content *string `json:"content,omitempty"`
	Base64  []byte  `json:"base64,omitempty"`
	// Secret content is not shown; Fingerprint distinguishes contents.
	Secret      bool     `json:"secret,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	Until       []string `json:"until,omitempty"`
	Stays       bool     `json:"stays,omitempty"`
}

// MarshalJSON writes the file, secret content as a fingerprint only.
func (f File) MarshalJSON() ([]byte, error) {
	j := fileJSON{Path: f.Path, Mode: octal(f.Mode), UID: f.UID, GID: f.GID, Secret: f.Secret, Until: f.Until, Stays: f.Stays}
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

// UnmarshalJSON reads what MarshalJSON writes. A secret's content cannot be restored: its fingerprint replaces it, so
// that two plans can still be compared.
func (f *File) UnmarshalJSON(data []byte) error {
	var j fileJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*f = File{j.Path, uint32(j.Mode), j.UID, j.GID, j.Base64, j.Secret, j.Until, j.Stays}
	switch {
	case j.Secret:
		f.Content = []byte(j.Fingerprint)
	case j.Content != nil:
		f.Content = []byte(*j.Content)
	}
	return nil
}

// Fingerprint distinguishes contents: 32 bits of a SHA-256, too few to confirm a guess of a secret file's content.
func (f File) Fingerprint() string {
	if f.Secret && len(f.Content) == fingerprintLen && strings.HasPrefix(string(f.Content), fingerprintPrefix) {
		return string(f.Content) // read back from a plan's JSON
	}
	return Fingerprint(f.Content)
}

// Fingerprint is the fingerprint of a content.
func Fingerprint(content []byte) string {
	sum := sha256.Sum256(content)
	return fingerprintPrefix + hex.EncodeToString(sum[:4])
}

const (
	fingerprintPrefix = "sha256/32:"
	fingerprintLen    = len(fingerprintPrefix) + 8
)
