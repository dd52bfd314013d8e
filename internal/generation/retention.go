package generation

import "slices"

// retire drops from the index the generations that need not be kept, and returns their numbers: all but
// the newest, by count and by size. The last good one is always kept, and all after it, for what they
// brought may be on the machine.
func (s *Store) retire() (numbers []int) {
	first := len(s.entries) - 1
	if good, found := s.LastGood(); found {
		first = slices.IndexFunc(s.entries, func(e Entry) bool { return e.Number == good.Number })
	}
	var bytes int64
	kept := 0
	for i, e := range slices.Backward(s.entries) {
		size := int64(0)
		if entry, err := s.host.Stat(recordPath(e.Number)); err == nil {
			size = entry.Size
		}
		bytes += size
		kept++
		if i < first && (kept > keep || bytes > keepBytes) {
			for _, old := range s.entries[:i+1] {
				numbers = append(numbers, old.Number)
				delete(s.records, old.Number)
			}
			s.entries = slices.Clone(s.entries[i+1:])
			return numbers
		}
	}
	return nil
}
