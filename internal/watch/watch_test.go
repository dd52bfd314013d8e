package watch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/source"
)

func TestChangesAreApplied(t *testing.T) {
	a, b, c := contracts(t)
	onNode(t, a, func(n *node) {
		n.start()
		n.want()
		n.deliver(b)
		n.want("change well")
		n.wait(time.Hour)
		n.want()
		// The watcher finds a change without a notification by polling.
		n.set(func() { n.content = c })
		n.wait(2 * time.Minute)
		n.want("change well")
		n.wantMetric("slipway_generation 3")
		n.wantMetric("slipway_generation_last_good 3")
		n.wantMetric(`slipway_apply_total{outcome="success"} 2`)
		n.wantMetric("slipway_last_apply_success 1")
		n.wantMetric(`slipway_apply_step_duration_seconds{step="compare"} 0.015`)
	})
}

// A file that is written in many parts is read when it is quiet, and at last even if it never is.
func TestChangesAreGatheredUp(t *testing.T) {
	a, b, c := contracts(t)
	onNode(t, a, func(n *node) {
		n.start()
		for range 10 {
			n.set(func() { n.content = "half of" })
			n.changed()
			n.wait(500 * time.Millisecond)
		}
		n.want()
		n.deliver(b)
		n.want("change well")
		n.set(func() { n.content = c })
		for range 25 {
			n.changed()
			n.wait(500 * time.Millisecond)
		}
		n.want("change well")
	})
}

// What was rejected is tried once, and again when it changes: also after a restart.
func TestRejectedConfigsAreRemembered(t *testing.T) {
	a, b, c := contracts(t)
	for result, reason := range map[outcome]Rejection{breaks: Failed, tooMuch: Class, tooOld: Older, badConfig: Invalid} {
		onNode(t, a, func(n *node) {
			n.start()
			n.deliver(b, result)
			n.want("change " + string(result))
			tried := "refused"
			if result == breaks {
				tried = "failure"
			}
			n.wantMetric(`slipway_apply_total{outcome="` + tried + `"} 1`)
			n.wait(time.Hour)
			n.restart()
			n.wait(time.Hour)
			n.want()
			n.wantMetric(`slipway_config_rejected{reason="` + string(reason) + `"} 1`)
			n.wantMetric(`slipway_apply_total{outcome="failure"} 0`) // since the restart
			n.deliver(c)
			n.want("change well")
			n.wantMetric(`slipway_config_rejected{reason="` + string(reason) + `"} 0`)
			n.deliver(b) // it has changed
			n.want("change well")
			if strings.Contains(n.log.String(), canary) {
				t.Error("a secret is logged")
			}
			if !slices.ContainsFunc(n.beats, func(b string) bool { return strings.Contains(b, "rejected: "+string(reason)) }) {
				t.Errorf("the supervisor gets %q", n.beats)
			}
		})
	}
}

// What was more than was allowed is tried again where more is allowed.
func TestRejectionsEndWithTheirReason(t *testing.T) {
	a, b, _ := contracts(t)
	for result, allow := range map[outcome]func(*Watcher){
		tooMuch: func(w *Watcher) { w.Allow = difference.Reboot },
		tooOld:  func(w *Watcher) { w.Force = true },
	} {
		onNode(t, a, func(n *node) {
			n.start()
			n.deliver(b, result)
			n.restart()
			n.want("change " + string(result))
			n.end()
			n.renew()
			allow(n.watcher)
			n.start()
			n.wait(5 * time.Second)
			n.want("change well")
			n.wantMetric(`slipway_apply_total{outcome="success"} 1`)
		})
	}
}

// While the boot's provisioning runs, what differs is its work: the watcher changes nothing, reports nothing, and says that it is alive.
func TestProvisioningIsAwaited(t *testing.T) {
	a, b, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.watcher.Drift, n.provisioning = Mend, 10*time.Minute
		n.set(func() { n.content, n.drift = b, []apply.Change{{ID: "File:/etc/crictl.yaml", Action: apply.Updated}} })
		n.start()
		n.wait(9 * time.Minute)
		n.want()
		if log := n.log.String(); log != "" {
			t.Errorf("the log has: %s", log)
		}
		if want := []string{"ready@0", "waiting for the end of the provisioning@0", "alive@30", "alive@60"}; !slices.Equal(n.beats[:len(want)], want) {
			t.Errorf("the supervisor gets %q", n.beats)
		}
		n.set(func() { n.drift = nil })
		n.wait(2 * time.Minute)
		n.want("change well", "drift 0")
	})
}

// A watcher that has nothing remembered goes by the generations.
func TestFirstSight(t *testing.T) {
	a, b, _ := contracts(t)
	for name, c := range map[string]struct {
		content string
		add     []generation.Outcome // of b, after a
		want    []string
	}{
		"what the node has":             {a, nil, nil},
		"something new":                 {b, nil, []string{"change well"}},
		"what has failed":               {b, []generation.Outcome{generation.Failed}, nil},
		"what was not finished":         {b, []generation.Outcome{generation.Applying}, []string{"change well"}},
		"what was superseded by apply":  {a, []generation.Outcome{generation.Good}, nil},
		"what failed and then did well": {b, []generation.Outcome{generation.Failed, generation.Good}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			onNode(t, a, func(n *node) {
				for _, o := range c.add {
					n.record(b, o, generation.Apply)
				}
				n.content = c.content
				n.start()
				n.wait(5 * time.Second)
				n.want(c.want...)
			})
		})
	}
}

func TestFailuresThatAreNotTheConfigsAreRetried(t *testing.T) {
	a, b, c := contracts(t)
	onNode(t, a, func(n *node) {
		n.takes = 0
		n.start()
		n.deliver(b, slices.Repeat([]outcome{unreachable}, 100)...)
		n.want("change unreachable")
		tries := []time.Duration{}
		last := time.Now()
		for len(tries) < 9 {
			n.wait(time.Second)
			n.changed() // another program writes in the same directory
			n.set(func() {
				if len(n.calls) > 0 {
					tries, last, n.calls = append(tries, time.Since(last).Round(time.Second)), time.Now(), nil
				}
			})
		}
		for i, took := range tries {
			want := min(10*time.Second<<i, 10*time.Minute)
			if took < want*9/10-4*time.Second || took > want*11/10+patience {
				t.Errorf("try %d after %s, want %s", i, took, want)
			}
		}
		n.wantMetric(`slipway_config_rejected{reason="failed"} 0`)
		// Other bytes are not put off.
		n.deliver(c)
		n.want("change well")
	})
}

// An earlier failure of a config says nothing about why the watcher could not try it now.
func TestFailureBeforeIsNoVerdict(t *testing.T) {
	a, b, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.start()
		n.deliver(b, breaks)
		n.deliver(b+"\n# the same config, in other bytes\n", unreachable)
		n.want("change breaks", "change unreachable")
		n.wait(20 * time.Second)
		n.want("change well")
	})
}

func TestSourceErrors(t *testing.T) {
	a, b, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.start()
		n.set(func() { n.fetchErr = errors.New("the disk is broken") })
		n.wait(10 * time.Minute)
		n.wantMetric(`slipway_source_errors_total{source="file"} 6`)
		n.set(func() { n.fetchErr = source.ErrNotFound })
		n.wait(20 * time.Minute)
		n.set(func() { n.fetchErr = nil })
		n.deliver(b)
		n.want("change well")
	})
}

func TestUnprovisionedMachineIsLeftAlone(t *testing.T) {
	a, b, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.entries = nil
		n.start()
		n.deliver(b)
		n.wait(time.Hour)
		n.want()
		n.set(func() { n.record(b, generation.Good, generation.Provision) })
		n.wait(time.Hour)
		n.deliver(a)
		n.want("change well")
	})
}

func TestDrift(t *testing.T) {
	a, _, _ := contracts(t)
	drifted := []apply.Change{{ID: "File:/etc/a", Action: apply.Updated}, {ID: "File:/etc/b", Action: apply.Created}}
	for policy, want := range map[Drift][]string{
		Mend:   {"drift 2", "repair", "drift 0"},
		Report: {"drift 2"},
		Off:    nil,
	} {
		onNode(t, a, func(n *node) {
			n.watcher.Drift, n.drift = policy, drifted
			n.start()
			n.want(want...)
			if policy == Report {
				n.wantMetric("slipway_drift_resources 2")
			}
			n.wait(6 * time.Minute)
			if policy == Mend {
				n.want("drift 0")
				n.wantMetric("slipway_drift_resources 0")
			}
		})
	}
}

// Drift that is an administrator's decision is reported and left, except with the policy MendAll. Other drift is repaired.
func TestDriftThatIsLeft(t *testing.T) {
	a, _, _ := contracts(t)
	left := apply.Change{ID: "Unit:kubelet.service", Action: apply.Left, Note: "is masked"}
	for _, c := range []struct {
		policy Drift
		drift  []apply.Change
		want   []string
	}{
		{Mend, []apply.Change{left}, []string{"drift 1"}},
		{Mend, []apply.Change{left, {ID: "File:/etc/a", Action: apply.Updated}}, []string{"drift 2", "repair", "drift 0"}},
		{MendAll, []apply.Change{left}, []string{"drift 1", "repair all", "drift 0"}},
		{Report, []apply.Change{left}, []string{"drift 1"}},
	} {
		onNode(t, a, func(n *node) {
			n.watcher.Drift, n.drift = c.policy, c.drift
			n.start()
			n.want(c.want...)
			n.wantMetric(fmt.Sprint("slipway_drift_resources ", map[bool]int{true: 1}[len(c.want) == 1]))
		})
	}
}

func TestDriftThatCannotBeRepaired(t *testing.T) {
	a, _, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.watcher.Drift, n.watcher.DriftInterval = Mend, 10*time.Second
		n.drift, n.outcomes = []apply.Change{{ID: "File:/etc/a"}}, slices.Repeat([]outcome{unreachable}, 3)
		n.start()
		n.want("drift 1", "repair fails")
		n.wait(10 * time.Second)
		n.want("drift 1", "repair fails")
		n.wait(15 * time.Second)
		n.want()
		n.wait(5 * time.Second)
		n.want("drift 1", "repair fails")
		n.wait(40 * time.Second)
		n.want("drift 1", "repair", "drift 0")
	})
	// If the node is not healthy after a repair, the watcher checks it again, also if there is no drift any more.
	onNode(t, a, func(n *node) {
		n.watcher.Drift, n.watcher.DriftInterval = Mend, 10*time.Second
		n.drift, n.outcomes = []apply.Change{{ID: "File:/etc/a"}}, []outcome{unreachable}
		n.start()
		n.want("drift 1", "repair fails")
		n.mu.Lock()
		n.drift = nil
		n.mu.Unlock()
		n.wait(10 * time.Second)
		n.want("drift 0", "repair", "drift 0")
		if !slices.Equal(n.attempts, []int{0, 1}) {
			t.Errorf("attempts %v", n.attempts)
		}
	})
	// The watcher does not wait for another run, and does not count it as a failure.
	onNode(t, a, func(n *node) {
		n.watcher.Drift, n.watcher.DriftInterval = Mend, time.Hour
		n.drift, n.outcomes = []apply.Change{{ID: "File:/etc/a"}}, []outcome{atWork}
		n.start()
		n.want("drift 1", "repair is busy")
		n.wait(10 * time.Second)
		n.want("drift 1", "repair", "drift 0")
		n.wantMetric(`slipway_apply_total{outcome="failure"} 0`)
	})
}

// When the watcher ends, it finishes a running change, or abandons one that takes too long.
func TestRunningChangeWhenTheWatcherEnds(t *testing.T) {
	a, b, _ := contracts(t)
	for takes, want := range map[time.Duration]error{30 * time.Second: nil, 5 * time.Minute: errAbandoned} {
		onNode(t, a, func(n *node) {
			n.takes = takes
			n.start()
			n.deliver(b)
			asked := time.Now()
			n.stop()
			if err := <-n.done; !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s: %v", takes, err)
			}
			if ended := time.Since(asked); ended > n.watcher.Grace {
				t.Errorf("ended after %s", ended)
			}
			if want == nil && len(n.memory()) == 0 {
				t.Error("the finished change is not remembered")
			}
			if want != nil && len(n.memory()) > 0 && strings.Contains(n.memory(), source.Contract{Data: []byte(b)}.Sum()) {
				t.Error("an abandoned change is remembered")
			}
			n.stop = nil
			time.Sleep(takes)
		})
	}
}

func (n *node) memory() string { return n.files[MemoryPath] }

// The supervisor hears that the watcher is alive during every operation.
func TestWatchdog(t *testing.T) {
	a, b, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.takes = 10 * time.Minute
		n.start()
		n.wait(5 * time.Minute)
		n.deliver(b)
		n.wait(10 * time.Minute)
		if n.beats[0] != "ready@0" {
			t.Errorf("the supervisor gets %q", n.beats)
		}
		last := 0
		for _, beat := range n.beats {
			if what, at, _ := strings.Cut(beat, "@"); what == "alive" {
				second := 0
				for _, digit := range at {
					second = second*10 + int(digit-'0')
				}
				if second-last > 31 {
					t.Errorf("no sign of life between %d and %d s", last, second)
				}
				last = second
			}
		}
		if last < 870 {
			t.Errorf("the last sign of life was at %d s", last)
		}
	})
}

func TestOnce(t *testing.T) {
	a, b, _ := contracts(t)
	for result, fine := range map[outcome]bool{well: true, breaks: false, unreachable: false, tooMuch: false} {
		onNode(t, a, func(n *node) {
			n.content, n.outcomes, n.provisioning = b, []outcome{result}, time.Minute
			n.watcher.Textfile = "/var/lib/x.prom"
			if err := n.watcher.Once(n.Context()); (err == nil) != fine {
				t.Errorf("%s: %v", result, err)
			}
			if took := time.Since(n.begin); took < time.Minute {
				t.Errorf("%s: the boot's provisioning was not awaited: %s", result, took)
			}
			n.want("change " + string(result))
			if !strings.HasPrefix(n.files["/var/lib/x.prom"], "# HELP slipway_generation ") {
				t.Errorf("the textfile is %q", n.files["/var/lib/x.prom"])
			}
		})
	}
}

func TestMemoryThatCannotBeRead(t *testing.T) {
	a, b, _ := contracts(t)
	for _, content := range []string{"{", "{}", `{"apiVersion":"slipway.dev/v9","kind":"WatchMemory"}`} {
		onNode(t, a, func(n *node) {
			n.files[MemoryPath] = content
			n.start()
			n.deliver(b)
			n.want("change well")
		})
	}
}

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{1: 10 * time.Second, 2: 20 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute, 1000: 10 * time.Minute} {
		if got := backoff(failures); got != want {
			t.Errorf("%d: %s, want %s", failures, got, want)
		}
	}
	seen := map[time.Duration]bool{}
	for _, seed := range strings.Split("abcdefghij", "") {
		at := spread(time.Minute, seed, "azure", time.Unix(0, 0))
		if at < 54*time.Second || at > 66*time.Second {
			t.Errorf("spread to %s", at)
		}
		seen[at] = true
	}
	if len(seen) < 8 {
		t.Errorf("ten machines ask at %d times", len(seen))
	}
}
