package document

import (
	"maps"
	"slices"
	"strings"
)

// suggest offers the known name nearest to an unknown one, or nothing where none is near: a typo
// is the commonest reason for an unknown field.
func suggest(name string, known map[string]knownField) string {
	best, bestDistance := "", 3
	for _, candidate := range slices.Sorted(maps.Keys(known)) {
		if known[candidate].former {
			continue
		}
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate), bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// Distance is the edit distance of a and b, or limit where it is at least that.
func Distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return min(row[len(b)], limit)
}
