package supportbundle

import (
	"fmt"
	"strings"
	"time"
)

// block is the size of the blocks that an archive consists of.
const block = 512

// headerOf is the header of a regular file that only its owner can read, in the format ustar (POSIX.1-1988, "ustar Interchange
// Format"). docs/dependencies.md has the reason for own code.
func headerOf(name string, size int, at time.Time) ([]byte, error) {
	prefix, base := "", name
	if len(base) > 100 {
		// The longest prefix that fits leaves the shortest name.
		cut := strings.LastIndexByte(name[:min(len(name), 156)], '/')
		if cut <= 0 || len(name)-cut-1 > 100 {
			return nil, fmt.Errorf("%s: the path is too long for the bundle", name)
		}
		prefix, base = name[:cut], name[cut+1:]
	}
	h := make([]byte, block)
	put := func(offset int, text string) { copy(h[offset:], text) }
	put(0, base)
	put(100, "0000600")
	put(108, "0000000") // owner
	put(116, "0000000") // group
	put(124, fmt.Sprintf("%011o", size))
	put(136, fmt.Sprintf("%011o", max(at.Unix(), 0)))
	put(148, "        ") // the checksum is computed with blanks in its place
	put(156, "0")        // a regular file
	put(257, "ustar\x0000")
	put(345, prefix)
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	put(148, fmt.Sprintf("%06o\x00 ", sum))
	return h, nil
}
