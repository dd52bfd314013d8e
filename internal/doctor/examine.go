package doctor

import (
	"context"
	"slices"
	"time"
)

const (
	// defaultDeadline is the deadline of a check that has none.
	defaultDeadline = time.Second
	// wholeDeadline limits all checks together, on a machine of ordinary speed. With wordsAfter it is 15 seconds.
	wholeDeadline = 15*time.Second - wordsAfter
	// wordsAfter is how long a check has after its deadline to report what it has found.
	wordsAfter = 250 * time.Millisecond
	// waitingEvery is how often the checks that have not ended are reported.
	waitingEvery = 2 * time.Second
)

// Examine looks at a machine by all checks of a table, beside each other along their needs. It ends no later than the
// checks' deadlines allow, also if a check hangs in the kernel, as on a file system whose server is gone.
func Examine(ctx context.Context, checks []Check, p *Patient) *Report {
	ctx, cancel := context.WithTimeout(ctx, p.Patience(wholeDeadline))
	defer cancel()
	all := make([]*running, len(checks))
	byName := make(map[string]*running, len(checks))
	for i := range checks {
		all[i] = start(ctx, &checks[i], p, byName)
		byName[checks[i].Name] = all[i]
	}
	await(all, p)
	results := make([]Result, len(checks))
	for i, r := range all {
		results[i] = r.result
	}
	return report(results, p)
}

// await waits until all checks have ended.
func await(all []*running, p *Patient) {
	ticker := time.NewTicker(waitingEvery)
	defer ticker.Stop()
	for _, r := range all {
		for ended := false; !ended; {
			select {
			case <-r.done:
				ended = true
			case <-ticker.C:
				if p.Waiting != nil {
					p.Waiting(unended(all))
				}
			}
		}
	}
}

// unended are the names of the checks that look at the moment.
func unended(all []*running) []string {
	var names []string
	for _, r := range all {
		select {
		case <-r.begun:
			select {
			case <-r.done:
			default:
				names = append(names, r.name)
			}
		default:
		}
	}
	return names
}

// running is a check, from its start to its result.
type running struct {
	name   string
	result Result
	// blocks reports that what needs it is not looked at, although it is not wrong.
	blocks bool
	// begun is closed when the check's needs have ended, and done when its result is known.
	begun, done chan struct{}
}

// start begins a check. It waits only for needs that were started before: the caller may have left out some.
func start(ctx context.Context, check *Check, p *Patient, before map[string]*running) *running {
	r := &running{name: check.Name, begun: make(chan struct{}), done: make(chan struct{})}
	var needs []*running
	for _, name := range check.Needs {
		if need := before[name]; need != nil {
			needs = append(needs, need)
		}
	}
	go func() {
		defer close(r.done)
		because := blocked(needs, check.last)
		close(r.begun)
		var finding *Finding
		switch {
		case p.Directory && check.Live:
			finding = skipped("a directory shows only files")
		case because != "":
			finding = skipped("it rests on %s", because)
			r.result.Because = because
		default:
			finding = look(ctx, check, p)
		}
		r.blocks = finding.blocks
		r.result.fill(check, finding)
	}()
	return r
}

// blocked waits for checks, and returns the name of the first one that is wrong or blocks others, or of that for which the
// first of them was not looked at.
func blocked(needs []*running, last bool) string {
	for _, need := range needs {
		<-need.done
	}
	for _, need := range needs {
		switch {
		case need.result.State == Wrong:
			return need.result.Check
		case last:
		case need.blocks:
			return need.result.Check
		case need.result.Because != "":
			return need.result.Because
		}
	}
	return ""
}

// look runs a check, and leaves it behind when its time is over.
func look(ctx context.Context, check *Check, p *Patient) *Finding {
	if ctx.Err() != nil {
		return unknown("the examination's time was over before")
	}
	deadline := p.Patience(check.Deadline)
	if check.Deadline == 0 {
		deadline = p.Patience(defaultDeadline)
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	found := make(chan *Finding, 1)
	go func() { found <- guarded(ctx, check, p) }()
	select {
	case finding := <-found:
		return finding
	case <-ctx.Done():
	}
	// A check that notices its deadline has more to tell than that it ended.
	select {
	case finding := <-found:
		return finding
	case <-time.After(p.Patience(wordsAfter)):
		return unknown("the check did not end within %s", deadline.Round(time.Millisecond))
	}
}

// guarded runs a check, and turns a panic into a finding: a provisioning that fails must publish its result.
func guarded(ctx context.Context, check *Check, p *Patient) (finding *Finding) {
	defer func() {
		if reason := recover(); reason != nil {
			finding = unknown("the check has failed: %v", reason)
		}
	}()
	return check.Look(ctx, p)
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
