package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"

	"github.com/slipway-dev/slipway/node"
)

// keyVersion is the meaning of a key. It changes when what goes into a key does; a node whose key has another version is
// "unknown", and never one to replace.
const keyVersion = "k1-"

// keyBytes is how much of the digest is in a key: enough that nobody finds two alike by chance.
const keyBytes = 16

// Key names what a node of the template is like, without anything that is secret: "k1-" and 32 hexadecimal digits. Templates
// with one key make the same nodes. A program keeps it with a node. It is computed once.
func (t *Template) Key() string { return t.key() }

// makeKey computes the key: of the completed contract, as node.NodeDigest has it, and of what counts of the machine.
func (t *Template) makeKey() string {
	digest := sha256.New()
	write := func(s string) { _, _ = digest.Write(append([]byte(s), 0)) }
	write(node.NodeDigest(t.complete))
	machine := Document{Machine: t.Document.Machine}
	walk(&machine, func(at []byte, v reflect.Value) {
		path := string(at)
		if driftOf(path).class != Ignore {
			write(path)
			write(plain(v))
		}
	})
	return keyVersion + hex.EncodeToString(digest.Sum(nil)[:keyBytes])
}
