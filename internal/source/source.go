// Package source finds the contract on a node.
//
// A source says where it looked and why it gave up; what it returns is bytes, bounded and not yet
// looked at. Decoding is nodeconfig/dialect's. The agent calls it.
package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
)

// Paths are the places where a contract is looked for when none is named, in this order: those of every family.
var Paths = func() (all []string) {
	for _, family := range profile.All() {
		all = append(all, family.Contract.Paths()...)
	}
	return all
}()

// Files reads regular files.
type Files interface {
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
}

// Contract is a contract that was found.
type Contract struct {
	// Path is where it was: a file, a file on a disk, or a URL.
	Path string
	// Data is the document; it is secret.
	Data []byte
	// Source is the name of the place, "file" for a path that was named.
	Source string
	// Place is the path at which user data wants it, empty where it says none.
	Place string
	// Wrapping is what it was wrapped in, the outermost first.
	Wrapping []string
	// Instance is what the same place says of the machine.
	Instance facts.Instance
}

// FileSource is the name of a contract's own place on the disk.
const FileSource = "file"

// ErrNotFound says that there is no contract.
var ErrNotFound = errors.New("no contract was found")

// File reads the contract at path, or at the first of Paths that exists where path is empty.
func File(files Files, path string) (Contract, error) {
	candidates := Paths
	if path != "" {
		candidates = []string{path}
	}
	for _, candidate := range candidates {
		data, err := files.ReadFile(candidate, document.MaxBytes)
		switch {
		case err == nil:
			return Contract{Path: candidate, Data: data, Source: FileSource}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return Contract{Path: candidate}, fmt.Errorf("the contract cannot be read: %w", err)
		}
	}
	return Contract{Path: path}, fmt.Errorf("%w: looked at %s: deliver one there, or name another with --provision-config",
		ErrNotFound, strings.Join(candidates, ", "))
}

// read reads a file of at most limit bytes that need not be there; its error is errAbsent then.
func (s *Search) read(path string, limit int64) ([]byte, error) {
	data, err := s.Machine.ReadFile(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errAbsent
	}
	return data, err
}

// readFile reads the contract from its own place.
func readFile(_ context.Context, s *Search) (Contract, error) {
	found, err := File(s.Machine, "")
	switch {
	case errors.Is(err, ErrNotFound):
		return found, none("is not at " + strings.Join(Paths, ", "))
	case err == nil && len(found.Data) == 0 && s.Wait:
		return found, none(found.Path + " is empty: its writer may not have finished")
	case err == nil && s.Other && !s.desperate && found.Sum() == s.OtherSum:
		return Contract{}, errOther
	}
	return found, err
}

// Sum names what a source held: two contracts with the same sum have the same bytes.
func (c Contract) Sum() string { return fmt.Sprintf("%x", sha256.Sum256(c.Data)) }
