package karpenter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/launch/bootstraptoken"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Create starts a machine for a claim. The error has one of the core's types: InsufficientCapacity if another claim may be
// possible, NodeClassNotReady, or CreateError with the reason for the claim's condition. If Create returns an error, no machine of
// this claim runs without the claim's knowledge.
func (p *Provider) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	c, err := p.readyClass(ctx, claim.Spec.NodeClassRef)
	if err != nil {
		return nil, err
	}
	chosen, err := p.choose(ctx, c, claim)
	if err != nil {
		return nil, err
	}
	token, err := p.token(ctx, claim, chosen)
	if err != nil {
		return nil, err
	}
	userData, err := chosen.launch.UserData(token)
	if err != nil {
		return nil, refused(UserDataImpossible, without(err, token.Reveal()))
	}
	fulfilled, err := fulfil(claim, chosen)
	if err != nil {
		return nil, err
	}
	machine, err := p.start(ctx, claim.Name, chosen, userData, token)
	if err != nil {
		return nil, err
	}
	fulfilled.Status.ProviderID = machine.ID
	return fulfilled, nil
}

// choice is the launch that was chosen for a claim.
type choice struct {
	azure.Offering
	class   *class
	launch  *launch.Launch
	request launch.Request
}

// choose takes the cheapest offering on which the claim's node is possible. Package launch decides that. If the node is possible on
// no offering, the error has all problems of the cheapest one.
func (p *Provider) choose(ctx context.Context, c *class, claim *v1.NodeClaim) (*choice, error) {
	found, err := p.pool(ctx, claim)
	if err != nil {
		return nil, err
	}
	object, pool, err := objectsOf(claim, found)
	if err != nil {
		return nil, err
	}
	offered, err := p.offer(c)
	if err != nil {
		return nil, err
	}
	var first []nodeconfig.Problem
	for _, candidate := range candidates(claim, offered, p.exhausted.has) {
		chosen := &choice{Offering: candidate.Offering, class: c}
		chosen.request = requestOf(object, pool, chosen.labels())
		chosen.launch = c.render(c.inputs.instanceType(chosen.Type), chosen.request)
		problems := nodeconfig.Fatal(chosen.launch.Problems())
		if len(problems) == 0 {
			problems = p.lacking(c, chosen.launch)
		}
		if len(problems) == 0 {
			return chosen, nil
		}
		if first == nil {
			first = problems
		}
	}
	if first != nil {
		return nil, refusedFor(first)
	}
	return nil, c.noOffering(claim)
}

// labels are those of the offering and the region.
func (c *choice) labels() map[string]string {
	labels := labelsOf(c.Offering)
	labels[corev1.LabelTopologyRegion] = c.class.inputs.Settings.Location
	return labels
}

// lacking returns what a node needs and its image cannot do. An image without a manifest lacks nothing as far as this provider
// knows.
func (p *Provider) lacking(c *class, made *launch.Launch) []nodeconfig.Problem {
	if p.skipCheck {
		return nil
	}
	return nodeconfig.Fatal(made.Check(c.inputs.Manifests[made.Document().Machine.Image.ID], p.unapplied...))
}

// noOffering says why there is no offering for a claim.
func (c *class) noOffering(claim *v1.NodeClaim) error {
	var named []string
	for _, r := range claim.Spec.Requirements {
		if r.Key == corev1.LabelInstanceTypeStable && r.Operator == corev1.NodeSelectorOpIn {
			named = append(named, r.Values...)
		}
	}
	isKnown := func(name string) bool { return c.inputs.instanceType(name) != nil }
	if len(named) > 0 && !slices.ContainsFunc(named, isKnown) {
		return refused(InstanceTypeUnknown, fmt.Errorf("nothing is known of the instance type %s; give the provider a list that has it, "+
			"as az vm list-skus writes one", strings.Join(named, ", ")))
	}
	if keys := contradictory(claim); len(keys) > 0 {
		return refused(RequirementsContradict, fmt.Errorf("no node fulfils all of the claim's requirements on %s: they contradict each other", strings.Join(keys, ", ")))
	}
	return cloudprovider.NewInsufficientCapacityError(errors.New("no offering that is available fulfils the claim's requirements " +
		"and has room for its pods"))
}

// contradictory are the labels on which a claim has requirements that no node fulfils together, sorted.
func contradictory(claim *v1.NodeClaim) []string {
	operators := make(map[string][]corev1.NodeSelectorOperator)
	for _, r := range claim.Spec.Requirements {
		operators[r.Key] = append(operators[r.Key], r.Operator)
	}
	together := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	var keys []string
	for key, all := range operators {
		absent := slices.Contains(all, corev1.NodeSelectorOpDoesNotExist)
		present := slices.ContainsFunc(all, func(o corev1.NodeSelectorOperator) bool {
			return o != corev1.NodeSelectorOpDoesNotExist && o != corev1.NodeSelectorOpNotIn
		})
		if present && (absent || together.Get(key).Operator() == corev1.NodeSelectorOpDoesNotExist) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// token returns the token that the node joins with, or the zero value if it needs none.
func (p *Provider) token(ctx context.Context, claim *v1.NodeClaim, chosen *choice) (nodeconfig.Secret, error) {
	if !chosen.launch.NeedsToken() {
		return nodeconfig.Secret{}, nil
	}
	if given := p.inputs.Load().Settings.BootstrapToken; !given.IsZero() {
		if err := p.usable(ctx, given); err != nil {
			return nodeconfig.Secret{}, refusedToken(err)
		}
		return given, nil
	}
	now, _ := p.server.now(ctx)
	token, err := p.keeper.Grant(ctx, p.tokenKey(claim), now)
	if err != nil {
		return nodeconfig.Secret{}, refusedToken(err)
	}
	now, ahead := p.server.now(ctx) // a new token may have shown how late it is
	if margin := cmp.Or(p.keeper.Policy.Margin, bootstraptoken.DefaultMargin); ahead.Abs() > margin {
		p.event(claim, corev1.EventTypeWarning, "ClockSkew", fmt.Sprintf("the controller's clock is %s off from the API server's; "+
			"the API server's decides when tokens expire", ahead.Abs()))
	}
	if err := p.keeper.Policy.Usable(token, now); err != nil {
		return nodeconfig.Secret{}, refusedToken(err)
	}
	return token.Value, nil
}

// tokenKey is the key of a claim's tokens.
func (p *Provider) tokenKey(claim *v1.NodeClaim) string {
	return p.keeper.Policy.Key(claim.Labels[v1.NodePoolLabelKey], claim.Name)
}

// usable returns a [*bootstraptoken.Error] if the token of the settings cannot be used.
func (p *Provider) usable(ctx context.Context, given nodeconfig.Secret) error {
	all, err := p.tokens.List(ctx)
	if err != nil {
		return &bootstraptoken.Error{Reason: bootstraptoken.Unavailable, Err: err}
	}
	i := slices.IndexFunc(all, func(t bootstraptoken.Token) bool { return t.Value.Reveal() == given.Reveal() })
	if i < 0 {
		token := bootstraptoken.Token{Value: given}
		return &bootstraptoken.Error{
			Reason: bootstraptoken.Expired, ID: token.ID(),
			Err: errors.New("the cluster does not have it; give another one, or none, so that the provider makes its own"),
		}
	}
	now, _ := p.server.now(ctx)
	return p.keeper.Policy.Usable(&all[i], now)
}

// refusedToken is the error of a launch for which there is no token.
func refusedToken(err error) error {
	reason := LaunchRefused
	if why, ok := errors.AsType[*bootstraptoken.Error](err); ok {
		reason = string(why.Reason)
	}
	return refused(reason, err)
}

// start starts the machine.
func (p *Provider) start(ctx context.Context, name string, chosen *choice, userData string, token nodeconfig.Secret) (*Machine, error) {
	l := Launch{Name: name, Launch: chosen.launch, UserData: nodeconfig.NewSecret(userData)}
	machine, err := p.machines.Start(ctx, l)
	if refusal := p.refusal(ctx, chosen, err, token.Reveal(), userData); refusal != nil {
		return nil, refusal
	}
	switch {
	case err != nil:
		return nil, refused(MachineNotStarted, without(err, token.Reveal(), userData))
	case machine.Key != "" && machine.Key != chosen.launch.Key():
		// An earlier try has started this machine, but its record was never written. It is no node yet.
		differs := fmt.Errorf("the machine %s was started from something else, and is stopped", machine.ID)
		if err := p.machines.Stop(ctx, machine.ID); err != nil && !errors.Is(err, ErrNotFound) {
			differs = fmt.Errorf("the machine %s was started from something else, and cannot be stopped: %w", machine.ID, err)
		}
		return nil, refused(MachineDiffers, differs)
	}
	log.FromContext(ctx).Info("started a machine", "machine", machine.ID, "launch", chosen.launch.Key())
	return machine, nil
}

// fulfil is the claim as a machine fulfils it, but for the machine's ID.
func fulfil(claim *v1.NodeClaim, chosen *choice) (*v1.NodeClaim, error) {
	document := chosen.launch.Document()
	labels := chosen.labels()
	maps.Copy(labels, document.Node.Kubelet.Labels)
	capacity, err := quantities(document.Machine.Capacity)
	if err != nil {
		return nil, err
	}
	allocatable, err := quantities(document.Machine.Allocatable)
	if err != nil {
		return nil, err
	}
	return &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: labels, Annotations: recordOf(chosen.launch)},
		Status:     v1.NodeClaimStatus{ImageID: document.Machine.Image.ID, Capacity: capacity, Allocatable: allocatable},
	}, nil
}
