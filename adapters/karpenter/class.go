package karpenter

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/awslabs/operatorpkg/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// class is one generation of a class, with its inputs and the results that were computed from both.
type class struct {
	uid        types.UID
	generation int64
	inputs     *Inputs
	decoded    *azure.NodeClass
	// problems are what is wrong with the class itself.
	problems []nodeconfig.Problem

	mu sync.Mutex
	// renderers render claims of an instance type, by its name.
	renderers map[string]func(launch.Request) *launch.Launch
	// launches are what was rendered, by what it depends on.
	launches map[digest]*rendered
	// sizes are the instance types with the resources of this class's nodes. They are nil until the first call that needs them.
	// offered are the same types for Karpenter's scheduler, with the offerings of one state of the cloud's capacity.
	sizes   []*size
	offered []*cloudprovider.InstanceType
	state   uint64
}

// classOf is a class as it is used. It is decoded once for each generation.
func (p *Provider) classOf(object *NodeClass) (*class, error) {
	inputs := p.inputs.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.classes[object.Name]
	if known != nil && known.uid == object.UID && known.generation == object.Generation && known.inputs == inputs {
		return known, nil
	}
	data, err := object.document()
	if err != nil {
		return nil, fmt.Errorf("the %s %s: %w", azure.ClassKind, object.Name, err)
	}
	c := &class{uid: object.UID, generation: object.Generation, inputs: inputs, renderers: make(map[string]func(launch.Request) *launch.Launch)}
	c.decoded, c.problems = azure.ReadNodeClass(data)
	p.classes[object.Name] = c
	return c, nil
}

// readyClass returns the class that a claim or a pool refers to. The error has one of the core's types, unless the read from the
// cluster failed.
func (p *Provider) readyClass(ctx context.Context, ref *v1.NodeClassReference) (*class, error) {
	object, err := p.referred(ctx, ref)
	if err != nil {
		return nil, err
	}
	ready := object.StatusConditions(status.WithObservedOnly()).Get(status.ConditionReady)
	switch {
	case ready.IsFalse():
		return nil, cloudprovider.NewNodeClassNotReadyError(fmt.Errorf("%s %s: %s", azure.ClassKind, object.Name, ready.Message))
	case ready.IsUnknown() || ready.ObservedGeneration != object.Generation:
		return nil, refused(NodeClassReadinessUnknown,
			fmt.Errorf("generation %d of the %s %s has no condition Ready yet", object.Generation, azure.ClassKind, object.Name))
	}
	c, err := p.classOf(object)
	if err != nil {
		return nil, err
	}
	if fatal := nodeconfig.Fatal(c.problems); len(fatal) > 0 {
		return nil, cloudprovider.NewNodeClassNotReadyError(problemsError(fatal))
	}
	return c, nil
}

// referred is the object that a claim or a pool refers to.
func (p *Provider) referred(ctx context.Context, ref *v1.NodeClassReference) (*NodeClass, error) {
	if ref == nil || ref.Group != groupVersion.Group || ref.Kind != azure.ClassKind {
		err := fmt.Errorf("the reference is not to an %s of %s", azure.ClassKind, groupVersion.Group)
		return nil, cloudprovider.NewNodeClassNotReadyError(err)
	}
	object := new(NodeClass)
	switch err := p.client.Get(ctx, types.NamespacedName{Name: ref.Name}, object); {
	case apierrors.IsNotFound(err):
		return nil, cloudprovider.NewNodeClassNotReadyError(fmt.Errorf("there is no %s %s", azure.ClassKind, ref.Name))
	case err != nil:
		return nil, fmt.Errorf("the %s %s: %w", azure.ClassKind, ref.Name, err)
	case object.DeletionTimestamp != nil:
		return nil, cloudprovider.NewNodeClassNotReadyError(fmt.Errorf("the %s %s is being deleted", azure.ClassKind, ref.Name))
	}
	return object, nil
}

// instanceTypes are the types that are known.
func (in *Inputs) instanceTypes() []launch.InstanceType {
	if in.Types == nil {
		return builtIn()
	}
	return in.Types
}

// builtIn are the types of launch/azure's table.
var builtIn = sync.OnceValue(azure.InstanceTypes)

// instanceType returns the instance type with a name. It is nil if the type is unknown.
func (in *Inputs) instanceType(name string) *launch.InstanceType {
	all := in.instanceTypes()
	i := slices.IndexFunc(all, func(t launch.InstanceType) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// render decides the launch of a request on an instance type.
func (c *class) render(t *launch.InstanceType, request launch.Request) *launch.Launch {
	c.mu.Lock()
	render := c.renderers[t.Name]
	if render == nil {
		render = launch.Prepare(&azure.Input{
			Settings: c.inputs.Settings, Class: c.decoded, Type: t, Images: c.inputs.Images, Detected: c.inputs.Detected,
		})
		c.renderers[t.Name] = render
	}
	c.mu.Unlock()
	return render(request)
}
