package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// condition is an object's condition.
type condition struct{ Type, Status, Reason, Message string }

// conditionsArgs are the required conditions.
type conditionsArgs struct {
	// Conditions are those that must be true.
	Conditions []string `yaml:"conditions"`
	// False are conditions that must not be true, each with a text in its reason or message.
	False map[string]string `yaml:"false"`
	// Reasons are conditions that must be true for exactly this reason.
	Reasons map[string]string `yaml:"reasons"`
}

// claimArgs are the required properties of a NodeClaim.
type claimArgs struct {
	conditionsArgs `yaml:",inline"`
	// Machines is the number of machines, if it is set.
	Machines *int `yaml:"machines"`
	// Each requires this of all claims, one for each machine.
	Each bool `yaml:"each"`
}

// claim waits until a NodeClaim, or each, has the required properties.
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
		wrong, right := errors.New("there is no claim"), 0
		for _, item := range list.Items {
			missing := want.missing(item.Status.Conditions)
			if missing == "" {
				right++
				continue
			}
			wrong = fmt.Errorf("a claim's conditions are %v, and do not show %s", item.Status.Conditions, missing)
		}
		switch n := r.provisioner.machines.count(); {
		case want.Each && (right != len(list.Items) || right != n):
			return fmt.Errorf("of %d claims %d are so, and there are %d machines: %w", len(list.Items), right, n, wrong)
		case right == 0:
			return wrong
		}
		return nil
	})
}

// missing returns what the conditions lack, or "".
func (want *conditionsArgs) missing(conditions []condition) string {
	var missing []string
	for _, kind := range want.Conditions {
		if !slices.ContainsFunc(conditions, func(c condition) bool { return c.Type == kind && c.Status == "True" }) {
			missing = append(missing, kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(want.Reasons)) {
		shows := func(c condition) bool { return c.Type == kind && c.Status == "True" && c.Reason == want.Reasons[kind] }
		if !slices.ContainsFunc(conditions, shows) {
			missing = append(missing, kind+" because of "+want.Reasons[kind])
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

// stoppedArgs select the machine that is stopped.
type stoppedArgs struct {
	// Former selects the machine that Karpenter wants to stop among those beside which the last one was started. The others stay.
	Former bool `yaml:"former"`
}

// stopped waits until Karpenter stops a machine, cuts its power, and waits until its claim and its Node are gone.
func (r *caseRun) stopped(ctx context.Context, args stoppedArgs) error {
	p := r.provisioner
	var gone runningMachine
	err := r.eventually(ctx, func() error {
		if !args.Former {
			gone = runningMachine{p.name, r.vm, r.node, p.place}
			if !p.machines.stopping(p.name) {
				return fmt.Errorf("the machine %s is not to be stopped yet", p.name)
			}
			return nil
		}
		i := slices.IndexFunc(p.others, func(m runningMachine) bool { return p.machines.stopping(m.name) })
		if i < 0 {
			return fmt.Errorf("none of the %d machines before %s is to be stopped yet", len(p.others), p.name)
		}
		gone = p.others[i]
		p.others = slices.Delete(p.others, i, i+1)
		return nil
	})
	if err != nil {
		return err
	}
	gone.vm.Stop()
	if !args.Former {
		r.vm = nil
	}
	gone.node.stop()
	p.machines.gone(gone.name)
	return r.eventually(ctx, func() error {
		return errors.Join(r.absent(ctx, collectionOfClaims, gone.name), r.absent(ctx, collectionOfNodes, gone.node.nodeName()))
	})
}

// absent reports whether a collection has no object with a name.
func (r *caseRun) absent(ctx context.Context, collection, name string) error {
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := r.Lab.API.Get(ctx, collection, &list); err != nil {
		return err
	}
	for _, item := range list.Items {
		if item.Metadata.Name == name {
			return fmt.Errorf("%s still has %s", collection, name)
		}
	}
	return nil
}
