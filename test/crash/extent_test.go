//go:build failpoint

package crash

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var seed = flag.Uint64("seed", 1, "what is left to chance is drawn from `NUMBER`: the same number, the same points")

// size is how many points of a check are tried in a scenario: with -short a part, some of each kind, and else the whole. 0 means all.
type size struct{ part, whole int }

func (z size) now() int {
	if testing.Short() {
		return z.part
	}
	return z.whole
}

// draw returns a random source for one use of the seed. No two uses may have the same number.
func draw(use uint64) *rand.Rand { return rand.New(rand.NewPCG(*seed, use)) }

// The uses of the seed. A use with a number for each point starts a range.
const (
	useSample uint64 = iota
	usePairs  uint64 = 1 << 32
	useCuts   uint64 = 2 << 32
	useKills  uint64 = 3 << 32
	useServed uint64 = 4 << 32
)

// sample draws n elements of a list, and more if that is needed for one of each kind. If n is 0, it returns all.
func sample[T any](all []T, n int, kind func(T) string) []T {
	if n == 0 || n >= len(all) {
		return all
	}
	seen := make(map[string]bool)
	var some, rest []T
	for _, i := range draw(useSample).Perm(len(all)) {
		if k := kind(all[i]); !seen[k] {
			seen[k] = true
			some = append(some, all[i])
		} else {
			rest = append(rest, all[i])
		}
	}
	return append(some, rest[:max(0, n-len(some))]...)
}

// A part has every kind of point for any seed, and is the same for the same seed.
func TestSample(t *testing.T) {
	was := *seed
	defer func() { *seed = was }()
	onEach(t, func(t *testing.T, s *scenario) {
		kinds := func(deaths []death) map[string]int {
			count := make(map[string]int)
			for _, d := range deaths {
				count[s.kind(d)]++
			}
			return count
		}
		all := s.deaths()
		for *seed = range uint64(20) {
			some := sample(all, 100, s.kind)
			if len(kinds(some)) != len(kinds(all)) || len(some) < 100 || len(some) > len(kinds(all))+100 {
				t.Errorf("seed %d: %d of %d points, %d of %d kinds", *seed, len(some), len(all), len(kinds(some)), len(kinds(all)))
			}
			again := sample(all, 100, s.kind)
			for i := range some {
				if some[i] != again[i] {
					t.Fatalf("seed %d: point %d is %v, and %v the second time", *seed, i, some[i], again[i])
				}
			}
		}
	})
}
