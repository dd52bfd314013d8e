package generation

import "slices"

// retire drops from the index the generations that need not be kept, and tells whether there were any: all
// but the newest, by count and by size. The last good one is always kept, and all after it, for what they
// brought may be on the machine.
func (s *Store) retire() bool {
	first := 0
	if good, found := s.LastGood(); found {
		first = slices.IndexFunc(s.entries, func(e Entry) bool { return e.Number == good.Number })
	}
	var bytes int64
	kept := 0
	for i, e := range slices.Backward(s.entries) {
		if entry, err := s.host.Stat(recordPath(e.Number)); err == nil {
			bytes += entry.Size
		}
		kept++
		if i < first && (kept > keep || bytes > keepBytes) {
			s.entries = slices.Clone(s.entries[i+1:])
			return true
		}
	}
	return false
}

// sweep removes the files of generations before the first that is kept, those too that a run which died had
// left. What cannot be removed is tried again with the next.
func (s *Store) sweep() {
	names, err := s.host.ReadDir(Dir)
	if err != nil {
		s.log.Warn("generations that are not kept cannot be removed", "path", Dir, "error", err)
	}
	for _, name := range names {
		number, ok := numberOf(name)
		if !ok || number >= s.entries[0].Number {
			continue
		}
		delete(s.records, number)
		if err := s.host.Remove(recordPath(number)); err != nil {
			s.log.Warn("a generation that is not kept cannot be removed", "path", recordPath(number), "error", err)
		}
	}
}
