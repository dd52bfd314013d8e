package redact

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
)

// Scrubber removes secrets from files: those of Known, in every encoding, and everything that looks like a secret. Equal secrets
// get equal placeholders, such as <secret 3>. The number comes from the order in which secrets are found, and so says nothing
// about their value.
type Scrubber struct {
	Known *Known
	// others are the numbers of secrets that were recognized by their form alone.
	others map[string]int
}

// span is a secret in a text. number is 0 for one that was recognized by its form.
type span struct{ start, end, number int }

// ErrUnsearched means that a text cannot be searched for secrets in a limited time: it consists of words that may belong to one.
var ErrUnsearched = errors.New("cannot be searched for secrets in a limited time")

// Scrub returns data from an offset on without secrets, and how many were removed. The part before the offset is only read: a
// secret may begin in it.
func (s *Scrubber) Scrub(data []byte, from int) (clean []byte, removed int, err error) {
	secrets, complete := s.find(data)
	if !complete {
		return nil, 0, ErrUnsearched
	}
	clean = make([]byte, 0, len(data)-from+len(data)/64)
	end := from
	for _, found := range secrets {
		if found.end <= from {
			continue
		}
		if found.start > end {
			clean = append(clean, data[end:found.start]...)
		}
		clean = append(clean, placeholder(s.number(found, data))...)
		end = found.end
		removed++
	}
	return append(clean, data[end:]...), removed, nil
}

func placeholder(number int) string { return fmt.Sprintf("<secret %d>", number) }

func (s *Scrubber) number(found span, data []byte) int {
	if found.number > 0 {
		return found.number
	}
	value := string(data[found.start:found.end])
	if number, has := s.Known.numbers[value]; has {
		return number
	}
	if s.others == nil {
		s.others = make(map[string]int)
	}
	if s.others[value] == 0 {
		s.others[value] = s.Known.Len() + len(s.others) + 1
	}
	return s.others[value]
}

// find returns the secrets of a text by position. They do not overlap.
func (s *Scrubber) find(data []byte) (found []span, complete bool) {
	all, complete := byForm(data, true)
	all = s.Known.wrapped(all, data)
	s.Known.matcher.find(data, func(at, size, number int) int {
		all = append(all, span{at, at + size, number})
		return size
	})
	return join(all), complete
}

// join sorts secrets, and joins those that overlap.
func join(all []span) (joined []span) {
	sort.SliceStable(all, func(i, j int) bool { return all[i].start < all[j].start })
	for _, next := range all {
		if last := len(joined) - 1; last >= 0 && next.start < joined[last].end {
			joined[last].end = max(joined[last].end, next.end)
			joined[last].number = cmp.Or(joined[last].number, next.number)
			continue
		}
		joined = append(joined, next)
	}
	return joined
}
