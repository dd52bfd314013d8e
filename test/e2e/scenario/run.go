package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/machineboot"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// Runner runs cases in a lab.
type Runner struct {
	Lab *lab.Lab
	// Pace is the machines' speed.
	Pace *Pace
	// Images are the nodes' images, by their names.
	Images map[string]Image
	// Slipway is the path of the command line program.
	Slipway string
	// Store keeps machines that cases start from.
	Store *parts.Store
	// Out has a directory for each case's files.
	Out string
	Log *slog.Logger
	// Keep leaves the machine running after the case, with its shell free.
	Keep bool

	// left is the run whose machine the next case continues with.
	left *caseRun
}

// Image is a node image.
type Image struct {
	// Dir is its directory.
	Dir string
	// Kernel is its kernel, for a machine without firmware.
	Kernel lab.Kernel
}

// Machine is a machine of the image without firmware, with the directory of its files.
func (i Image) Machine(dir string) lab.Machine {
	return lab.Machine{Dir: dir, Disk: parts.Disk(i.Dir, "raw"), Kernel: i.Kernel}
}

// Outcome is a case's result.
type Outcome struct {
	Case     string
	Err      error
	Duration time.Duration
	Timeline []Event
	// Anatomy is the timeline from the machine's own records, or nil, and Differences are how it differs from what the test saw.
	Anatomy     *anatomy.Timeline
	Differences []machineboot.Difference
	// Out is the directory of the logs.
	Out string
	// Console is the machine's console log, while it runs.
	Console string
	// Hung reports that the case failed, and that its machine ran and answered nothing afterwards, or that QEMU aborted.
	Hung bool
}

// caseRun is one run of a case.
type caseRun struct {
	*Runner
	Case
	out string
	// dir has the disks and the sockets of the case's machines, and what the case makes for them. A case that goes on with another
	// one's machine also has that one's directory. A case that passes removes it: a machine's disk can be larger than 1 GB.
	dir   string
	vm    *lab.VM
	node  *nodeWatch
	began time.Time
	// kept is the disk that the case has kept as an image, and clones is the number of machines that it has made from another's
	// disk.
	kept   string
	clones int
	// names are those of the Nodes of the case's earlier machines.
	names []string
	// contracts is the number of contracts that the machine got, and contract is the path of the last one.
	contracts int
	contract  string
	// growth is the growth of the machine's block log, if there is one.
	growthMu sync.Mutex
	growth   []size
	// pods are the IDs of the pods' containers when the pods first ran.
	pods map[string]string
	// created are the API paths of the objects that the case has created in a namespace.
	created []string
	// units are the units' invocations at the note step.
	units map[string]unit
	// provisioner starts the case's machines, if the case itself does not.
	provisioner *provisioner
	// lastBoot is the machine's boot until its Node was Ready, or nil.
	lastBoot *bootTimeline
}

// Run runs a case, and keeps its data. A case that continues another one's machine runs directly after it.
func (r *Runner) Run(all context.Context, c Case) Outcome {
	ctx, cancel := r.Pace.Within(all, c.Timeout)
	defer cancel()
	run := &caseRun{Runner: r, Case: c, out: filepath.Join(r.Out, c.Name), dir: filepath.Join(r.Lab.Dir(), "case-"+c.Name), began: time.Now(), pods: make(map[string]string)}
	outcome := Outcome{Case: c.Name, Out: run.out}
	outcome.Err = run.goOn(ctx)
	if outcome.Err == nil {
		outcome.Err = run.steps(ctx)
	}
	if run.vm != nil && all.Err() == nil {
		collecting, cancel := r.Pace.Within(all, patience)
		outcome.Console = run.vm.ConsolePath()
		outcome.Hung = outcome.Err != nil && run.hangs(collecting)
		b := run.collect(collecting, outcome.Err != nil, outcome.Hung)
		outcome.Timeline, outcome.Anatomy, outcome.Differences = b.Events, b.Anatomy, b.Differences
		cancel()
	}
	if run.node != nil {
		run.node.stop()
	}
	if c.Continued && outcome.Err == nil {
		r.left = run
	} else {
		outcome.Err = errors.Join(outcome.Err, run.end(all))
		if outcome.Err == nil && !r.Keep {
			outcome.Err = os.RemoveAll(run.dir)
		}
	}
	outcome.Duration = time.Since(run.began)
	return outcome
}

// goOn takes over the machine of the case before, if this case continues with it.
func (r *caseRun) goOn(ctx context.Context) error {
	if r.After == "" {
		return os.MkdirAll(r.dir, 0o755)
	}
	left := r.left
	if r.Runner.left = nil; left == nil || left.Name != r.After {
		return fmt.Errorf("it goes on where %s ends, which did not end well", r.After)
	}
	r.dir, r.vm, r.names, r.contract, r.pods, r.units, r.created = left.dir, left.vm, left.names, left.contract, left.pods, left.units, left.created
	r.node = watchNode(ctx, r.Lab.API, newNode(r.names))
	return nil
}

// end ends the case's machine, and clears the cluster for the next case.
func (r *caseRun) end(ctx context.Context) error {
	if r.Keep {
		if r.vm != nil {
			r.vm.Shell.Release()
		}
		return nil
	}
	if r.vm != nil {
		r.vm.Stop()
	}
	if r.provisioner != nil {
		for _, other := range r.provisioner.others {
			other.vm.Stop()
			other.node.stop()
		}
	}
	if ctx.Err() != nil {
		return nil // the rest ends with the sandbox
	}
	if err := errors.Join(r.endKarpenter(ctx), r.removeCreated(ctx), r.forgetNode(ctx)); err != nil {
		return fmt.Errorf("clear the cluster for the next case: %w", err)
	}
	return nil
}

// forgetNode removes a case's objects from the cluster.
func (r *Runner) forgetNode(ctx context.Context) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	if err := errors.Join(r.Lab.StartAPIServer(ctx), r.Lab.CloudUp(), r.Lab.SetAddress(ctx, lab.NodeAddress)); err != nil {
		return err
	}
	r.Lab.Registries.Requests.Clear()
	r.Lab.Isolated.Clear()
	r.Lab.Alone()
	errs := []error{r.Lab.API.SetApprover(ctx, true)}
	for _, path := range []string{
		"/api/v1/namespaces/default/pods?gracePeriodSeconds=0",
		collectionOfNodes,
		"/apis/certificates.k8s.io/v1/certificatesigningrequests",
	} {
		errs = append(errs, r.Lab.API.Delete(ctx, path))
	}
	return errors.Join(errs...)
}

func (r *caseRun) steps(ctx context.Context) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	return r.Steps.run(ctx, r)
}

// stepList is a list of steps; each is one name in the table of steps, with its arguments. A text in place of a step is a command line
// for the machine, and a text in place of the list is its only step.
type stepList []map[string]yaml.Node

// UnmarshalYAML implements yaml.Unmarshaler.
func (l *stepList) UnmarshalYAML(node *yaml.Node) error {
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	for _, n := range list {
		step := make(map[string]yaml.Node)
		if n.Kind == yaml.ScalarNode {
			var args yaml.Node
			if err := args.Encode(map[string]string{"run": n.Value}); err != nil {
				return err
			}
			step["guest"] = args
		} else if err := n.Decode(&step); err != nil {
			return err
		}
		*l = append(*l, step)
	}
	return nil
}

// check reports the first invalid step.
func (l stepList) check() error {
	for i, step := range l {
		if len(step) != 1 {
			return fmt.Errorf("step %d has %d names, want one", i+1, len(step))
		}
		for name, args := range step {
			kind, known := steps[name]
			if !known {
				return fmt.Errorf("step %d: there is no step %q", i+1, name)
			}
			if err := kind.check(&args); err != nil {
				return fmt.Errorf("step %d, %s: %w", i+1, name, err)
			}
		}
	}
	return nil
}

// run runs the steps until one fails.
func (l stepList) run(ctx context.Context, r *caseRun) error {
	for i, step := range l {
		for name, args := range step {
			begin := time.Now()
			if err := steps[name].do(ctx, r, &args); err != nil {
				// If a step runs out of time, the error includes how much it had.
				return fmt.Errorf("step %d, %s: %w", i+1, name, errors.Join(err, context.Cause(ctx)))
			}
			r.Log.Info("step done", "case", r.Name, "step", name, "seconds", fmt.Sprintf("%.1f", time.Since(begin).Seconds()))
		}
	}
	return nil
}

// stepKind is the function of a kind of step.
type stepKind struct {
	// check reports whether arguments are valid.
	check func(args *yaml.Node) error
	do    func(ctx context.Context, r *caseRun, args *yaml.Node) error
}

// steps are all kinds of steps, by name. test/e2e/cases/README.md describes them.
var steps map[string]stepKind

func init() {
	steps = map[string]stepKind{
		"boot":         step((*caseRun).boot),
		"asked":        step((*caseRun).asked),
		"reports":      step((*caseRun).reports),
		"resume":       step((*caseRun).resume),
		"apply":        step((*caseRun).apply),
		"change":       step((*caseRun).changeNode),
		"clone":        step((*caseRun).clone),
		"image":        step((*caseRun).keepImage),
		"deliver":      step((*caseRun).deliverContract),
		"userData":     step((*caseRun).changeUserData),
		"tags":         step((*caseRun).changeTags),
		"nameserver":   step((*caseRun).nameserver),
		"console":      step((*caseRun).console),
		"reboot":       step((*caseRun).reboot),
		"apiServer":    step((*caseRun).apiServer),
		"approver":     step((*caseRun).approver),
		"decide":       step((*caseRun).decide),
		"deleteNode":   step((*caseRun).deleteNode),
		"doctor":       step((*caseRun).doctor),
		"bundle":       step((*caseRun).supportBundle),
		"wait":         step((*caseRun).provisionWait),
		"powerCuts":    step((*caseRun).powerCuts),
		"status":       step((*caseRun).checkStatus),
		"ready":        step((*caseRun).ready),
		"node":         step((*caseRun).checkNode),
		"certificates": step((*caseRun).certificates),
		"pod":          step((*caseRun).pod),
		"podKept":      step((*caseRun).podKept),
		"note":         step((*caseRun).note),
		"units":        step((*caseRun).checkUnits),
		"guest":        step((*caseRun).guest),
		"verify":       step((*caseRun).verify),
		"launched":     step((*caseRun).checkLaunched),
		"karpenter":    step((*caseRun).startKarpenter),
		"publish":      step((*caseRun).publish),
		"create":       step((*caseRun).create),
		"classes":      step((*caseRun).classes),
		"patch":        step((*caseRun).patch),
		"pending":      step((*caseRun).pending),
		"runs":         step((*caseRun).runs),
		"deletePod":    step((*caseRun).deletePod),
		"machine":      step((*caseRun).bootMachine),
		"claim":        step((*caseRun).claim),
		"stopped":      step((*caseRun).stopped),
		"report":       step((*caseRun).report),
		"update":       step((*caseRun).update),
		"oneAtATime":   step((*caseRun).oneAtATime),
		"event":        step((*caseRun).event),
		"shown":        step((*caseRun).shown),
		"tokens":       step((*caseRun).checkTokens),
		"expire":       step((*caseRun).expire),
		"minting":      step((*caseRun).minting),
	}
}

// step makes a kind of step from a function.
func step[Args any](do func(*caseRun, context.Context, Args) error) stepKind {
	return stepKind{
		check: func(node *yaml.Node) error {
			var args Args
			return decodeArgs(node, &args)
		},
		do: func(ctx context.Context, r *caseRun, node *yaml.Node) error {
			var args Args
			if err := decodeArgs(node, &args); err != nil {
				return err
			}
			return do(r, ctx, args)
		},
	}
}

// decodeArgs decodes a step's arguments, strictly.
func decodeArgs(node *yaml.Node, args any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	return decoder.Decode(args)
}
