package karpenter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Prefixes of the drift reasons. The names of the fields follow.
const (
	// Replaced: the fields differ, and another machine takes their place.
	Replaced = "LaunchTemplateDrifted"
	// NotChangedInPlace: the fields differ, and the node could not be changed while it runs.
	NotChangedInPlace = "NotChangedInPlace"
)

// IsDrifted compares what a node was made from with what is wanted now. If the node is to be replaced, it returns a reason with the
// fields' names. If the node can change while it runs, IsDrifted updates its machine, and returns no reason until the update has
// failed or takes too long. It never replaces a node whose record is unknown, or for which no replacement is possible.
func (p *Provider) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	v, err := p.drift(ctx, claim)
	return v.reason, err
}

// drifting is a node that differs from what is wanted.
type drifting struct {
	claim  *v1.NodeClaim
	wanted *launch.Launch
	// changes are the differences, those that take most first.
	changes []launch.Change
}

// drift compares a claim's node with what is wanted, and makes the changes that are possible while it runs. Calls for the same
// claim are serialized.
func (p *Provider) drift(ctx context.Context, claim *v1.NodeClaim) (verdict, error) {
	p.looks.LockKey(string(claim.UID))
	defer p.looks.UnlockKey(string(claim.UID))
	r, err := p.wanted(ctx, claim)
	if r == nil {
		return verdict{}, err
	}
	wanted := r.launch
	now := p.current(claim)
	if now == (change{}) && claim.Annotations[AnnotationKey] == wanted.Key() {
		return verdict{}, nil
	}
	compared, err := p.compare(claim.Annotations[AnnotationRecord], wanted)
	if err != nil {
		p.event(claim, corev1.EventTypeNormal, "DriftUnknown", err.Error()+"; it is not replaced for that")
		return verdict{}, nil
	}
	d, class := drifting{claim: claim, wanted: wanted, changes: compared.Changes}, compared.Class
	if class != launch.Replace && now.unsettled() {
		class = launch.InPlace
	}
	if class == launch.Replace || class == launch.InPlace {
		if lacking := r.lacking(); len(lacking) > 0 {
			p.impossible(claim, lacking)
			return verdict{}, nil
		}
	}
	switch {
	case class == launch.Replace:
		return verdict{reason: p.replaced(d, launch.Replace, "")}, nil
	case compared.Node != nil && compared.Node.Class >= node.Drain:
		why := "the change takes a " + compared.Node.Class.String() + " of the node, which its agent leaves to others"
		return verdict{reason: p.replaced(d, launch.InPlace, why)}, nil
	case class == launch.InPlace:
		return p.changeInPlace(ctx, d, now)
	case claim.Annotations[AnnotationChange] != "" && !now.done: // the change is wanted no more, and the machine never got it
		p.forget(claim)
		return verdict{}, unlessOutdated(p.annotate(ctx, claim, claim.ResourceVersion, nil, AnnotationChange))
	}
	return verdict{}, nil
}

// impossible records an event: a node stays, because no node of what is wanted now can be made.
func (p *Provider) impossible(claim *v1.NodeClaim, problems []nodeconfig.Problem) {
	p.event(claim, corev1.EventTypeWarning, "ReplacementImpossible",
		"the node stays as it is, because none can be made from what is wanted now: "+problemsError(problems).Error())
}

// unlessRefused returns the errors of reads from the cluster. A class that is not ready, or a claim that cannot be launched, is
// reported elsewhere and is no reason to replace a node.
func unlessRefused(err error) error {
	if _, refused := errors.AsType[*cloudprovider.CreateError](err); refused || cloudprovider.IsNodeClassNotReadyError(err) {
		return nil
	}
	return err
}

// most is how many fields a reason names.
const most = 6

// replaced returns the reason why a node is replaced, from its changes of one class, and records an event. Why is what prevented a
// change in place; empty if a change in place is never possible.
func (p *Provider) replaced(d drifting, class launch.Drift, why string) cloudprovider.DriftReason {
	var names, lines []string
	for _, c := range d.changes {
		if c.Class != class {
			continue
		}
		lines = append(lines, c.Path+": "+c.Reason)
		if name := fieldName(c.Path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	reason, message := Replaced, "the node is replaced by one of the launch "+d.wanted.Key()
	if why != "" {
		reason, message = NotChangedInPlace, "the node is replaced, because it could not be changed while it runs ("+why+")"
	}
	p.event(d.claim, corev1.EventTypeNormal, reason, message+": "+strings.Join(lines, "; "))
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("and_%d_more", len(names)-most))
	}
	if len(names) > 0 {
		reason += ":" + strings.Join(names, ",")
	}
	return cloudprovider.DriftReason(reason)
}

// fieldName converts a path to the form that a condition's reason allows (Kubernetes: metav1.Condition, reason): machine_image_id.
func fieldName(path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	return strings.Join(words, "_")
}
