package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/slipway-dev/slipway/internal/signature"
)

// The states of a file.
const (
	OK       = "ok"
	Changed  = "changed"
	Absent   = "absent"
	Unlisted = "unlisted"
)

// Result is what a verification has found.
type Result struct {
	// Version and Commit are the manifest's; empty if the manifest is absent.
	Version string `json:"version,omitempty"`
	Commit  string `json:"commit,omitempty"`
	// Signers are the names of the keys that have signed the list.
	Signers []string     `json:"signers"`
	Files   []FileResult `json:"files"`
}

// FileResult is the state of a file.
type FileResult struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// Reason is why the state is [Changed].
	Reason string `json:"reason,omitempty"`
}

// Right reports whether no file is changed or unlisted, and at least one is right. A user need not have all files.
func (r *Result) Right() bool {
	is := func(states ...string) bool {
		return slices.ContainsFunc(r.Files, func(f FileResult) bool { return slices.Contains(states, f.State) })
	}
	return !is(Changed, Unlisted) && is(OK)
}

// Signed verifies the list's signatures, and returns the list and who has signed it. need is how many keys must have signed it.
func Signed(dir *os.Root, allowed []signature.Signer, need int) (sums []Sum, signers []string, err error) {
	data, err := read(dir, SumsName, MaxSums)
	if err != nil {
		return nil, nil, err
	}
	var problems []error
	for _, name := range SignatureNames {
		armored, err := read(dir, name, signature.MaxBytes)
		if err == nil {
			var by string
			if by, err = signature.Verify(data, armored, SignedFor, allowed); err == nil && !slices.Contains(signers, by) {
				signers = append(signers, by)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		problems = append(problems, err)
	}
	if len(signers) < need {
		problems = append([]error{fmt.Errorf("%d of %d keys that must have signed %s have signed it", len(signers), need, SumsName)}, problems...)
		return nil, signers, errors.Join(problems...)
	}
	sums, err = ParseSums(data)
	return sums, signers, err
}

// Verify verifies the signatures of a release, and compares the files of its directory with it.
func Verify(dir *os.Root, allowed []signature.Signer, need int) (*Result, error) {
	sums, signers, err := Signed(dir, allowed, need)
	if err != nil {
		return nil, err
	}
	r := &Result{Signers: signers}
	for _, s := range sums {
		r.Files = append(r.Files, compare(dir, s))
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		known := e.Name() == SumsName || slices.Contains(SignatureNames, e.Name()) ||
			slices.ContainsFunc(sums, func(s Sum) bool { return s.Name == e.Name() })
		if !known {
			r.Files = append(r.Files, FileResult{Name: e.Name(), State: Unlisted})
		}
	}
	i := slices.IndexFunc(r.Files, func(f FileResult) bool { return f.Name == ManifestName })
	if i < 0 || r.Files[i].State != OK {
		return r, nil
	}
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	r.Version, r.Commit = m.Version, m.Commit
	return r, nil
}

// readManifest reads the manifest. Its digest has been compared.
func readManifest(dir *os.Root) (*Manifest, error) {
	data, err := read(dir, ManifestName, MaxSums)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestName, err)
	}
	return &m, nil
}

// compare compares a file with its line.
func compare(dir *os.Root, s Sum) FileResult {
	r := FileResult{Name: s.Name, State: OK}
	got, err := digest(dir, s.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.State = Absent
	case err != nil:
		r.State, r.Reason = Changed, err.Error()
	case got != s.SHA256:
		r.State, r.Reason = Changed, "has SHA-256 "+got
	}
	return r
}

// digest returns a file's SHA-256 in hexadecimal.
func digest(dir *os.Root, name string) (string, error) {
	file, err := open(dir, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return "", err
	case n > MaxFile:
		return "", fmt.Errorf("is larger than %d MiB", MaxFile>>20)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// read reads a small file.
func read(dir *os.Root, name string, limit int64) ([]byte, error) {
	file, err := open(dir, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s: is larger than %d bytes", name, limit)
	}
	return data, nil
}

// open opens a regular file. A pipe would wait for its writer.
func open(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Stat(name)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	file, err := dir.Open(name)
	return file, cause(err)
}

// cause removes the path of an error, which the caller names.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
