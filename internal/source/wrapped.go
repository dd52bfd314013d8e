package source

import (
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/internal/facts"
)

// maxUserData limits user data and its container: the largest contract, in base64, in a settings document. The largest
// that a cloud allows is 64 KiB (Azure: custom data).
const maxUserData = 2 * document.MaxBytes

// open takes the contract out of user data from where.
func open(where string, userData []byte, instance facts.Instance) (Contract, error) {
	found, err := envelope.Open(userData, Paths)
	switch {
	case errors.Is(err, envelope.ErrNone):
		return Contract{}, none(where + ": " + err.Error())
	case err != nil:
		return Contract{}, fmt.Errorf("%s: %w", where, err)
	}
	return Contract{Path: where, Data: found.Data, Place: found.Path, Wrapping: found.Wrapping, Instance: instance}, nil
}
