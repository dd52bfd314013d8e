package envelope

import (
	"fmt"
	"strings"
)

// Contract is a contract from user data. It is treated as secret: however it is formatted, logged or marshalled, only
// its path, its size and its wrapping are shown.
type Contract struct {
	// Data is the document, JSON or YAML, as it is in the user data.
	Data []byte
	// Path is the path that the user data requests for it, one of those given to Open. It is empty if the user data has
	// none.
	Path string
	// Wrapping is what it was wrapped in, outermost first: "base64", "gzip", "zstd", "mime", "cloud-config", "boothook"
	// (or another script), "ignition". Encodings that belong to a wrapping do not count: a MIME part's transfer
	// encoding, a cloud-config's encoding, an Ignition file's compression.
	Wrapping []string
}

// String describes the contract without its content.
func (c Contract) String() string {
	name := "contract"
	if c.Path != "" {
		name += " for " + c.Path
	}
	if len(c.Wrapping) > 0 {
		name += " in " + strings.Join(c.Wrapping, ", ")
	}
	return fmt.Sprintf("%s (%d bytes) [redacted]", name, len(c.Data))
}

// Format writes String for every verb.
func (c Contract) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// MarshalText returns String, for JSON, YAML and logs.
func (c Contract) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
