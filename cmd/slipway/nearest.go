package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// nearest returns up to three of the known names that someone may have meant by name, the likeliest
// first: a name is near if all of it is spelled alike, or its last part.
func nearest(name string, known []string) []string {
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
		distance := editDistance(wanted, spelled)
		alike := distance <= max(2, len(wanted)/4)
		if d := editDistance(last, lastPart(spelled)); d <= len(last)/3 {
			distance, alike = min(distance, 1+d), true
		}
		if alike {
			near = append(near, candidate{k, distance})
			best = min(best, distance)
		}
	}
	near = slices.DeleteFunc(near, func(c candidate) bool { return c.distance > best })
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, n := range near[:min(3, len(near))] {
		names = append(names, n.name)
	}
	return names
}

// lastPart is what follows the last dot or slash.
func lastPart(name string) string { return name[strings.LastIndexAny(name, "./")+1:] }

// editDistance is how many characters must be changed, added or removed to make b of a.
func editDistance(a, b string) int { return document.Distance(a, b, len(a)+len(b)+1) }
