package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// condition is one of an object's.
type condition struct{ Type, Status, Reason, Message string }

// claimArgs are what a NodeClaim must be like.
type claimArgs struct {
	// Conditions are those that must be true.
	Conditions []string `yaml:"conditions"`
	// False are conditions that must not be true, each with a text that its reason or message has.
	False map[string]string `yaml:"false"`
	// Machines is how many machines there are, where it is given.
	Machines *int `yaml:"machines"`
}

// claim waits until a NodeClaim is so.
func (r *caseRun) claim(ctx context.Context, want claimArgs) error {
	return r.eventually(ctx, func() error {
		var list struct {
			Items []struct {
				Status struct{ Conditions []condition }
			}
		}
		if err := r.Lab.API.Get(ctx, collectionOfClaims, &list); err != nil {
			return err
		}
		if n := r.provisioner.machines.count(); want.Machines != nil && n != *want.Machines {
			return fmt.Errorf("there are %d machines, want %d", n, *want.Machines)
		}
		wrong := errors.New("there is no claim")
		for _, item := range list.Items {
			missing := want.missing(item.Status.Conditions)
			if missing == "" {
				return nil
			}
			wrong = fmt.Errorf("a claim's conditions are %v, and do not show %s", item.Status.Conditions, missing)
		}
		return wrong
	})
}

// missing is what conditions do not show; empty where they show all.
func (want *claimArgs) missing(conditions []condition) string {
	var missing []string
	for _, kind := range want.Conditions {
		if !slices.ContainsFunc(conditions, func(c condition) bool { return c.Type == kind && c.Status == "True" }) {
			missing = append(missing, kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(want.False)) {
		text := want.False[kind]
		shows := func(c condition) bool {
			return c.Type == kind && c.Status != "True" && strings.Contains(c.Reason+": "+c.Message, text)
		}
		if !slices.ContainsFunc(conditions, shows) {
			missing = append(missing, kind+" with "+text)
		}
	}
	return strings.Join(missing, ", ")
}

// stoppedArgs say which machine is stopped.
type stoppedArgs struct {
	// Former is the one beside which the last was started, which is left.
	Former bool `yaml:"former"`
}

// stopped waits until Karpenter wants a machine to be stopped, takes its power away, and waits until its claim and its Node are gone.
func (r *caseRun) stopped(ctx context.Context, args stoppedArgs) error {
	p := r.provisioner
	name, vm, left := p.name, &r.vm, 0
	if args.Former {
		name, vm, left = p.former, &r.former, 1
	}
	err := r.eventually(ctx, func() error {
		if !p.machines.stopping(name) {
			return fmt.Errorf("the machine %s is not to be stopped yet", name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	(*vm).Stop()
	*vm = nil
	p.machines.gone(name)
	return r.eventually(ctx, func() error {
		for _, path := range []string{collectionOfClaims, collectionOfNodes} {
			var list struct{ Items []any }
			if err := r.Lab.API.Get(ctx, path, &list); err != nil {
				return err
			}
			if len(list.Items) != left {
				return fmt.Errorf("%s has %d objects, want %d", path, len(list.Items), left)
			}
		}
		return nil
	})
}
