package launch_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/launch"
)

// fleet reads nodes: one on each line, "name pool class image>wanted ready|- changing|- [fixed]", with minutes before noon.
func fleet(t testing.TB, lines string) []launch.NodeState {
	t.Helper()
	var all []launch.NodeState
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		image, wanted, _ := strings.Cut(words[3], ">")
		n := launch.NodeState{Name: words[0], Pool: words[1], Class: launch.Drift(strings.ReplaceAll(words[2], "-", " ")), Image: image, Wanted: wanted, Fixed: len(words) > 6}
		for i, at := range []*time.Time{&n.ReadySince, &n.ChangingSince} {
			var minutes int
			if words[4+i] == "-" {
				continue
			}
			if _, err := fmt.Sscan(words[4+i], &minutes); err != nil {
				t.Fatal(line, err)
			}
			*at = noon.Add(-time.Duration(minutes) * time.Minute)
		}
		all = append(all, n)
	}
	return all
}

func TestSelect(t *testing.T) {
	window := launch.Window{Start: noon, End: noon.Add(time.Hour)}
	canary := launch.Rollout{AtMost: 3, Canary: 1, Soak: 30 * time.Minute}
	for name, c := range map[string]struct {
		nodes  string
		policy launch.Rollout
		want   string // name:class, those that wait with ?
	}{
		"nothing differs":                        {"a p ignore x>x 60 -\nb p refresh x>x 60 -", launch.Rollout{}, ""},
		"one at a time":                          {"b p replace x>x 60 -\na p in-place x>x 60 -", launch.Rollout{}, "a:in place b?"},
		"each pool":                              {"a p replace x>x 60 -\nb q replace x>x 60 -\nc q replace x>x 60 -", launch.Rollout{}, "a:replace b:replace c?"},
		"two at a time":                          {"a p replace x>x 60 -\nb p replace x>x 60 -\nc p replace x>x 60 -", launch.Rollout{AtMost: 2}, "a:replace b:replace c?"},
		"one is changing":                        {"a p replace x>x - 5\nb p replace x>x 60 -", launch.Rollout{}, "b?"},
		"in the window":                          {"a p replace x>x 60 -", launch.Rollout{Windows: []launch.Window{window}}, "a:replace"},
		"after the window":                       {"a p replace x>x 60 -", launch.Rollout{Windows: []launch.Window{{Start: noon.Add(-time.Hour), End: noon}}}, "a?"},
		"the canary":                             {"a p replace x>y 60 -\nb p replace x>y 60 -", canary, "a:replace b?"},
		"the canary is changing":                 {"a p replace x>y - 5\nb p replace x>y 60 -", canary, "b?"},
		"the canary is young":                    {"a p ignore y>y 29 -\nb p replace x>y 60 -", canary, "b?"},
		"the canary is not Ready":                {"a p ignore y>y - -\nb p replace x>y 60 -", canary, "b?"},
		"the canary is proven":                   {"a p ignore y>y 30 -\nb p replace x>y 60 -\nc p replace x>y 60 -", canary, "b:replace c:replace"},
		"another image":                          {"a p ignore y>y 30 -\nb p replace x>z 60 -\nc p replace x>z 60 -", canary, "b:replace c?"},
		"no canary for a sysctl":                 {"a p in-place x>x 60 -\nb p in-place x>x 60 -", canary, "a:in place b:in place"},
		"in place, too late":                     {"a p in-place x>x 60 10\nb p in-place x>x 60 -", launch.Rollout{Deadline: 10 * time.Minute}, "a:replace b?"},
		"in place, in time":                      {"a p in-place x>x 60 9", launch.Rollout{Deadline: 10 * time.Minute}, ""},
		"in place, not possible":                 {"a p in-place x>x 60 - fixed", launch.Rollout{}, "a:replace"},
		"in place, too late, outside the window": {"a p in-place x>x 60 10", launch.Rollout{Deadline: time.Minute, Windows: []launch.Window{{End: noon}}}, "a:replace"},
	} {
		var got []string
		for _, s := range launch.Select(fleet(t, c.nodes), noon, c.policy) {
			if s.Reason == "" {
				t.Errorf("%s: %s has no reason", name, s.Name)
			}
			if s.Class == launch.Ignore {
				got = append(got, s.Name+"?")
			} else {
				got = append(got, s.Name+":"+string(s.Class))
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// TestSelectKeepsToTheLimit: in any state no more nodes of a pool change than are allowed, the order does not matter, and where all
// goes well every node has changed in the end.
func TestSelectKeepsToTheLimit(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		policy := launch.Rollout{AtMost: 1 + random.Intn(3), Canary: random.Intn(3), Soak: time.Minute}
		var nodes []launch.NodeState
		for i := range 1 + random.Intn(20) {
			nodes = append(nodes, launch.NodeState{Name: fmt.Sprint(i), Pool: string(rune('p' + i%2)), Class: launch.Replace, Image: "old", Wanted: "new", ReadySince: noon})
		}
		now := noon
		for round := 0; ; round++ {
			now = now.Add(2 * time.Minute)
			steps := launch.Select(nodes, now, policy)
			random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			if again := launch.Select(nodes, now, policy); fmt.Sprint(again) != fmt.Sprint(steps) {
				t.Fatal("the order of the nodes matters")
			}
			if len(steps) == 0 {
				break
			}
			if round > 50 {
				t.Fatalf("it does not end: %+v, %v", policy, steps)
			}
			changing := make(map[string]int)
			for _, s := range steps {
				for i := range nodes {
					if n := &nodes[i]; n.Name == s.Name && s.Class == launch.Replace {
						changing[n.Pool]++
						n.Image, n.Class, n.ReadySince = "new", launch.Ignore, now
					}
				}
			}
			for pool, n := range changing {
				if n > policy.AtMost {
					t.Fatalf("%d nodes of %s change, and %d may", n, pool, policy.AtMost)
				}
			}
		}
	}
}
