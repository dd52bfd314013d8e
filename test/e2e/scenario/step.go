package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"
)

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
		"reboot":       step((*caseRun).reboot),
		"apiServer":    step((*caseRun).apiServer),
		"approver":     step((*caseRun).approver),
		"decide":       step((*caseRun).decide),
		"deleteNode":   step((*caseRun).deleteNode),
		"doctor":       step((*caseRun).doctor),
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
