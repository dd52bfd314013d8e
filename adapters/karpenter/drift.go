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
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// What reasons of drift begin with. The names of fields follow.
const (
	// Replaced: the fields differ, and another machine takes their place.
	Replaced = "LaunchTemplateDrifted"
	// NotChangedInPlace: the fields differ, and the node could not be changed while it runs.
	NotChangedInPlace = "NotChangedInPlace"
)

// IsDrifted compares what a node was made from with what is wanted now. It returns a reason, with the fields' names, where the
// node is to be replaced. Where it can change while it runs, IsDrifted has the machine change, and returns nothing until that has
// failed or takes too long. A node of which it is not known what it was made from is never replaced, and neither is one for
// which no other node is possible.
func (p *Provider) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	v, err := p.drift(ctx, claim)
	return v.reason, err
}

// drifting is a node that differs from what is wanted.
type drifting struct {
	claim  *v1.NodeClaim
	wanted *launch.Template
	// changes are the differences that are not ignored, those that take most first.
	changes []launch.Change
}

// drift compares a claim's node with what is wanted, and does what can be done while it runs. Only one call at a time looks at a claim.
func (p *Provider) drift(ctx context.Context, claim *v1.NodeClaim) (verdict, error) {
	p.looks.LockKey(string(claim.UID))
	defer p.looks.UnlockKey(string(claim.UID))
	stored, err := launch.ParseCompact(claim.Annotations[AnnotationRecord])
	if err != nil {
		p.event(claim, corev1.EventTypeNormal, "DriftUnknown", err.Error()+"; it is not replaced for that")
		return verdict{}, nil
	}
	c, wanted, err := p.wanted(ctx, claim)
	if wanted == nil {
		return verdict{}, err
	}
	now := p.current(claim)
	d := drifting{claim: claim, wanted: wanted, changes: stored.Diff(wanted)}
	d.changes = slices.DeleteFunc(d.changes, func(c launch.Change) bool { return c.Class == launch.Ignore })
	class := launch.Greatest(d.changes)
	if class != launch.Replace && now.unsettled() {
		class = launch.InPlace
	}
	if class == launch.Replace || class == launch.InPlace {
		if lacking := p.lacking(c, wanted); len(lacking) > 0 {
			p.impossible(claim, lacking)
			return verdict{}, nil
		}
	}
	switch {
	case class == launch.Replace:
		return verdict{reason: p.replaced(d, launch.Replace, "")}, nil
	case class == launch.InPlace:
		return p.changeInPlace(ctx, d, now)
	case claim.Annotations[AnnotationChange] != "" && !now.done: // it is wanted no more, and the machine was never told
		p.forget(claim)
		return verdict{}, unlessOutdated(p.annotate(ctx, claim, claim.ResourceVersion, nil, AnnotationChange))
	}
	return verdict{}, nil
}

// wanted is what the claim's node would be made from now; nil, with or without an error, where that is not known.
func (p *Provider) wanted(ctx context.Context, claim *v1.NodeClaim) (*class, *launch.Template, error) {
	c, err := p.readyClass(ctx, claim.Spec.NodeClassRef)
	if err != nil {
		return nil, nil, unlessRefused(err)
	}
	object, pool, err := p.objects(ctx, claim)
	if err != nil {
		return nil, nil, unlessRefused(err)
	}
	t := c.inputs.instanceType(claim.Labels[corev1.LabelInstanceTypeStable])
	if t == nil {
		return nil, nil, nil // the core has a reason of its own for this
	}
	for _, label := range new(azure.Input).Labels() {
		if label != v1.CapacityTypeLabelKey && label != corev1.LabelTopologyZone { // these two say what was chosen; the others follow
			delete(object.Metadata.Labels, label)
		}
	}
	template, problems := c.render(t, requestOf(object, pool, nil))
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		p.impossible(claim, fatal)
		return nil, nil, nil
	}
	return c, template, nil
}

// impossible tells people that a node stays, because no node of what is wanted can be made.
func (p *Provider) impossible(claim *v1.NodeClaim, problems []nodeconfig.Problem) {
	p.event(claim, corev1.EventTypeWarning, "ReplacementImpossible",
		"the node stays as it is, because none can be made from what is wanted now: "+problemsError(problems).Error())
}

// unlessRefused is the error of a cluster that could not be asked. That a class is not ready, or a claim cannot be launched, is
// known at another place, and no reason to replace a node.
func unlessRefused(err error) error {
	if _, refused := errors.AsType[*cloudprovider.CreateError](err); refused || cloudprovider.IsNodeClassNotReadyError(err) {
		return nil
	}
	return err
}

// most is how many fields a reason names.
const most = 6

// replaced is the reason for which a node is replaced, by its changes of a class. Why is what has kept it from changing in place;
// empty where it cannot. People are told in an event.
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
	reason, message := Replaced, "the node is replaced by one of the template "+d.wanted.Key()
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

// fieldName is a path as a condition's reason can have it (Kubernetes: metav1.Condition, reason): machine_image_id. A field that is
// not wanted any more has no name in a compact record.
func fieldName(path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	if len(words) == 0 {
		return "removed"
	}
	return strings.Join(words, "_")
}
