package generation

import "slices"

// retire drops generations from the index that need not be kept, and reports whether there were any: all but the
// newest, by count and by size, and all but a few failed ones, which must not displace the good ones that a repair may
// restore. The last good one and the current one are always kept. The resources of dropped generations are still known:
// each record repeats what was left before it.
func (s *Store) retire() bool {
	good, found := s.LastGood()
	var list []Entry
	var bytes int64
	failed := 0
	for _, e := range slices.Backward(s.entries) {
		var size int64
		if entry, err := s.host.Stat(recordPath(e.Number)); err == nil {
			size = entry.Size
		}
		newest := len(list) < keep && bytes+size <= keepBytes && (e.Stands() || failed < keepFailed)
		if newest || len(list) == 0 || found && e.Number == good.Number {
			list = append(list, e)
			bytes += size
			if !e.Stands() {
				failed++
			}
		}
	}
	if len(list) == len(s.entries) {
		return false
	}
	slices.Reverse(list)
	s.entries = list
	return true
}

// sweep removes the files of generations that are not kept, also those of a run that died. If one cannot be removed,
// the next sweep tries again.
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
