// Command karpenter is the unchanged core of Karpenter with Slipway's provider. The end-to-end suite runs it beside the lab's
// cluster, and answers it as a cloud of machines (package test/e2e/scenario). It decides nothing itself.
//
// Karpenter's own flags are its flags. Its other inputs come from the environment:
//
//	KUBECONFIG              the cluster, as its administrator
//	E2E_MACHINES            the socket for requests of machines
//	E2E_OBJECTS             a stream of objects: settings, cluster and images; others are ignored
//	E2E_INSTANCE_TYPES      the instance types, as "az vm list-skus" writes them
//	E2E_TOKEN_GROUP         the group of the users with a bootstrap token
//	E2E_KUBERNETES_VERSION  the cluster's version, in place of the objects'; may be empty
//	E2E_SETTINGS            a ConfigMap in the namespace default, whose settings win over those of the objects; may be empty
//	E2E_MANIFEST            a file with the manifest of all images; may be empty
//	E2E_SKIP_CHECK          "true" starts a machine although its image cannot do what the node needs
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch/bootstraptoken"
)

// version is set by the build. A newer one must change no node.
var version = "none"

func main() {
	fmt.Fprintln(os.Stderr, "slipway's version: "+version)
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if err := define(ctx); err != nil {
		return fmt.Errorf("define Karpenter's kinds: %w", err)
	}
	karpenter.Register(scheme.Scheme)
	ctx, op := operator.NewOperator()
	refresh := refreshOf(os.Getenv("E2E_OBJECTS"), os.Getenv("E2E_KUBERNETES_VERSION"), os.Getenv("E2E_SETTINGS"))
	inputs, err := refresh.Read(ctx, op.GetAPIReader())
	if err != nil {
		return err
	}
	if err := errors.Join(readTypes(&inputs, os.Getenv("E2E_INSTANCE_TYPES")), readManifest(&inputs, os.Getenv("E2E_MANIFEST"))); err != nil {
		return err
	}
	serverTime, err := karpenter.ServerDate(op.GetConfig())
	if err != nil {
		return err
	}
	provider, err := karpenter.New(karpenter.Options{
		Client: op.GetClient(), Reader: op.GetAPIReader(), Recorder: op.EventRecorder, Clock: op.Clock, ServerTime: serverTime,
		Machines: newMachines(os.Getenv("E2E_MACHINES")), Inputs: inputs, Refresh: refresh, SkipCheck: os.Getenv("E2E_SKIP_CHECK") == "true",
		Tokens: bootstraptoken.Policy{Groups: []string{os.Getenv("E2E_TOKEN_GROUP")}},
	})
	if err != nil {
		return err
	}
	decorated := overlay.Decorate(provider, op.GetClient(), op.InstanceTypeStore)
	repairs, err := health.NewRepairPolicyMatcher(ctx, decorated)
	if err != nil {
		return err
	}
	cluster := state.NewCluster(op.Clock, op.GetClient(), decorated, state.WithRepairPolicyMatcher(repairs))
	op.
		WithControllers(ctx, controllers.NewControllers(ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, decorated, provider,
			cluster, op.InstanceTypeStore, op.PredictionStore, controllers.WithRegistrationHook(provider.RegistrationHook()))...).
		WithControllers(ctx, provider.Controllers()...).
		Start(ctx)
	return nil
}
