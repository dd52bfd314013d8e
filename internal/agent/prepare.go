package agent

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// BasePaths are where an image can have a contract that names no cluster. What such a contract brings is
// applied at boot while the machine's own contract is still looked for.
var BasePaths = []string{"/etc/slipway/base.yaml", "/etc/slipway/base.json"}

// prepared is what was done before the contract was there.
type prepared struct {
	begin, end time.Time
	report     *apply.Report
	// problems are the warnings of the image's own contract.
	problems []nodeconfig.Problem
	err      error
}

// prepare does what needs no contract, while one is waited for: the image's own is applied. What goes wrong is
// told, and is not the end: the machine's own contract has it all too.
func (p *provision) prepare(ctx context.Context, known facts.Facts) <-chan prepared {
	done := make(chan prepared, 1)
	run := func() {
		var r prepared
		r.begin = p.Now()
		r.err = p.guarded(func() error {
			desired, problems, ok, err := p.basePlan(known)
			if r.problems = problems; !ok || err != nil {
				return err
			}
			r.report, err = p.applyBase(ctx, desired)
			return err
		})
		r.end = p.Now()
		done <- r
	}
	if p.Sequential {
		run()
	} else {
		go run()
	}
	return done
}

// collect waits for what was begun, and takes it over.
func (p *provision) collect(done <-chan prepared) {
	r := <-done
	if r.err != nil {
		p.Log.Warn("cannot apply the image's base contract; the machine's own contract does its work", "error", r.err)
	}
	p.baseProblems = r.problems
	if r.report == nil {
		return
	}
	p.account.Step("base", r.begin, r.end)
	for _, change := range r.report.Changes {
		p.Log.Debug("base", "resource", change.ID, "action", change.Action)
	}
}

// prefetch has read and connected what is needed in any case: the kubelet into memory, where there is only one
// that it can be, and the agent to systemd.
func (p *provision) prefetch(ctx context.Context, known facts.Facts) {
	if p.opts.Facts != nil {
		return // they may be another machine's
	}
	if !p.Sequential {
		go func() {
			_ = p.guarded(func() error { _, err := p.Host.UnitState(ctx, plan.KubeletUnit); return err })
		}()
	}
	var paths []string
	for _, c := range known.Components {
		entry, err := p.Host.Stat(c.Path)
		if err != nil || entry.Kind != apply.RegularFile && entry.Kind != apply.Symlink {
			p.Log.Warn("a component of the image's manifest is missing", "component", c.Name, "version", c.Version, "path", c.Path)
			continue
		}
		if c.Name == "kubelet" {
			paths = append(paths, c.Path)
		}
	}
	if len(paths) != 1 {
		return
	}
	if err := p.Host.Prefetch(paths[0]); err != nil {
		p.Log.Debug("the kubelet cannot be read ahead", "path", paths[0], "error", err)
	}
}

// applyBase applies the plan of the image's own contract, unless the machine has been made a node already. Its
// report is nil where there is nothing to apply.
func (p *provision) applyBase(ctx context.Context, desired resource.Plan) (*apply.Report, error) {
	release, err := apply.Lock(ctx, p.Host)
	if err != nil {
		return nil, err
	}
	defer release()
	store, err := generation.Open(p.Host, p.Log)
	if err != nil {
		return nil, err
	}
	if current, found := store.Current(); found && current.Config != desired.Config {
		return nil, nil
	}
	return p.advance(ctx, store, advance{plan: desired, entry: generation.Entry{Origin: generation.Provision}})
}

// basePlan is the plan of the image's own contract, and what that contract is warned of; ok says that there is one.
func (p *provision) basePlan(known facts.Facts) (desired resource.Plan, warnings []nodeconfig.Problem, ok bool, err error) {
	for _, path := range BasePaths {
		if kind, err := p.Host.Stat(path); err != nil || kind.Kind == apply.Absent {
			continue
		}
		contract, err := source.File(p.Host, path)
		if err != nil {
			return resource.Plan{}, nil, false, err
		}
		read := compile.ReadOne(path, contract.Data)
		planned, problems := read.Plan(known)
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			return resource.Plan{}, nil, false, &outcome.UnusableError{Path: path, Fatal: fatal, ExitCode: read.ExitCode(problems)}
		}
		if read.Config.Join.Method != nodeconfig.JoinNone {
			return resource.Plan{}, nil, false, &outcome.UnusableError{Path: path, Fatal: []nodeconfig.Problem{read.Place(nodeconfig.Problem{
				Kind: nodeconfig.Invalid, Path: "$.join.method", Reason: "names a cluster; an image's own contract joins none", Fatal: true,
			})}, ExitCode: exitcode.ContractInvalid}
		}
		for i := range problems {
			problems[i].Document = path
		}
		return planned, problems, true, nil
	}
	return resource.Plan{}, nil, false, nil
}
