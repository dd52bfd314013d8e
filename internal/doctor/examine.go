package doctor

import (
	"context"
	"slices"
	"time"
)

const (
	// defaultDeadline is the deadline of a check that has none.
	defaultDeadline = time.Second
	// wholeDeadline limits all checks together, on a machine of ordinary speed.
	wholeDeadline = 15 * time.Second
)

// Examine looks at a machine by all checks of a table, beside each other along their needs. It ends no later than the
// checks' deadlines allow, also if a check hangs in the kernel, as on a file system whose server is gone.
func Examine(ctx context.Context, checks []Check, p *Patient) *Report {
	ctx, cancel := context.WithTimeout(ctx, p.Patience(wholeDeadline))
	defer cancel()
	running := make(map[string]*running, len(checks))
	results := make([]Result, len(checks))
	for i := range checks {
		r := start(ctx, &checks[i], p, running)
		running[checks[i].Name] = r
	}
	for i := range checks {
		r := running[checks[i].Name]
		<-r.done
		results[i] = r.result
	}
	return report(results, p)
}

// running is a check, from its start to its result.
type running struct {
	result Result
	done   chan struct{}
}

// start begins a check. It needs only checks that were started before.
func start(ctx context.Context, check *Check, p *Patient, before map[string]*running) *running {
	r := &running{done: make(chan struct{})}
	needs := make([]*running, len(check.Needs))
	for i, name := range check.Needs {
		needs[i] = before[name]
	}
	go func() {
		defer close(r.done)
		var finding Finding
		if p.Directory && check.Live {
			finding = skipped("a directory shows only files")
		} else if because := blocked(needs); because != "" {
			finding = skipped("%s is wrong", because)
			r.result.Because = because
		} else {
			finding = look(ctx, check, p)
		}
		r.result.fill(check, finding)
	}()
	return r
}

// blocked waits for checks, and returns the name of the first one that is wrong, or that the first of them waits for.
func blocked(needs []*running) string {
	for _, need := range needs {
		<-need.done
	}
	for _, need := range needs {
		switch {
		case need.result.State == Wrong:
			return need.result.Check
		case need.result.Because != "":
			return need.result.Because
		}
	}
	return ""
}

// look runs a check, and leaves it behind when its time is over.
func look(ctx context.Context, check *Check, p *Patient) Finding {
	deadline := p.Patience(check.Deadline)
	if check.Deadline == 0 {
		deadline = p.Patience(defaultDeadline)
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	found := make(chan Finding, 1)
	go func() { found <- check.Look(ctx, p) }()
	select {
	case finding := <-found:
		return finding
	case <-ctx.Done():
	}
	// A check that notices its deadline has more to tell than that it ended.
	select {
	case finding := <-found:
		return finding
	case <-time.After(p.Patience(defaultDeadline / 4)):
		return unknown("the check did not end within %s", deadline.Round(time.Millisecond))
	}
}

// Named returns the checks with these names and all that they need, in the order of the table.
func Named(checks []Check, names ...string) []Check {
	wanted := make(map[string]bool)
	for _, name := range names {
		wanted[name] = true
	}
	var chosen []Check
	for _, check := range slices.Backward(checks) {
		if !wanted[check.Name] {
			continue
		}
		for _, need := range check.Needs {
			wanted[need] = true
		}
		chosen = append(chosen, check)
	}
	slices.Reverse(chosen)
	return chosen
}
