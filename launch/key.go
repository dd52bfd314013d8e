package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
)

// keyVersion is the version of the key's content. It changes when other values go into a key. A node whose key has another version is
// "unknown", so no program replaces it.
const keyVersion = "k2-"

// keyBytes is the length of the digest in a key. With 16 bytes, two launches do not have the same key by chance.
const keyBytes = 16

// Key identifies what the sources set in a launch, without secrets: "k2-" and 32 hexadecimal digits. [Compare] finds no difference
// between a node and a launch with the same key. Launches that differ only in spelling mostly have the same key. If one release makes
// different nodes of two launches, their keys differ. A program stores the key with the node. It is computed once.
func (l *Launch) Key() string { return l.key() }

func (l *Launch) makeKey() string {
	values := compared(l.given())
	maps.DeleteFunc(values, func(path string, _ comparedValue) bool {
		row := fieldAt([]byte(path))
		return row.class == Ignore && (document.Within(path, "$.machine.type") || document.Within(path, "$.node.metadata"))
	})
	if l.base.usual != nil { // a source may also set the value that all nodes have
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
