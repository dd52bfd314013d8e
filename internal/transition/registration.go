package transition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
)

// registrationPatience is how long the API server may take to show the Node, or to change it.
const registrationPatience = 10 * time.Second

// Pending returns the labels and taints of the current generation that the cluster's Node does not have yet. If all generations
// have the same, it calls no server. The error is apply.ErrNotProbed if there is no server to call.
func (n *Node) Pending(ctx context.Context, store *generation.Store) ([]registration.Change, *resource.LeaseRenewed, error) {
	var history []registration.Wanted
	var current resource.Plan
	entries := slices.DeleteFunc(store.Entries(), func(e generation.Entry) bool { return e.Registers == "" }) // generations of an image have no Node
	if !slices.ContainsFunc(entries, func(e generation.Entry) bool { return e.Registers != entries[0].Registers }) {
		return nil, nil, nil
	}
	for _, entry := range entries {
		if plan, err := store.Plan(entry.Number); err == nil { // the store reports an error
			history, current = append(history, registration.Of(&plan.Node)), plan
		}
	}
	way := leaseOf(current)
	if way == nil {
		return nil, nil, apply.ErrNotProbed
	}
	ctx, cancel := context.WithTimeout(ctx, registrationPatience)
	defer cancel()
	node, err := n.Host.ReadNode(ctx, way)
	if failed, ok := errors.AsType[*apply.CheckError](err); ok && failed.Cause == resource.CauseMissing {
		return nil, nil, nil // no Node, or no certificate yet: the node will register with the current labels and taints
	}
	if err != nil {
		return nil, nil, err
	}
	return registration.Pending(history, node), way, nil
}

// leaseOf returns the plan's health check that reads the Node's lease. It is nil if the path of the kubelet's certificate is not known.
func leaseOf(plan resource.Plan) *resource.LeaseRenewed {
	for _, res := range plan.Health {
		if check, ok := res.Spec.(*resource.Check); ok && check.LeaseRenewed != nil {
			return check.LeaseRenewed
		}
	}
	return nil
}

// Register gives the cluster's Node the labels that the current generation wants, as far as its kubelet may change them. It returns what it
// has changed, and what is pending for an administrator. If the server does not allow a change, an administrator has to make it.
func (n *Node) Register(ctx context.Context, store *generation.Store) (changed []apply.Change, pending []string, err error) {
	changes, way, err := n.Pending(ctx, store)
	if errors.Is(err, apply.ErrNotProbed) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ask for the Node's labels and taints: %w", err)
	}
	labels := make(map[string]*string)
	for _, c := range changes {
		if c.Command == "" {
			labels[c.Label] = c.Value
		}
	}
	if len(labels) > 0 {
		ctx, cancel := context.WithTimeout(ctx, registrationPatience)
		defer cancel()
		if err = n.Host.LabelNode(ctx, way, labels); err != nil {
			err = fmt.Errorf("change the Node's labels: %w", err)
		}
	}
	failed, _ := errors.AsType[*apply.CheckError](err)
	for _, c := range changes {
		if failed != nil && failed.Cause == resource.CauseForbidden && c.Command == "" { // another admission of the cluster's
			c.Command = registration.LabelCommand(c)
		}
		if c.Command == "" && err == nil {
			changed = append(changed, change(c))
		} else {
			pending = append(pending, PendingText(c))
		}
	}
	return changed, pending, err
}

// PendingText describes a pending change, and names who makes it.
func PendingText(c registration.Change) string {
	by := "the agent changes it"
	if c.Command != "" {
		by = "an administrator runs: " + c.Command
	}
	return string(change(c).ID) + ": " + by
}

// change is a pending change as drift, or as what a run has done.
func change(c registration.Change) apply.Change {
	made := apply.Change{ID: resource.ID("NodeLabel:" + c.Label), Action: apply.Created}
	switch {
	case c.Value == nil:
		made.Action = apply.Removed
	case c.Had:
		made.Action = apply.Updated
	}
	if c.Taint != "" {
		made.ID = resource.ID("NodeTaint:" + c.Taint)
	}
	if c.Command != "" {
		made.Action, made.Note = apply.Left, "only an administrator may change it: "+c.Command
	}
	return made
}

// nodeDrift returns the pending changes of the Node as drift. A server that does not answer is no drift.
func (n *Node) nodeDrift(ctx context.Context, store *generation.Store) []apply.Change {
	pending, _, err := n.Pending(ctx, store)
	if err != nil && !errors.Is(err, apply.ErrNotProbed) {
		n.Log.Warn("cannot ask whether the Node has its labels and taints", "error", err)
	}
	var changes []apply.Change
	for _, c := range pending {
		changes = append(changes, change(c))
	}
	return changes
}

// withoutRegistration is a plan in which files restart nothing that differ from the current generation's only in labels and taints, if the
// machine has that generation's files and its kubelet has registered: it reads them only for that.
func withoutRegistration(host Host, store *generation.Store, next *Step, desired resource.Plan) resource.Plan {
	current, found := store.Current()
	if !found || current.Outcome != generation.Good {
		return desired
	}
	before, err := store.Plan(current.Number)
	if err != nil || !registered(host, before, next) {
		return desired
	}
	had := before.ByID()
	unread := make(map[resource.ID]bool)
	for _, id := range difference.OnlyRegistration(&before, &desired) {
		file := had[id].Spec.(*resource.File)
		content, err := host.ReadFile(file.Path, int64(len(file.Content)))
		unread[id] = err == nil && string(content) == string(file.Content)
	}
	if len(unread) == 0 {
		return desired
	}
	kept := desired
	kept.Resources = nil
	for _, res := range desired.Resources {
		if unread[res.ID()] {
			res.Effects = resource.Effects{}
		}
		kept.Resources = append(kept.Resources, res)
	}
	return kept
}

// registered reports whether the kubelet of the current generation has a Node: it has a certificate. If its credential is another one, a change
// of a running node is sure of it, and a boot is not: the disk may be another node's.
func registered(host Host, current resource.Plan, next *Step) bool {
	way := leaseOf(current)
	if way == nil {
		return next.Entry.Origin != generation.Provision
	}
	return slices.ContainsFunc(way.Credentials, func(pair resource.KeyPair) bool {
		entry, err := host.Stat(pair.Certificate)
		return err == nil && entry.Kind != apply.Absent
	})
}
