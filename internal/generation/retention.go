package generation

import "slices"

// retire drops from the index the generations that need not be kept, and tells whether there were any: all
// but the newest, by count and by size. The last good one is always kept, and so is the current. What those
// between the two brought is known without them: each record repeats what was left before it.
func (s *Store) retire() bool {
	good, found := s.LastGood()
	var list []Entry
	var bytes int64
	for i, e := range slices.Backward(s.entries) {
		if entry, err := s.host.Stat(recordPath(e.Number)); err == nil {
			bytes += entry.Size
		}
		newest := len(s.entries)-i <= keep && bytes <= keepBytes
		if newest || len(list) == 0 || found && e.Number == good.Number {
			list = append(list, e)
		}
	}
	if len(list) == len(s.entries) {
		return false
	}
	slices.Reverse(list)
	s.entries = list
	return true
}

// sweep removes the files of generations that are not kept, those too that a run which died had left. What
// cannot be removed is tried again with the next.
func (s *Store) sweep() {
	names, err := s.host.ReadDir(Dir)
	if err != nil {
		s.log.Warn("generations that are not kept cannot be removed", "path", Dir, "error", err)
	}
	current, _ := s.Current()
	for _, name := range names {
		number, ok := numberOf(name)
		if _, kept := s.Find(number); !ok || kept || number > current.Number {
			continue
		}
		delete(s.records, number)
		if err := s.host.Remove(recordPath(number)); err != nil {
			s.log.Warn("a generation that is not kept cannot be removed", "path", recordPath(number), "error", err)
		}
	}
}
