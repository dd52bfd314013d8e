//go:build failpoint

package crash

import (
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

// outage is a disk after a power cut.
type outage struct {
	left tree
	at   int // the last mutation before the cut
	id   int
	// booted reports whether systemd has started the enabled units from the disk's state.
	booted bool
}

// The power goes after any call, and the disk keeps an arbitrary part of what was not synced. If a success is on the disk, it is
// true, and the next run reaches the same state as an uninterrupted one.
func TestPowerCuts(t *testing.T) {
	onEach(t, func(t *testing.T, s *scenario) {
		c := begin(t, "power cut, "+s.name)
		outages := make(chan outage, 64)
		var wait sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wait.Go(func() {
				for o := range outages {
					e := &s.events[o.at]
					c.point(fmt.Sprintf("state %d, power goes after mutation %d, %s %s, booted %t", o.id, o.at, e.Kind, e.Path, o.booted), s.restored(o))
				}
			})
		}
		s.outages(func(o outage) { outages <- o })
		close(outages)
		wait.Wait()
		c.end()
	})
}

// outages yields every state that a power cut in the scenario's run can leave, or a limited number: then a few states at each
// change of a sample.
func (s *scenario) outages(yield func(outage)) {
	var all []int
	for n := range s.events {
		if s.events[n].done {
			all = append(all, n)
		}
	}
	limit := size{part: 100, whole: 50_000}.now()
	cuts := sample(all, size{part: 25}.now(), func(n int) string { return s.events[n].Kind })
	slices.Sort(cuts)
	d := newDisk(s.base)
	seen := make(map[uint64]bool)
	for n := range s.events {
		matters := s.events[n].done && d.play(&s.events[n])
		if len(cuts) == 0 || cuts[0] != n {
			continue
		}
		share := (limit - len(seen)) / len(cuts)
		cuts = cuts[1:]
		if !matters {
			continue
		}
		isNew := func(t tree) bool {
			sum := t.sum()
			fresh := !seen[sum]
			seen[sum] = true
			return fresh
		}
		d.cuts(draw(useCuts+uint64(n)), share, isNew, func(left tree) {
			yield(outage{left: left, at: n, id: len(seen), booted: len(seen)%2 == 0})
		})
	}
}

// restored checks that a published success is true, and that the next run finishes.
func (s *scenario) restored(o outage) error {
	if err := s.honest(o.left); err != nil {
		return err
	}
	if o.booted {
		s.boot(o.left)
	}
	n, err := s.nodeOf(o.left)
	if err != nil {
		return err
	}
	defer n.remove()
	n.earlier, n.brief = 1, o.id%8 != 0
	return n.finish()
}

// boot starts the enabled units: those whose link exists and leads to a file with enough of its content.
func (s *scenario) boot(t tree) {
	started := ""
	for _, r := range s.plan.Resources {
		unit, ok := r.Spec.(*resource.Unit)
		if !ok {
			continue
		}
		link := t[resource.UnitDir+"/multi-user.target.wants/"+unit.Unit]
		file := t[resource.UnitDir+"/"+unit.Unit]
		if link.target != "" && strings.Contains(file.content, "ExecStart=") {
			started += fmt.Sprintf(`{"action":"start","unit":%q}`+"\n", unit.Unit)
		}
	}
	if started == "" {
		return
	}
	for dir := path.Dir(actionsPath); dir != "/"; dir = path.Dir(dir) {
		t[dir] = entry{mode: fs.ModeDir | 0o755, uid: madeBy.uid, gid: madeBy.gid}
	}
	t[actionsPath] = entry{mode: 0o644, uid: madeBy.uid, gid: madeBy.gid, content: started}
}

// The model of a disk is right: if everything is kept, it equals what the run left, and the last publication of the run is durable
// with all that precedes it.
func TestDisk(t *testing.T) {
	onEach(t, func(t *testing.T, s *scenario) {
		d := newDisk(s.base)
		for n := range s.events {
			if s.events[n].done {
				d.play(&s.events[n])
			}
		}
		for name, way := range map[string]func(int) int{
			"everything that was done": func(n int) int { return n - 1 },
			"what was synced":          func(int) int { return 0 },
		} {
			got := d.cut(way)
			got.samePair()
			for path := range union(got, s.want) {
				if !volatile(path) && !s.retires(path) && got[path] != s.want[path] {
					t.Errorf("%s, %s: %s is %s, want %s", s.name, name, path, got[path], s.want[path])
				}
			}
		}
	})
}
