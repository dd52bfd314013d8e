package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
)

// keyVersion is the meaning of a key. It changes when what goes into a key does; a node whose key has another version is
// "unknown", and never one to replace.
const keyVersion = "k2-"

// keyBytes is how much of the digest is in a key: enough that nobody finds two alike by chance.
const keyBytes = 16

// Key names what the sources say of a launch, without anything that is secret: "k2-" and 32 hexadecimal digits. [Compare] finds no
// difference between a node and a launch with its key. Two launches that differ in spellings have one key, mostly; two that make different
// nodes with one release never have. A program keeps it with a node. It is computed once.
func (l *Launch) Key() string { return l.key() }

func (l *Launch) makeKey() string {
	values := compared(l.given())
	maps.DeleteFunc(values, func(path string, _ comparedValue) bool {
		row := fieldAt([]byte(path))
		return row.class == Ignore && (document.Within(path, "$.machine.type") || document.Within(path, "$.node.metadata"))
	})
	if l.base.usual != nil { // what is the same for all nodes may be written out
		for path, standard := range l.base.usual() {
			if values[path].same == standard.same {
				delete(values, path)
			}
		}
	}
	values["$.machine.image.id"] = comparedValue{same: cloudID.same(l.document.Machine.Image.ID)}
	if len(l.document.Machine.DriftOnRelease) > 0 {
		for path, value := range compared(&l.document) {
			if isOptedIn(&l.document, path) {
				values[path] = value
			}
		}
	}
	digest := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(values)) {
		_, _ = digest.Write([]byte(path + "\x00" + values[path].same + "\x00"))
	}
	return keyVersion + hex.EncodeToString(digest.Sum(nil)[:keyBytes])
}
