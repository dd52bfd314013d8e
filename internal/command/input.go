package command

import (
	"io"
	"os"

	"github.com/slipway-dev/slipway/internal/cli"
)

// maxInput limits any input, because standard input may have no end. A contract's limit is lower, and its decoder
// enforces it.
const maxInput = 16 << 20

// Stdin is the name of standard input on the command line.
const Stdin = "-"

// ReadInput reads a file, or standard input.
func ReadInput(s cli.Streams, name string) ([]byte, error) {
	in := s.In
	if name != Stdin {
		file, err := os.Open(name)
		if err != nil {
			return nil, Failed("%w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return nil, Failed("%w", err)
	case len(data) > maxInput:
		return nil, Failed("%s is larger than %d MiB, and no contract, plan or facts are that large", Title(name), maxInput>>20)
	}
	return data, nil
}

// Title names an input for people.
func Title(name string) string {
	if name == Stdin {
		return "standard input"
	}
	return name
}

// PlaceName names an input before a line number, as compilers do.
func PlaceName(name string) string {
	if name == Stdin {
		return "<stdin>"
	}
	return name
}
