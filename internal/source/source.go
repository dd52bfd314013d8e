// Package source finds the contract on a node.
//
// A source reports where it looked and why it gave up. It returns bytes, limited in size and not yet decoded.
// nodeconfig/dialect decodes them. The agent calls this package.
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

// Paths are the paths at which a contract is looked for if none is named, in this order: those of every family.
var Paths = profile.ContractPaths()

// Files reads regular files.
type Files interface {
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
}

// Contract is a contract that was found.
type Contract struct {
	// Path is its location: a file, a file on a disk, or a URL.
	Path string
	// Data is the document; it is secret.
	Data []byte
	// Source is the name of the place: "file" for a given path.
	Source string
	// Place is the path that user data requests for it. It may be empty.
	Place string
	// Wrapping is what it was wrapped in, outermost first.
	Wrapping []string
	// Instance is the machine's description at the same place.
	Instance facts.Instance
}

// FileSource is the name of a contract's usual path on the disk.
const FileSource = "file"

// ErrNotFound means that no place has a contract.
var ErrNotFound = errors.New("no contract was found")

// File reads the contract at path. If path is empty, it reads the first existing one of Paths.
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

// read reads a file of at most limit bytes. If it is missing, the error is errAbsent.
func (s *Search) read(path string, limit int64) ([]byte, error) {
	data, err := s.Machine.ReadFile(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errAbsent
	}
	return data, err
}

// readFile reads the contract from its usual path.
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

// Sum identifies a contract's content: contracts with the same sum have the same bytes.
func (c Contract) Sum() string { return fmt.Sprintf("%x", sha256.Sum256(c.Data)) }
