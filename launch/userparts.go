package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/userdata"
)

// UserParts are what a machine is given beside its contract, in their order: scripts and whatever else cloud-init takes. They may hold
// secrets: what is made for people, or kept, has their names, their sizes and the beginnings of their digests.
type UserParts []userdata.Part

// shownDigest is how many bytes of a digest are shown: enough that two are not alike by chance.
const shownDigest = 8

// shortDigest is the beginning of the digest of what may hold a secret.
func shortDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:shownDigest])
}

// String names the parts.
func (p UserParts) String() string {
	named := make([]string, len(p))
	for i := range p {
		digest := shortDigest([]byte(p[i].Type + "\x00" + string(p[i].Content)))
		named[i] = strings.TrimSpace(fmt.Sprintf("%s (%d bytes, %s)", p[i].Name, len(p[i].Content), digest))
	}
	return strings.Join(named, ", ")
}

// Format writes String for every verb.
func (p UserParts) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// MarshalText returns String, for JSON, YAML and logs.
func (p UserParts) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
