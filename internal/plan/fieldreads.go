package plan

import (
	"maps"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// ReadBy returns the names of the concerns that apply the setting of a NodeConfig at a path, or a setting below it,
// sorted. "*" in the path stands for any key of a map. A setting that is read by none is not applied by this version,
// unless something else than the planner reads it (dialect.ReaderOf).
func ReadBy(path string) []string {
	var names []string
	at := []*readers{allReaders()}
	for _, name := range namesIn(path) {
		var next []*readers
		for _, r := range at {
			below := []*readers{r.next[name], r.next[anyKey]}
			if name == anyKey {
				below = slices.Collect(maps.Values(r.next))
			}
			for _, n := range below {
				if n != nil && !slices.Contains(next, n) {
					next = append(next, n)
					names = append(names, n.by...)
				}
			}
		}
		at = next
	}
	for _, r := range at {
		names = append(names, r.below()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Concerns returns the names of all concerns, sorted: those that a setting has which every one of them reads.
func Concerns() []string {
	var names []string
	for _, c := range concerns {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// namesIn are the names in a path. It leaves out the indexes of lists, because a list is read as a whole.
func namesIn(path string) []string {
	var names []string
	for {
		above, name := document.CutPath(path)
		if above == path {
			slices.Reverse(names)
			return names
		}
		if name != "" {
			names = append(names, name)
		}
		path = above
	}
}

// anyKey stands for each key of a map.
const anyKey = "*"

// readers is a tree of the contract's settings by name, as deep as any concern reads them.
type readers struct {
	// handled means that a concern reads or reports everything from here on.
	handled bool
	// by are the names of the concerns that read everything from here on.
	by   []string
	next map[string]*readers
}

// at returns the subtree for a path, and creates it if it is missing.
func (r *readers) at(path string) *readers {
	for _, name := range namesIn(path) {
		if r.next == nil {
			r.next = make(map[string]*readers)
		}
		if r.next[name] == nil {
			r.next[name] = new(readers)
		}
		r = r.next[name]
	}
	r.handled = true
	return r
}

// entry returns the subtree for a name; nil if no concern reads anything there.
func (r *readers) entry(name string) *readers {
	if r == nil {
		return nil
	}
	return r.next[name]
}

// key is the part of the tree for a key of a map: what is read of that key, and what of each.
func (r *readers) key(name string) *readers {
	own, each := r.entry(name), r.entry(anyKey)
	switch {
	case own == nil:
		return each
	case each == nil:
		return own
	}
	both := &readers{handled: own.handled || each.handled, by: slices.Concat(own.by, each.by), next: maps.Clone(each.next)}
	for name := range own.next {
		both.next[name] = own.next[name]
	}
	return both
}

// below are the names of all that read something below, in no order.
func (r *readers) below() []string {
	var names []string
	for _, n := range r.next {
		names = append(names, n.by...)
		names = append(names, n.below()...)
	}
	return names
}

// allReaders are the readers of all concerns, and all other readers of a contract.
var allReaders = sync.OnceValue(func() *readers {
	top := new(readers)
	for _, path := range readByAll {
		top.at(path).by = Concerns()
	}
	for _, c := range concerns {
		for _, path := range c.Reads {
			r := top.at(path)
			r.by = append(r.by, c.Name)
		}
		for _, path := range c.Declines {
			top.at(path)
		}
	}
	for _, r := range dialect.Unplanned(dialect.Native) {
		top.at(r.Path)
	}
	return top
})
