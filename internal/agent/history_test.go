package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/test/detector"
)

// untouched is a machine that is not a node yet, with an administrator's files at the paths of the contracts' files.
func untouched(t *testing.T) *node {
	t.Helper()
	n := newNode(t)
	n.deliver(pruned, []byte("[Service]\n# an administrator's\n"))
	n.deliver(brought, []byte("{}"))
	n.deliver("/etc/other", []byte("another's"))
	return n
}

// Whatever a node has been through (changes that failed at any call, rollbacks that failed too, boots, trials), after a
// success it is as if that contract alone had made it, and the earlier files are there.
func TestHistories(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	contracts := [][]byte{
		example(t, "native/full.yaml"), better(t), best(t),
		edited(t, "    - {key: dedicated, value: storage, effect: NoSchedule}", "    - {key: x, value: y, effect: NoExecute}", limits, "", "modules: [ip_vs]", "modules: [ip_vs_rr]"),
	}
	var fresh []map[string]string
	for _, contract := range contracts {
		n := untouched(t)
		if got := n.change(contract); got.Status.ExitCode != 0 {
			t.Fatal(got.Status.Error)
		}
		fresh = append(fresh, n.tree())
	}
	restored, failed := new(atomic.Int32), new(atomic.Int32)
	t.Run("all", func(t *testing.T) {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				h := &history{node: untouched(t), random: rand.New(rand.NewPCG(seed, 1)), contracts: contracts, fresh: fresh, restored: restored, failed: failed}
				for range 10 {
					h.step()
				}
				h.host.before = func(string, string) error { return nil }
				for i := range contracts {
					h.to(i, 0)
				}
			})
		}
	})
	if restored.Load() < 4 || failed.Load() < 2 {
		t.Errorf("%d are restored, %d are left as they failed: too little is tried", restored.Load(), failed.Load())
	}
}

// history is a node with a series of changes.
type history struct {
	*node
	random           *rand.Rand
	contracts        [][]byte
	fresh            []map[string]string
	restored, failed *atomic.Int32
	// made are the contracts of the generations, by their numbers.
	made map[int]int
	log  []string
}

// step is one random event.
func (h *history) step() {
	h.Helper()
	left, lasting := -1, h.random.IntN(3) == 0
	if h.random.IntN(3) > 0 {
		left = h.random.IntN(80)
	}
	h.host.before = func(op, name string) error {
		if !slices.Contains(mutating, op) && op != "Probe" {
			return nil
		}
		if left--; left == -1 || lasting && left < -1 && left > -1000 {
			return errors.New("fault at " + op + " " + name)
		}
		return nil
	}
	if left < 0 {
		h.host.before = func(string, string) error { return nil }
	}
	contract := h.random.IntN(len(h.contracts))
	switch h.random.IntN(5) {
	case 0:
		h.to(contract, time.Hour)
	case 1:
		got := h.Rollback(h.Context(), RollbackOptions{Allow: difference.Replace})
		h.checks("rollback", got, -1)
	default:
		h.to(contract, 0)
	}
}

// to changes the node to a contract.
func (h *history) to(contract int, try time.Duration) {
	h.Helper()
	got := h.change(h.contracts[contract], func(o *ChangeOptions) { o.Allow, o.Force, o.Try = difference.Replace, true, try })
	h.checks(fmt.Sprint("to ", contract), got, contract)
}

// checks requires that the node is as one contract alone would make it: the contract of the change, or that of the
// restored generation.
func (h *history) checks(what string, got Changed, contract int) {
	h.Helper()
	h.log = append(h.log, fmt.Sprint(what, ": ", got.Status.ExitCode, " ", got.Refused, " ", got.Status.Error))
	if h.made == nil {
		h.made = make(map[int]int)
	}
	entries, err := h.Generations()
	if err != nil {
		h.Fatal(err)
	}
	for _, e := range entries {
		if from, known := h.made[e.Restores]; known {
			h.made[e.Number] = from
		} else if contract >= 0 && e.Number == got.Status.Generation {
			h.made[e.Number] = contract
		}
	}
	switch {
	case got.Refused != "":
		return
	case got.Status.ExitCode == 0 && contract < 0:
		contract = h.made[got.Status.Generation]
	case got.Status.ExitCode != 0 && got.Status.Restored > 0:
		h.restored.Add(1)
		contract = h.made[got.Status.Restored]
	case got.Status.ExitCode != 0:
		h.failed.Add(1)
		return
	}
	before := h.Failed()
	same(h.T, what, h.tree(), h.fresh[contract])
	if h.Failed() && !before {
		h.Fatalf("after\n%s\n%s", strings.Join(h.log, "\n"), h.generations())
	}
}
