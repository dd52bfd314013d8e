package scenario

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// Runner runs cases in a lab.
type Runner struct {
	Lab *lab.Lab
	// Images are the directories of the nodes' images, by the kind of containerd.
	Images map[string]string
	// Slipway is the command line's path.
	Slipway string
	// Out is where each case has a directory for what it keeps.
	Out string
	Log *slog.Logger
	// Keep leaves the machine running after the case.
	Keep bool
}

// Outcome is what a case came to.
type Outcome struct {
	Case     string
	Err      error
	Duration time.Duration
	Timeline []Event
	// Out is where the logs are.
	Out string
}

// caseRun is one run of a case.
type caseRun struct {
	*Runner
	Case
	out      string
	vm       *lab.VM
	contract string // path of the contract that the machine was given, filled in
	node     *nodeWatch
	began    time.Time
	// waited is when provision-wait returned.
	waited time.Time
}

// caseTimeout bounds a case; TCG on a busy machine is slow, but not that slow.
const caseTimeout = 10 * time.Minute

// Run runs a case, and keeps what it saw.
func (r *Runner) Run(ctx context.Context, c Case) Outcome {
	ctx, cancel := context.WithTimeout(ctx, caseTimeout)
	defer cancel()
	run := &caseRun{Runner: r, Case: c, out: filepath.Join(r.Out, c.Name), began: time.Now()}
	outcome := Outcome{Case: c.Name, Out: run.out}
	outcome.Err = run.steps(ctx)
	if run.vm != nil {
		collecting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 60*time.Second)
		outcome.Timeline = run.collect(collecting)
		cancel()
	}
	if run.node != nil {
		run.node.stop()
	}
	if run.vm != nil && !r.Keep {
		run.vm.Stop()
	}
	outcome.Duration = time.Since(run.began)
	return outcome
}

func (r *caseRun) steps(ctx context.Context) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for i, step := range r.Steps {
		for name, args := range step {
			begin := time.Now()
			if err := steps[name](ctx, r, &args); err != nil {
				return fmt.Errorf("step %d, %s: %w", i+1, name, err)
			}
			r.Log.Info("step done", "case", r.Name, "step", name, "seconds", fmt.Sprintf("%.1f", time.Since(begin).Seconds()))
		}
	}
	return nil
}

// steps are all kinds of steps, by name.
var steps map[string]func(ctx context.Context, r *caseRun, args *yaml.Node) error

func init() {
	steps = map[string]func(context.Context, *caseRun, *yaml.Node) error{
		"boot":  step((*caseRun).boot),
		"wait":  step((*caseRun).provisionWait),
		"ready": step((*caseRun).ready),
		"node":  step((*caseRun).checkNode),
		"pod":   step((*caseRun).pod),
		"guest": step((*caseRun).guest),
	}
}

// step decodes a step's arguments, strictly.
func step[Args any](do func(*caseRun, context.Context, Args) error) func(context.Context, *caseRun, *yaml.Node) error {
	return func(ctx context.Context, r *caseRun, node *yaml.Node) error {
		var args Args
		if err := node.Decode(&args); err != nil {
			return err
		}
		return do(r, ctx, args)
	}
}
