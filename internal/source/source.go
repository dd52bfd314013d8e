// Package source finds the contract on a node.
//
// A source says where it looked and why it gave up; what it returns is bytes, bounded and not yet
// looked at. Decoding is nodeconfig/dialect's. The agent calls it.
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// The places where a contract is looked for when none is named, in this order.
var Paths = []string{
	"/opt/azure/containers/aks-node-controller-config.json",
	"/etc/slipway/config.yaml",
	"/etc/slipway/config.json",
}

// Files reads regular files.
type Files interface {
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
}

// Contract is a contract that was found.
type Contract struct {
	// Path is where it was.
	Path string
	// Data is the document; it is secret.
	Data []byte
}

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
			return Contract{candidate, data}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return Contract{Path: candidate}, fmt.Errorf("the contract cannot be read: %w", err)
		}
	}
	return Contract{Path: path}, fmt.Errorf("%w: looked at %s: deliver one there, or name another with --provision-config",
		ErrNotFound, strings.Join(candidates, ", "))
}
