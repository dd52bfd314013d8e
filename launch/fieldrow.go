package launch

import (
	"cmp"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/kubeletapi"
)

// resolved are the rows by their paths, each with what it has of the rows above it.
var resolved = sync.OnceValue(func() map[string]*fieldRow {
	all := make(map[string]*fieldRow, len(fieldRows))
	for i := range fieldRows {
		all[fieldRows[i].path] = &fieldRows[i]
	}
	for _, name := range kubeletapi.Durations() {
		path := "$.node.kubelet.config." + name
		if all[path] == nil {
			all[path] = &fieldRow{path: path}
		}
		all[path].means = span
	}
	complete := map[string]*fieldRow{"$": {path: "$"}}
	var complement func(path string) *fieldRow
	complement = func(path string) *fieldRow {
		if row := complete[path]; row != nil {
			return row
		}
		above, own := complement(path[:strings.LastIndexByte(path, '.')]), all[path]
		if own == nil {
			return above
		}
		row := *own
		row.means = cmp.Or(own.means, above.means)
		if row.set = own.set; own.class == "" {
			row.class, row.reason = above.class, cmp.Or(own.reason, above.reason)
		}
		complete[path] = &row
		return &row
	}
	for path := range all {
		complement(path)
	}
	return complete
})

// fieldAt is the row of a path.
func fieldAt(path []byte) *fieldRow {
	if row, found := rowAt(resolved(), path); found {
		return row
	}
	return resolved()["$"]
}

// rowAt is the row of a path: that of the longest path which has it within.
func rowAt[T any, P string | []byte](rows map[string]T, path P) (row T, found bool) {
	row, found = rows[string(path)]
	for end := len(path) - 1; end > 0 && !found; end-- {
		if c := path[end]; c == '.' || c == '[' {
			row, found = rows[string(path[:end])]
		}
	}
	return row, found
}
