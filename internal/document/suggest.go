package document

import (
	"slices"
	"strings"
)

// suggest offers the known name nearest to an unknown one, or nothing where none is near: a typo
// is the commonest reason for an unknown field.
func suggest(name string, known map[string]knownField) string {
	var names []string
	for candidate := range known {
		if !known[candidate].former {
			names = append(names, candidate)
		}
	}
	if best := Nearest(name, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// Nearest returns which of the names was probably meant by one that is not among them, or "" where none is near.
func Nearest(name string, names []string) string {
	best, bestDistance := "", min(3, len(name)) // of which nothing is left is no typo
	for _, candidate := range slices.Sorted(slices.Values(names)) {
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate), bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
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
