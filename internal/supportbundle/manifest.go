package supportbundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The identity of the format.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "SupportBundle"
	// Version changes when a reader has to change. A reader refuses a newer version.
	Version = 1
)

// The names within a bundle.
const (
	// FormatName is the first member. It has a [Format], so that a bundle that is cut can still be recognized.
	FormatName = "format.json"
	// ManifestName is the last member, because it has the digests of all others.
	ManifestName = "manifest.json"
	// FileDir has the machine's files, each at its path on the machine, and JournalDir the journals, one record in a line.
	FileDir    = "files"
	JournalDir = "journal"
	// FactsName, ContractName, PlanName, GenerationsName, StatusName, DriftName, DoctorName and TimelineName are documents of
	// Slipway.
	FactsName       = "facts.json"
	ContractName    = "contract.yaml"
	PlanName        = "plan.json"
	GenerationsName = "generations.json"
	StatusName      = "status.json"
	DriftName       = "drift.json"
	DoctorName      = "doctor.json"
	TimelineName    = "timeline.json"
)

// The limits of a bundle, for its writer and its readers.
const (
	// MaxBytes limits all files together, and MaxFile one of them.
	MaxBytes = 64 << 20
	MaxFile  = 8 << 20
	// MaxFiles limits their number.
	MaxFiles = 4096
	// maxManifest limits the manifest.
	maxManifest = 8 << 20
	// maxName limits a name. A header has space for 255 bytes.
	maxName = 255
)

// Format identifies the format of a bundle.
type Format struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    int    `json:"version"`
	// Slipway is the version of the program that has made the bundle.
	Slipway string `json:"slipway"`
}

// Manifest lists the contents of a bundle, and what it lacks.
type Manifest struct {
	Format
	// Created is the machine's time when the collection began, and DurationMs is how long it took.
	Created    time.Time `json:"created"`
	DurationMs int64     `json:"durationMs"`
	// Notes are for the reader of the bundle, for example about what the redaction cannot do.
	Notes []string `json:"notes,omitempty"`
	// Files are in the order of the bundle.
	Files []File `json:"files"`
	// Missing are what was wanted and is not in the bundle.
	Missing []Missing `json:"missing,omitempty"`
}

// File is a file of the bundle.
type File struct {
	// Name is its name in the bundle, Source is where its content is from, and Why is why it is wanted.
	Name   string `json:"name"`
	Source string `json:"source"`
	Why    string `json:"why"`
	// Size and SHA256 are of its content in the bundle.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Truncated is the reason why a part of the source is not in the bundle. The newest part is.
	Truncated string `json:"truncated,omitempty"`
	// Redactions is how many texts were replaced by a placeholder, such as <secret 3>.
	Redactions int `json:"redactions,omitempty"`
}

// Missing is something that is not in the bundle.
type Missing struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
}

// Digest is the digest of a content as the manifest has it.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// SafeName returns a path of a machine as a name in a bundle can have it: characters that could control a terminal or that
// are not UTF-8 become %XX.
func SafeName(name string) string {
	var safe strings.Builder
	for i, width := 0, 0; i < len(name); i += width {
		var r rune
		r, width = utf8.DecodeRuneInString(name[i:])
		if r != utf8.RuneError && unicode.IsPrint(r) && r != '%' {
			safe.WriteRune(r)
			continue
		}
		for _, b := range []byte(name[i : i+width]) {
			fmt.Fprintf(&safe, "%%%02X", b)
		}
	}
	return safe.String()
}

// checkName requires a name that leads nowhere but into the bundle, and that can be shown.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("has a member with a name of %d bytes; want 1 to %d", len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("has a member %q, whose name has characters that cannot be shown", name)
	case path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
		return fmt.Errorf("has a member %q, which is not a plain path within it", name)
	}
	return nil
}
