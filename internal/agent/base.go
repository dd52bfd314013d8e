package agent

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// prepared is what was done before the contract was there.
type prepared struct {
	begin, end time.Time
	made       transition.Made
	// problems are the warnings about the image's contract.
	problems []nodeconfig.Problem
	err      error
}

// prepare does the work that needs no contract while the agent waits for one: it applies the image's contract. An error
// is only reported: the machine's contract repeats the whole work.
func prepare(ctx context.Context, r *run, known facts.Facts) <-chan prepared {
	done := make(chan prepared, 1)
	work := func() {
		var p prepared
		p.begin = r.now()
		p.err = r.guarded(func() error {
			if isPrepared(r) {
				return nil
			}
			desired, problems, ok, err := planBase(r, known)
			if p.problems = problems; !ok || err != nil {
				return err
			}
			p.made, err = applyBase(ctx, r, desired)
			return err
		})
		p.end = r.now()
		done <- p
	}
	if r.agent.Sequential {
		work()
	} else {
		go work()
	}
	return done
}

// isPrepared reports whether the machine has applied something successfully: the image's contract, or a node. Then
// prepare would gain nothing: the machine's contract repairs all differences.
func isPrepared(r *run) bool {
	store, err := generation.Open(r.host, r.log)
	if err != nil {
		return false
	}
	current, found := store.Current()
	return found && current.Stands()
}

// collect waits for prepare and returns the warnings about the image's contract.
func collect(r *run, done <-chan prepared) []nodeconfig.Problem {
	p := <-done
	switch {
	case errors.Is(p.err, context.Canceled):
		r.log.Info("the image's base contract is not applied to its end, because the search for the machine's own contract has ended")
	case p.err != nil:
		r.log.Warn("cannot apply the image's base contract; the machine's own contract does its work", "error", p.err)
	}
	for _, report := range p.made.Reports {
		r.account.Step("base", p.begin, p.end)
		for _, change := range report.Changes {
			r.log.Debug("base", "resource", change.ID, "action", change.Action)
		}
	}
	return p.problems
}

// applyBase applies the plan of the image's contract, unless the machine is a node already. Other stages run at the
// same time, so it takes the lock.
func applyBase(ctx context.Context, r *run, desired resource.Plan) (made transition.Made, err error) {
	err = newLock(r).during(ctx, func() error {
		store, err := generation.Open(r.host, r.log)
		if err != nil {
			return err
		}
		if current, found := store.Current(); found && current.Config != desired.Config {
			return nil
		}
		made, err = r.node().Boot(ctx, store, transition.Step{Plan: desired, Entry: generation.Entry{Origin: generation.Provision}})
		return err
	})
	return made, err
}

// ownContract reads the image's contract. Its path is empty if the image has no contract.
func ownContract(r *run) (source.Contract, error) {
	for _, path := range place.BaseContracts {
		if there, err := r.host.Stat(path); err == nil && there.Kind != apply.Absent {
			return source.File(r.host, path)
		}
	}
	return source.Contract{}, nil
}

// allowedByImage are the settings that the image's contract allows to be left out. Errors in that contract are reported
// when prepare applies it.
func allowedByImage(r *run) []string {
	contract, err := ownContract(r)
	if err != nil || contract.Path == "" {
		return nil
	}
	return compile.ReadOne(contract.Path, contract.Data).Config.Checks.AllowUnapplied
}

// planBase plans the image's contract and returns the warnings about it. ok reports whether the image has a contract.
func planBase(r *run, known facts.Facts) (desired resource.Plan, warnings []nodeconfig.Problem, ok bool, err error) {
	contract, err := ownContract(r)
	if err != nil || contract.Path == "" {
		return resource.Plan{}, nil, false, err
	}
	read := compile.ReadOne(contract.Path, contract.Data)
	planned, problems := read.Plan(known)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		return resource.Plan{}, nil, false, &outcome.UnusableError{Path: contract.Path, Fatal: fatal, ExitCode: read.ExitCode(problems)}
	}
	if read.Config.Join.Method != nodeconfig.JoinNone {
		return resource.Plan{}, nil, false, &outcome.UnusableError{Path: contract.Path, Fatal: []nodeconfig.Problem{read.Place(nodeconfig.Problem{
			Kind: nodeconfig.Invalid, Path: "$.join.method", Reason: "names a cluster; an image's own contract joins none", Fatal: true,
		})}, ExitCode: exitcode.ContractInvalid}
	}
	for i := range problems {
		problems[i].Document = contract.Path
	}
	return planned, problems, true, nil
}
