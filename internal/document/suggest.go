package document

import (
	"slices"
	"sort"
	"strings"
)

// Suggestion returns a hint with the known name nearest to an unknown one, for the end of a problem, or "" if none is near. A typo is
// the most common reason for an unknown field.
func Suggestion(name string, known []string) string { return didYouMean(nearest(name, known)) }

// Likeliest is [Suggestion] by the rules of [Alike].
func Likeliest(name string, known []string) string {
	return didYouMean(append(Alike(name, known), "")[0])
}

// WantWord is the reason for a value that is not one of some words. It begins with the nearest word, because callers append what the
// value's reader does then.
func WantWord(value string, words []string) string {
	want := "want one of " + strings.Join(words, ", ")
	if name := nearest(value, words); name != "" {
		return question(name) + " " + want
	}
	return want
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; " + question(name)
}

func question(name string) string { return "did you mean " + name + "?" }

// nearest returns the name that an unknown name most probably means, or "" if none is near.
func nearest(name string, names []string) string {
	best, bestDistance := "", min(3, len(name)) // of which nothing is left is no typo
	for _, candidate := range slices.Sorted(slices.Values(names)) {
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate), bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// Alike returns up to three known names that a path or name may mean, the likeliest first. Unlike [Suggestion] it also accepts a
// name whose last part is near.
func Alike(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	wanted := strings.ToLower(name)
	last := lastPart(wanted)
	var near []candidate
	best := len(wanted)
	for _, k := range known {
		spelled := strings.ToLower(k)
		distance := Distance(wanted, spelled, len(wanted)+len(spelled)+1)
		alike := distance <= max(2, len(wanted)/4)
		if d := Distance(last, lastPart(spelled), len(last)+len(spelled)+1); d <= len(last)/3 {
			distance, alike = min(distance, 1+d), true
		}
		if alike {
			near = append(near, candidate{k, distance})
			best = min(best, distance)
		}
	}
	near = slices.DeleteFunc(near, func(c candidate) bool { return c.distance > best })
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	var names []string
	for _, n := range near[:min(3, len(near))] {
		names = append(names, n.name)
	}
	return names
}

// lastPart is the part after the last dot or slash.
func lastPart(name string) string { return name[strings.LastIndexAny(name, "./")+1:] }

// Distance is the edit distance of a and b, or limit if it is at least that.
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
