package resource

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Hidden is a secret of a plan. The JSON of a plan shows that it is set, and not its value. Reading that JSON gives the
// mark instead of the value, so a plan for a later run has none ([Kind.Kept]).
type Hidden struct{ nodeconfig.Secret }

// MarshalJSON writes the mark, or "" if there is no secret.
func (h Hidden) MarshalJSON() ([]byte, error) { return json.Marshal(h.String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (h *Hidden) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	h.Secret = nodeconfig.NewSecret(text)
	return err
}
