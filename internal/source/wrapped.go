package source

import (
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/internal/facts"
)

// maxUserData bounds user data as it is handed over, and what it is handed over in: the largest contract, in
// base64, in a settings document. The largest that a cloud allows is 64 KiB (Azure: custom data).
const maxUserData = 2 * document.MaxBytes

// open takes the contract out of user data that was found at where.
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
