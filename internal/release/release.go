// Package release has the form of a release: the list of its files with their digests, the signatures of the list, and a manifest. It verifies
// a release in a directory.
//
// The list is that of sha256sum(1), and the signatures are those of "ssh-keygen -Y sign", so that a user can verify a release without Slipway.
// The package reads one directory and does no other I/O. Its callers are "slipway verify-release" and the module that makes a release.
package release

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The files that describe a release.
const (
	// SumsName is the list of all other files but the signatures.
	SumsName = "SHA256SUMS"
	// ManifestName is the manifest, a [Manifest] as JSON.
	ManifestName = "release.json"
	// SignedFor is the namespace of the signatures.
	SignedFor = "slipway-release"
)

// SignatureNames are the signatures of the list, each of another key. One stolen key makes no release.
var SignatureNames = []string{SumsName + ".1.sig", SumsName + ".2.sig"}

const (
	// MaxSums limits the list and the manifest, and MaxFile each other file, in bytes.
	MaxSums = 1 << 20
	MaxFile = 256 << 20
)

// Manifest describes a release for programs.
type Manifest struct {
	// Version is such as "v0.1.0".
	Version string `json:"version"`
	// Commit is the commit that it was built from, and CommitTime its time (RFC 3339, UTC).
	Commit     string `json:"commit"`
	CommitTime string `json:"commitTime"`
	// GoVersion is the version of the compiler, such as "go1.26.8".
	GoVersion string `json:"goVersion"`
	// Contracts are the dialects of contracts that it reads, each as "NAME: TITLE".
	Contracts []string `json:"contracts"`
	// OldestKubelet and NewestKubelet are the minor versions of Kubernetes whose rules it knows, such as "1.26".
	OldestKubelet string `json:"oldestKubelet"`
	NewestKubelet string `json:"newestKubelet"`
	// Files are all files but the manifest, the list and its signatures, by name.
	Files []File `json:"files"`
}

// File is a file of a release.
type File struct {
	Name string `json:"name"`
	// Kind is "tar", "deb", "rpm", "oci", "spdx", "cyclonedx" or "provenance".
	Kind string `json:"kind"`
	// Program, OS and Architecture are empty where a file is for several.
	Program      string `json:"program,omitempty"`
	OS           string `json:"os,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`
}

// Sum is a line of the list.
type Sum struct{ Name, SHA256 string }

// nameForm matches the name of a file: it is in no other directory, and no option.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]{0,127}$`)

// FormatSums writes a list.
func FormatSums(sums []Sum) []byte {
	var b bytes.Buffer
	for _, s := range slices.SortedFunc(slices.Values(sums), func(a, b Sum) int { return strings.Compare(a.Name, b.Name) }) {
		fmt.Fprintf(&b, "%s  %s\n", s.SHA256, s.Name)
	}
	return b.Bytes()
}

// ParseSums reads a list. It is stricter than sha256sum(1): each file once, and no directory.
func ParseSums(data []byte) ([]Sum, error) {
	var sums []Sum
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		digest, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		raw, err := hex.DecodeString(digest)
		switch {
		case !found || err != nil || len(raw) != 32 || digest != strings.ToLower(digest):
			return nil, fmt.Errorf("%s: line %d: want a SHA-256 in hexadecimal, two spaces and a name", SumsName, number)
		case !nameForm.MatchString(name):
			return nil, fmt.Errorf("%s: line %d: %.130q is not the name of a file of a release", SumsName, number, name)
		case name == SumsName || slices.Contains(SignatureNames, name):
			return nil, fmt.Errorf("%s: line %d: the list cannot have %s", SumsName, number, name)
		case slices.ContainsFunc(sums, func(s Sum) bool { return s.Name == name }):
			return nil, fmt.Errorf("%s: line %d: %s is in it twice", SumsName, number, name)
		}
		sums = append(sums, Sum{Name: name, SHA256: digest})
	}
	if len(sums) == 0 {
		return nil, errors.New(SumsName + ": is empty")
	}
	return sums, nil
}
