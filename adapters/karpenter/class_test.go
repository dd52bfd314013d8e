package karpenter_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
)

// judge has the provider's controller look at the class, and returns it.
func (f *fixture) judge() *karpenter.NodeClass {
	f.t.Helper()
	result, err := f.tryReconcileClass()
	if err != nil {
		f.errors = append(f.errors, err)
	} else if result.RequeueAfter != time.Minute {
		f.t.Errorf("it is looked at again in %s", result.RequeueAfter)
	}
	return f.class()
}

// reconcileClass has the provider's controller look at the class.
func (f *fixture) reconcileClass() reconcile.Result {
	f.t.Helper()
	result, err := f.tryReconcileClass()
	if err != nil {
		f.t.Fatal(err)
	}
	return result
}

func (f *fixture) tryReconcileClass() (reconcile.Result, error) {
	return f.provider.Controllers()[1].(reconcile.ObjectReconciler[*karpenter.NodeClass]).Reconcile(f.ctx, f.class())
}

// class is the class as the cluster has it.
func (f *fixture) class() *karpenter.NodeClass {
	f.t.Helper()
	c := new(karpenter.NodeClass)
	if err := f.client.Get(f.ctx, client.ObjectKey{Name: "default"}, c); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// TestClass: a class is ready if a node of it is possible on some instance type; otherwise the condition has all problems.
func TestClass(t *testing.T) {
	for name, c := range map[string]struct {
		spec  string
		set   func(*fixture)
		ready bool
		says  []string
		never string
	}{
		"the example": {ready: true},
		"a detected value that differs": {
			set:   func(f *fixture) { f.options.Inputs = inputs(f.t, "dns-service-ip: 10.0.0.11") },
			ready: true, says: []string{"$.machine.network.dns", "10.0.0.11", "in more", "10.0.0.10", "in service kube-system/kube-dns"},
		},
		"wrong values, all at once": {spec: "maxPods: 1\nimageFamily: Windows", says: []string{"maxPods", "imageFamily"}},
		"a field that is not known": {spec: "fipsmode: FIPS", says: []string{"fipsmode"}},
		"no CA":                     {set: func(f *fixture) { f.options.Inputs.Detected.CertificateAuthority = nil }, says: []string{"certificateAuthority"}},
		"what one type alone has is not said": {
			spec: "security: {trustedLaunch: {vtpm: true}}",
			set: func(f *fixture) {
				in := &f.options.Inputs
				in.Detected.CertificateAuthority = nil
				slices.SortFunc(in.Types, func(a, b launch.InstanceType) int { return -strings.Compare(a.Name, b.Name) }) // Standard_NC6 is the first
			},
			says: []string{"certificateAuthority"}, never: "Standard_NC6 does not have it",
		},
		"no image": {set: func(f *fixture) { f.options.Inputs.Images.Images = nil }, says: []string{"the list is empty"}},
		"an image that some types boot": {
			spec: "imageFamily: AzureLinux", ready: true, // AzureLinux has no arm64 image and none of generation 1
		},
		"no instance types":      {set: func(f *fixture) { f.options.Inputs.Types = []launch.InstanceType{} }, says: []string{"no instance types are known"}},
		"an unknown type, alone": {set: func(f *fixture) { f.options.Inputs.Types = []launch.InstanceType{{Name: "Standard_X1"}} }, says: []string{"$.machine.type"}},
	} {
		t.Run(name, func(t *testing.T) {
			class := classOf(t, c.spec)
			class.Status.Conditions = nil
			f := newFixture(t, c.set, class)
			ready := f.judge().StatusConditions().Get(status.ConditionReady)
			if ready.IsTrue() != c.ready || ready.IsUnknown() || ready.ObservedGeneration != 3 {
				t.Errorf("%+v, %v", ready, f.errors)
			}
			for _, want := range c.says {
				if !strings.Contains(ready.Message, want) {
					t.Errorf("%q is not in %q", want, ready.Message)
				}
			}
			if c.never != "" && strings.Contains(ready.Message, c.never) {
				t.Error(ready.Message)
			}
			if version := f.class().ResourceVersion; f.judge().ResourceVersion != version {
				t.Error("the same is written twice")
			}
		})
	}
}

// TestClassFollowsInputs: new inputs make a class ready that was not, and the other way round.
func TestClassFollowsInputs(t *testing.T) {
	f := newFixture(t, func(f *fixture) { f.options.Inputs.Images.Images = nil })
	for _, ready := range []bool{false, true, false} {
		if ready {
			f.setInputs(inputs(t, ""))
		}
		if got := f.judge().StatusConditions().Get(status.ConditionReady); got.IsTrue() != ready {
			t.Errorf("want %t: %+v", ready, got)
		}
		in := inputs(t, "")
		in.Images.Images = nil
		f.setInputs(in)
	}
}

// TestClassThatCannotBeRead: an unreachable API server is an error, but not one of the core's that would delete a claim.
func TestClassThatCannotBeRead(t *testing.T) {
	away := false
	f := newFixture(t, func(f *fixture) {
		f.funcs.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*v1.NodeClaim); !is && away {
				return apierrors.NewServiceUnavailable("away")
			}
			return c.Get(ctx, key, o, opts...)
		}
	})
	claim := f.running("general-abcde")
	away = true
	for name, call := range map[string]func() error{
		"Create":    func() error { _, err := f.provider.Create(f.ctx, claim); return err },
		"IsDrifted": func() error { _, err := f.provider.IsDrifted(f.ctx, claim); return err },
		"GetInstanceTypes": func() error {
			_, err := f.provider.GetInstanceTypes(f.ctx, object[v1.NodePool](t, "nodepool.yaml", ""))
			return err
		},
	} {
		err := call()
		_, refused := errors.AsType[*cloudprovider.CreateError](err)
		if err == nil || refused || cloudprovider.IsNodeClassNotReadyError(err) || cloudprovider.IsInsufficientCapacityError(err) || !strings.Contains(err.Error(), "away") {
			t.Errorf("%s: %v", name, err)
		}
	}
	claim.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	if _, err := f.provider.Create(f.ctx, claim); !cloudprovider.IsNodeClassNotReadyError(err) || !strings.Contains(err.Error(), "AKSNodeClass of karpenter.azure.com") {
		t.Error(err)
	}
}
