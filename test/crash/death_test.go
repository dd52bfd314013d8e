//go:build failpoint

package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// scenarios are what is interrupted.
func scenarios(t *testing.T) []*scenario { return []*scenario{fresh(t), changed(t), copied(t)} }

// pairs is how many pairs of deaths are tried in a scenario.
const pairs = 2000

// sample is every kth of a list in a short test, beginning anywhere; all of it in a whole one.
func sample[T any](all []T, k int) []T {
	if !testing.Short() {
		return all
	}
	var some []T
	for i := 0; i < len(all); i += k {
		some = append(some, all[i])
	}
	return some
}

// A run dies at any point; the next one gets as far as one that was left alone.
func TestOneDeath(t *testing.T) {
	for _, s := range scenarios(t) {
		c := begin(t, "one death, "+s.name)
		deaths := sample(s.deaths(), 61)
		each(len(deaths), func(i int) { c.point(s.label(deaths[i]), s.survives(deaths[i])) })
		c.end()
	}
}

// Two runs die, one after the other, each anywhere.
func TestTwoDeaths(t *testing.T) {
	for _, s := range scenarios(t) {
		c := begin(t, "two deaths, "+s.name)
		deaths := s.deaths()
		count := pairs
		if testing.Short() {
			count = 8
		}
		each(count, func(i int) {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			first := deaths[random.IntN(len(deaths))]
			// The second run may be any length, up to a whole one's: it is drawn from what is left.
			second := death{random.IntN(max(1, len(s.events)-random.IntN(first.at+1))), moment(1 + random.IntN(3))}
			c.point(fmt.Sprintf("seed %d: %s, then %s", i, s.label(first), second), s.survives(first, second))
		})
		c.end()
	}
}

func (d death) String() string { return fmt.Sprintf("%s mutation %d", d.when, d.at) }

func (s *scenario) label(d death) string {
	return fmt.Sprintf("dies %s mutation %d, %s %s", d.when, d.at, s.events[d.at].Kind, s.events[d.at].Path)
}

// survives wants the scenario to be finished after runs that die.
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

// honest wants a success that is published to be one.
func (n *node) honest() error {
	now, err := snapshot(n.root)
	if err != nil {
		return err
	}
	return n.scenario.honest(now)
}

// honest wants a success that is published to be one: whoever sees it sees a machine as the contract that it
// names makes it.
func (s *scenario) honest(now tree) error {
	digests := []string{s.plan.Config}
	if was := s.base.digest(); was != "" {
		digests = append(digests, was)
	}
	digest, err := now.claim(digests...)
	if digest == "" || err != nil {
		return err
	}
	want := s.want
	if digest != s.plan.Config {
		want = s.base
	}
	for path := range union(now, want) {
		passing := isRecord(path) || isEvent(path) || isTemporary(path) || volatile(path) || strings.HasPrefix(path, ownDir)
		if !passing && now[path] != want[path] && path != contractPath {
			return fmt.Errorf("success is published, and %s is %s, want %s", path, now[path], want[path])
		}
	}
	return nil
}
