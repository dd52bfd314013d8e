package doctor

import (
	"github.com/slipway-dev/slipway/internal/apply"
)

// Machine is what the checks ask. It only answers: none of its methods changes anything.
type Machine interface {
	Files
	Surroundings
	Insides
}

// Files are the machine's files.
type Files interface {
	ReadFile(path string, limit int64) ([]byte, error)
	// ReadLinked also reads the file that a symbolic link at the last name leads to.
	ReadLinked(path string, limit int64) ([]byte, error)
	ReadDir(path string) ([]string, error)
	Stat(path string) (apply.Entry, error)
}
