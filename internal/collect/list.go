package collect

import (
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

// Listing is what would be collected, and what is missing.
type Listing struct {
	Entries []Entry                 `json:"entries"`
	Missing []supportbundle.Missing `json:"missing"`
}

// Entry is a file that a bundle would have.
type Entry struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Why    string `json:"why"`
	// Size is the size of the source. It is nil if it is unknown before the source is read.
	Size *int64 `json:"size,omitempty"`
}

// List returns what would be collected. It reads no content of a file.
func (c *Collector) List() Listing {
	list := Listing{Entries: []Entry{}, Missing: []supportbundle.Missing{}}
	for _, p := range c.plan(&holdings{}, func(source, reason string) {
		list.Missing = append(list.Missing, supportbundle.Missing{Source: source, Reason: reason})
	}) {
		e := Entry{Name: supportbundle.SafeName(p.name), Source: p.source, Why: p.why}
		if p.size >= 0 {
			e.Size = &p.size
		}
		list.Entries = append(list.Entries, e)
	}
	return list
}
