package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The events of a machine.
const (
	// machineStarted is its request, and machineGone the end of its power.
	machineStarted  = "started"
	machineStopping = "to be stopped"
	machineGone     = "gone"
	// machineChanging is the request to change it, and machineReported its report of the result.
	machineChanging = "told to change"
	machineReported = "reported"
)

// moment is an event of a machine.
type moment struct {
	at         time.Time
	what, name string
}

// timeline is the events of machines, in order.
type timeline []moment

func (t *timeline) add(what, name string) { *t = append(*t, moment{time.Now(), what, name}) }

func (t timeline) String() string {
	var b strings.Builder
	for _, m := range t {
		fmt.Fprintf(&b, "%8.1f  %-14s  %s\n", m.at.Sub(t[0].at).Seconds(), m.what, m.name)
	}
	return b.String()
}

// oneAtATime reports whether each of the machines was changed once while it ran, and then replaced by another one, and never two at
// the same time. A replacement lasts from the request for the other machine until the request to stop the old one: by then the old
// one's pods and its Node are gone, and Karpenter no longer counts it. A change lasts from the update request until the machine's
// report.
func (t timeline) oneAtATime(nodes int) error {
	alive, changed := make(map[string]bool), make(map[string]bool)
	started, changes, changing := 0, 0, ""
	for _, m := range t {
		switch m.what {
		case machineStarted:
			started++
			if alive[m.name] = true; len(alive) > nodes+1 {
				return fmt.Errorf("with %s, %d machines run for %d nodes: two are replaced at the same time", m.name, len(alive), nodes)
			}
		case machineStopping, machineGone:
			if delete(alive, m.name); len(alive) < nodes && started >= nodes {
				return fmt.Errorf("without %s, %d machines run for %d nodes: another one was not there before", m.name, len(alive), nodes)
			}
		case machineChanging:
			if changing != "" && changing != m.name {
				return fmt.Errorf("%s is told to change before %s has reported", m.name, changing)
			}
			changing, changed[m.name] = m.name, true
			changes++
		case machineReported:
			if changing == m.name {
				changing = ""
			}
		}
	}
	if started != 2*nodes || len(changed) != nodes || changes != nodes || len(alive) != nodes {
		return fmt.Errorf("%d machines were started, %d changed, with %d changes, and %d run: want %d, %d, %d and %d",
			started, len(changed), changes, len(alive), 2*nodes, nodes, nodes, nodes)
	}
	return nil
}

// oneAtATimeArgs are the number of nodes.
type oneAtATimeArgs struct {
	Nodes int `yaml:"nodes"`
}

// oneAtATime checks that the machines were changed and replaced one at a time, and keeps their timeline.
func (r *caseRun) oneAtATime(_ context.Context, args oneAtATimeArgs) error {
	happened := r.provisioner.machines.timeline()
	if err := os.WriteFile(filepath.Join(r.out, "machines.txt"), []byte(happened.String()), 0o644); err != nil {
		return err
	}
	if err := happened.oneAtATime(args.Nodes); err != nil {
		return fmt.Errorf("%w:\n%s", err, happened)
	}
	return nil
}

// timeline returns the machines' events until now.
func (m *machines) timeline() timeline {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(timeline(nil), m.happened...)
}
