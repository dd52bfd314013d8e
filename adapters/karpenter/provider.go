package karpenter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/keymutex"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/events"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/launch/bootstraptoken"
)

// DefaultChangeDeadline is how long a change in place may take before the node is replaced.
const DefaultChangeDeadline = 15 * time.Minute

// Options are what a [Provider] works with.
type Options struct {
	// Client reads from the operator's cache and writes. It is needed.
	Client client.Client
	// Reader reads from the API server itself, for the tokens: the operator's GetAPIReader. It is needed.
	Reader client.Reader
	// Machines are needed.
	Machines Machines
	// Recorder gets the events. It is needed.
	Recorder events.Recorder
	// Clock is the time; nil for that of the machine.
	Clock clock.Clock
	// ServerTime asks for the API server's time ([ServerDate]); nil where only the secrets that are created show it.
	ServerTime func(context.Context) (time.Time, error)
	// Inputs are what is known of the cluster and the cloud. [Provider.SetInputs] replaces them, and so does Refresh.
	Inputs Inputs
	// Refresh keeps the inputs up to date; nil for a program that does that itself, or not at all.
	Refresh *Refresh
	// Tokens says what the bootstrap tokens are like.
	Tokens bootstraptoken.Policy
	// Rollout restricts changes in place.
	Rollout Rollout
	// SkipCheck launches without asking whether the image can do what the node needs.
	SkipCheck bool
	// Unapplied are paths of settings that need not be applied ([launch.Launch.Check]).
	Unapplied []string
}

// Inputs are what a program knows of its cluster and its cloud. They are not changed once they are given.
type Inputs struct {
	// Settings are needed.
	Settings *azure.Settings
	// Detected is what was found out about the cluster; nil for nothing.
	Detected *azure.Detected
	// Images are those of the region.
	Images *azure.Images
	// Types are the instance types, with their zones; nil for those that are built in, of which no zone is known.
	Types []launch.InstanceType
	// Provided are instance types as another provider has them, in place of Types ([InstanceTypeOf]). Their prices are not used.
	Provided []*cloudprovider.InstanceType
	// Manifests say what images can do, by the images' IDs.
	Manifests map[string]*components.Manifest
	// Price is what an instance type costs in an hour, in a zone ("" for none) and as a capacity type; nil for [RelativePrice].
	Price func(t *launch.InstanceType, zone, capacityType string) float64
}

// Provider is a cloudprovider.CloudProvider. It may be used by several goroutines.
type Provider struct {
	client    client.Client
	machines  Machines
	recorder  events.Recorder
	clock     clock.Clock
	server    *serverClock
	tokens    *secrets
	keeper    *bootstraptoken.Keeper
	rollout   Rollout
	skipCheck bool
	unapplied []string

	inputs  atomic.Pointer[Inputs]
	refresh *Refresh
	// shown is what the classes show of the last refresh; nil before the first. refreshes has them looked at.
	shown     atomic.Pointer[status.Condition]
	refreshes chan event.GenericEvent
	exhausted exhausted

	// looks locks claims, by their UIDs: Karpenter's controller and the provider's own look at a claim at the same time, and only
	// one of them may tell its machine to change.
	looks keymutex.KeyMutex

	mu sync.Mutex
	// classes are the classes in the generation that was seen last, by name.
	classes map[string]*class
	// changes are the changes in place that this process has begun, by the claims' UIDs: a claim may not show them yet.
	changes map[types.UID]change
	// compared are comparisons of records with launches, by a digest of both.
	compared map[digest]*launch.Comparison
}

// locks is how many locks the claims share: so many that two claims that are looked at together seldom have the same.
const locks = 1024

var _ cloudprovider.CloudProvider = (*Provider)(nil)

// New makes a provider. The error has all that is wrong with the options.
func New(o Options) (*Provider, error) {
	var wrong []error
	for _, row := range []struct {
		missing bool
		name    string
	}{
		{o.Client == nil, "Client"},
		{o.Reader == nil, "Reader"},
		{o.Machines == nil, "Machines"},
		{o.Recorder == nil, "Recorder"},
	} {
		if row.missing {
			wrong = append(wrong, fmt.Errorf("%s is missing", row.name))
		}
	}
	if err := o.Inputs.complete(); err != nil {
		wrong = append(wrong, err)
	}
	if err := o.Tokens.Check(); err != nil {
		wrong = append(wrong, fmt.Errorf("tokens: %w", err))
	}
	if wrong != nil {
		return nil, fmt.Errorf("the options of the provider: %w", errors.Join(wrong...))
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Rollout.Deadline = cmp.Or(o.Rollout.Deadline, DefaultChangeDeadline)
	server := &serverClock{clock: o.Clock, ask: o.ServerTime}
	tokens := &secrets{reader: o.Reader, writer: o.Client, clock: server}
	p := &Provider{
		client: o.Client, machines: o.Machines, recorder: o.Recorder, clock: o.Clock, server: server, tokens: tokens,
		keeper:  &bootstraptoken.Keeper{Store: tokens, Policy: o.Tokens},
		rollout: o.Rollout, skipCheck: o.SkipCheck, unapplied: o.Unapplied,
		refresh: o.Refresh, refreshes: make(chan event.GenericEvent, 1),
		looks:   keymutex.NewHashed(locks),
		classes: make(map[string]*class), changes: make(map[types.UID]change), compared: make(map[digest]*launch.Comparison),
	}
	p.inputs.Store(&o.Inputs)
	return p, nil
}

// SetInputs replaces what is known of the cluster and the cloud, unless something is wrong with it. The next launch and the next comparison use it.
func (p *Provider) SetInputs(in Inputs) error {
	if err := in.complete(); err != nil {
		return err
	}
	p.inputs.Store(&in)
	return nil
}

// Name is the provider's name.
func (p *Provider) Name() string { return "slipway" }

// GetSupportedNodeClasses returns the class.
func (p *Provider) GetSupportedNodeClasses() []status.Object { return []status.Object{&NodeClass{}} }

// Reboot is not possible: [Machines] starts and stops machines, and no policy of the provider asks for it.
func (p *Provider) Reboot(context.Context, *v1.NodeClaim, string) error {
	return cloudprovider.NewNodeRebootNotImplementedError()
}

// Delete stops the claim's machine. The error is a NodeClaimNotFoundError when the machine is gone.
func (p *Provider) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	p.forget(claim)
	return notFound(p.machines.Stop(ctx, claim.Status.ProviderID))
}

// Get returns the claim of a machine. The error is a NodeClaimNotFoundError when the machine is gone.
func (p *Provider) Get(ctx context.Context, id string) (*v1.NodeClaim, error) {
	m, err := p.machines.Get(ctx, id)
	if err != nil {
		return nil, notFound(err)
	}
	return p.claimOfMachine(m), nil
}

// List returns the claims of all machines.
func (p *Provider) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	machines, err := p.machines.List(ctx)
	if err != nil {
		return nil, err
	}
	claims := make([]*v1.NodeClaim, len(machines))
	for i := range machines {
		claims[i] = p.claimOfMachine(&machines[i])
	}
	return claims, nil
}

// notFound has the core's own type for the error of a machine that is gone.
func notFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return cloudprovider.NewNodeClaimNotFoundError(err)
	}
	return err
}

// claimOfMachine is what a machine says of its claim.
func (p *Provider) claimOfMachine(m *Machine) *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: m.Name, CreationTimestamp: metav1.NewTime(m.Created), Labels: make(map[string]string),
	}}
	for label, value := range map[string]string{
		corev1.LabelInstanceTypeStable: m.Type, corev1.LabelTopologyZone: m.Zone, v1.CapacityTypeLabelKey: m.CapacityType,
	} {
		if value != "" {
			claim.Labels[label] = value
		}
	}
	if m.Key != "" {
		claim.Annotations = map[string]string{AnnotationKey: m.Key}
	}
	if m.Stopping {
		now := metav1.NewTime(p.clock.Now())
		claim.DeletionTimestamp = &now
	}
	claim.Status.ProviderID, claim.Status.ImageID = m.ID, m.Image
	return claim
}

// event tells people of something about an object, once in an hour for the same message.
func (p *Provider) event(about client.Object, kind, reason, message string) {
	p.recorder.Publish(events.Event{
		InvolvedObject: about, Type: kind, Reason: reason, Message: short(message),
		DedupeValues: []string{string(about.GetUID()), message}, DedupeTimeout: time.Hour,
	})
}
