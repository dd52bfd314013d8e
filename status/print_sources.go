package status

import "slices"

// maxSources is how many places a report shows, which is all that there are.
const maxSources = 16

// sources lists the places where a contract was looked for, where one was looked for beyond its own place. One
// that was found is named with the config.
func (r *report) sources(s *Status) {
	if len(s.Sources) < 2 || slices.ContainsFunc(s.Sources, func(p Source) bool { return p.Found }) {
		return
	}
	var items []string
	for _, place := range s.Sources {
		items = append(items, place.Name+": "+place.Result)
	}
	r.list("Looked at", dim, items, maxSources, 0)
	r.gap = true
}
