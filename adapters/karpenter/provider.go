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

// Options configure a [Provider].
type Options struct {
	// Client reads from the operator's cache and writes. Required.
	Client client.Client
	// Reader reads the tokens from the API server itself: the operator's GetAPIReader. Required.
	Reader client.Reader
	// Machines starts and stops machines. Required.
	Machines Machines
	// Recorder records the events. Required.
	Recorder events.Recorder
	// Clock is the time. If nil, the machine's clock.
	Clock clock.Clock
	// ServerTime returns the API server's time ([ServerDate]). If nil, only the secrets that the provider creates show it.
	ServerTime func(context.Context) (time.Time, error)
	// Inputs describe the cluster and the cloud. [Provider.SetInputs] replaces them, and so does Refresh.
	Inputs Inputs
	// Refresh keeps the inputs up to date. If nil, the program does that itself, or the inputs never change.
	Refresh *Refresh
	// Tokens configures the bootstrap tokens.
	Tokens bootstraptoken.Policy
	// Rollout restricts changes in place.
	Rollout Rollout
	// SkipCheck launches without a check that the image can do what the node needs.
	SkipCheck bool
	// Unapplied are paths of settings that may remain unapplied ([launch.Launch.Check]).
	Unapplied []string
}

// Inputs describe a program's cluster and cloud. Do not change them after New or SetInputs.
type Inputs struct {
	// Settings are required.
	Settings *azure.Settings
	// Detected has the facts that were detected in the cluster. If nil, none were.
	Detected *azure.Detected
	// Images are those of the region.
	Images *azure.Images
	// Types are the instance types, with their zones. If nil, the built-in ones, whose zones are unknown.
	Types []launch.InstanceType
	// Provided are instance types as another provider has them, in place of Types ([InstanceTypeOf]). Their prices are not used.
	Provided []*cloudprovider.InstanceType
	// Manifests describe what images can do, by the images' IDs.
	Manifests map[string]*components.Manifest
	// Price returns an instance type's price for an hour, by zone ("" means no zone) and capacity type. If nil, [RelativePrice].
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
	// shown is the condition of the last refresh that all classes show. It is nil before the first. refreshes triggers their
	// reconciles.
	shown     atomic.Pointer[status.Condition]
	refreshes chan event.GenericEvent
	exhausted exhausted

	// looks locks claims, by their UIDs: Karpenter's controller and the provider's own may reconcile a claim at the same time, and
	// only one of them may update its machine.
	looks keymutex.KeyMutex

	mu sync.Mutex
	// classes are the classes in the generation that was read last, by name.
	classes map[string]*class
	// changes are the changes in place that this process has begun, by the claims' UIDs: a copy of a claim may not show them yet.
	changes map[types.UID]change
	// compared are comparisons of records with launches, by a digest of both.
	compared map[digest]*launch.Comparison
}

// locks is how many locks the claims share. It is large, so two claims that are reconciled together rarely share one.
const locks = 1024

var _ cloudprovider.CloudProvider = (*Provider)(nil)

// New makes a provider. The error has all problems of the options.
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

// SetInputs replaces the description of the cluster and the cloud, unless it has a problem. The next launch and the next comparison
// use it.
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

// Reboot is not supported: [Machines] only starts and stops machines, and no policy of the provider asks for a reboot.
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

// notFound converts the error of a missing machine to the core's own type.
func notFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return cloudprovider.NewNodeClaimNotFoundError(err)
	}
	return err
}

// claimOfMachine rebuilds a claim from a machine's properties.
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

// event records an event about an object, once in an hour for the same message.
func (p *Provider) event(about client.Object, kind, reason, message string) {
	p.recorder.Publish(events.Event{
		InvolvedObject: about, Type: kind, Reason: reason, Message: short(message),
		DedupeValues: []string{string(about.GetUID()), message}, DedupeTimeout: time.Hour,
	})
}
