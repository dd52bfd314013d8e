//go:build failpoint

package crash

import (
	"fmt"
	"strings"
	"testing"
)

// scenarios are the runs that the tests interrupt.
var scenarios = []struct {
	name    string
	prepare func(*testing.T) *scenario
}{{"first", fresh}, {"change", changed}, {"copied disk", copied}, {"join", joined}, {"downloads", brought}}

// onEach calls f for each scenario.
func onEach(t *testing.T, f func(t *testing.T, s *scenario)) {
	for _, each := range scenarios {
		t.Run(each.name, func(t *testing.T) {
			s := each.prepare(t)
			s.name = each.name
			f(t, s)
		})
	}
}

// A run dies at any point; the next one reaches the same state as an uninterrupted one.
func TestOneDeath(t *testing.T) {
	onEach(t, func(t *testing.T, s *scenario) {
		c := begin(t, "one death, "+s.name)
		deaths := sample(s.deaths(), size{part: 30}.now(), s.kind)
		each(len(deaths), func(i int) { c.point(s.label(deaths[i]), s.survives(deaths[i])) })
		c.end()
	})
}

// Two runs in succession die, each at any point.
func TestTwoDeaths(t *testing.T) {
	onEach(t, func(t *testing.T, s *scenario) {
		c := begin(t, "two deaths, "+s.name)
		deaths := s.deaths()
		each(size{part: 12, whole: 2000}.now(), func(i int) {
			random := draw(usePairs + uint64(i))
			first := deaths[random.IntN(len(deaths))]
			// The second run may have any length, up to a whole run: its death is drawn from the rest.
			second := death{random.IntN(max(1, len(s.events)-random.IntN(first.at+1))), moment(1 + random.IntN(3))}
			c.point(fmt.Sprintf("pair %d: %s, then %s", i, s.label(first), second), s.survives(first, second))
		})
		c.end()
	})
}

// kind groups deaths that are alike.
func (s *scenario) kind(d death) string { return s.events[d.at].Kind + " " + d.when.String() }

func (d death) String() string { return fmt.Sprintf("%s mutation %d", d.when, d.at) }

func (s *scenario) label(d death) string {
	return fmt.Sprintf("dies %s mutation %d, %s %s", d.when, d.at, s.events[d.at].Kind, s.events[d.at].Path)
}

// survives checks that the scenario converges after runs that die.
func (s *scenario) survives(deaths ...death) error {
	n, err := s.node()
	if err != nil {
		return err
	}
	defer n.remove()
	for i, d := range deaths {
		run := &session{death: d}
		n.provision(run)
		if i == 0 && !run.dead {
			return fmt.Errorf("the run ended before it died, after %d mutations", len(run.events))
		}
		if err := n.honest(); err != nil {
			return err
		}
	}
	return n.finish()
}

// honest checks that a published success is true.
func (n *node) honest() error {
	now, err := snapshot(n.root)
	if err != nil {
		return err
	}
	return n.scenario.honest(now)
}

// honest checks that a published success is true: a reader of the success finds the machine as the contract in it requires.
func (s *scenario) honest(now tree) error {
	digests := []string{s.plan.Config}
	if was := s.base.digest(); was != "" {
		digests = append(digests, was)
	}
	digest, err := now.claim(digests...)
	if digest == "" || err != nil {
		return err
	}
	now.samePair()
	want := s.want
	if digest != s.plan.Config {
		want = s.base
	}
	for path := range union(now, want) {
		passing := isRecord(path) || isEvent(path) || isTemporary(path) || volatile(path) || s.retires(path) || strings.HasPrefix(path, ownDir)
		if !passing && now[path] != want[path] && path != contractPath {
			return fmt.Errorf("success is published, and %s is %s, want %s", path, now[path], want[path])
		}
	}
	return nil
}
