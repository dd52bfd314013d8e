package cli

import (
	"encoding/json"
	"io"
)

// WriteJSON writes one JSON document, indented, without HTML escapes.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
