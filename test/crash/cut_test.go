//go:build failpoint

package crash

import (
	"encoding/binary"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// choose decides one thing that a power cut leaves open, out of a number of ways. Way 0 keeps nothing that was not synced; the last
// way keeps everything.
type choose func(ways int) int

// cut is the disk's content after a power cut, for these choices.
func (d *disk) cut(pick choose) tree {
	t := make(tree)
	d.root.cut("", t, pick)
	return t
}

func (i *inode) cut(at string, t tree, pick choose) {
	names := i.names
	if len(i.pending) > 0 {
		names = maps.Clone(i.names)
	}
	for _, c := range i.pending {
		if pick(2) == 0 {
			continue
		}
		for _, b := range c {
			names[b.name] = b.to
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		child := names[name]
		if child == nil {
			continue
		}
		below := at + "/" + name
		t[below] = child.survivor(pick)
		if child.mode.IsDir() {
			child.cut(below, t, pick)
		}
	}
}

// survivor is the rest of an inode: content and mode survive independently.
func (i *inode) survivor(pick choose) entry {
	e := i.kept
	if !i.dirty {
		return e
	}
	if i.content != e.content {
		switch pick(4) {
		case 1:
			e.content = i.content[:len(i.content)/2]
		case 2:
			e.content = strings.Repeat("\x00", len(i.content)) // allocated blocks that were not written
		case 3:
			e.content = i.content
		}
	}
	if i.room != e.room && pick(2) == 1 {
		e.room = i.room
	}
	if (i.mode != e.mode || i.uid != e.uid || i.gid != e.gid) && pick(2) == 1 {
		e.mode, e.uid, e.gid = i.mode, i.uid, i.gid
	}
	return e
}

// choices counts the open decisions, and their combinations up to 1 << 20.
func (d *disk) choices() (count, ways int) {
	ways = 1
	d.cut(func(n int) int {
		count++
		ways = min(ways*n, 1<<20)
		return n - 1
	})
	return count, ways
}

// cuts yields states of the disk after a power cut now, at most limit of them, without those seen before. If there are few, it
// yields all. Otherwise it yields the extremes (nothing is kept, everything, all but one thing, one thing only) and random ones. If
// limit is below the number of extremes, a random sample of them.
func (d *disk) cuts(random *rand.Rand, limit int, isNew func(tree) bool, yield func(tree)) {
	count, ways := d.choices()
	found := 0
	try := func(pick choose) {
		if found < limit {
			if t := d.cut(pick); isNew(t) {
				found++
				yield(t)
			}
		}
	}
	if ways <= 1<<8 {
		for _, left := range random.Perm(ways) {
			try(func(n int) int { way := left % n; left /= n; return way })
		}
		return
	}
	for _, odd := range random.Perm(count + 1) { // the last index stands for no exception
		for _, others := range random.Perm(2) {
			at := 0
			try(func(n int) int { at++; return (n - 1) * (others ^ b2i(at-1 == odd)) })
		}
	}
	for tries := 0; found < limit && tries < 2*limit; tries++ {
		kept := []float64{0.1, 0.5, 0.9}[tries%3]
		try(func(n int) int {
			switch {
			case n > 2:
				return random.IntN(n)
			case random.Float64() < kept:
				return 1
			}
			return 0
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sums has the seed of all sums; they are compared within this process only.
var sums = maphash.MakeSeed()

// sum identifies a tree. It adds up the sums of the paths, so their order does not matter.
func (t tree) sum() uint64 {
	var (
		total uint64
		hash  maphash.Hash
		fixed [12]byte
	)
	hash.SetSeed(sums)
	for path, e := range t {
		binary.LittleEndian.PutUint32(fixed[0:], uint32(e.mode))
		binary.LittleEndian.PutUint32(fixed[4:], e.uid)
		binary.LittleEndian.PutUint32(fixed[8:], uint32(len(e.content))+uint32(e.room))
		hash.Reset()
		hash.WriteString(path)
		hash.Write(fixed[:])
		hash.WriteString(e.target)
		hash.WriteString(e.content)
		total += hash.Sum64()
	}
	return total
}

func sorted(t tree) []string { return slices.Sorted(maps.Keys(t)) }
