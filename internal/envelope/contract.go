package envelope

import (
	"fmt"
	"strings"
)

// Contract is a contract that was found in user data. It is treated as secret: however it is formatted,
// logged or marshalled, only its place, its size and its wrapping show.
type Contract struct {
	// Data is the document, JSON or YAML, as it is in the user data.
	Data []byte
	// Path is the place that the user data wants it at, one of those given to Open; empty where the user
	// data says none.
	Path string
	// Wrapping is what it was in, outermost first: "base64", "gzip", "zstd", "mime", "cloud-config",
	// "boothook" (or another script), "ignition". What a wrapping says of its own content is not counted: a MIME part's
	// transfer encoding, a cloud-config's encoding, an Ignition file's compression.
	Wrapping []string
}

// String names the contract without telling what it says.
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
