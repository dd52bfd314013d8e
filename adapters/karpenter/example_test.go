package karpenter_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// azureInput is the input of package launch, for the first instance type.
func azureInput(t testing.TB, in karpenter.Inputs) *azure.Input {
	t.Helper()
	document, err := classOf(t, "").Document()
	if err != nil {
		t.Fatal(err)
	}
	class, _ := azure.ReadNodeClass(document)
	return &azure.Input{Settings: in.Settings, Class: class, Type: &in.Types[0], Images: in.Images, Detected: in.Detected}
}

// Karpenter with Slipway's machines: Karpenter's own operator and controllers, and the provider's, as in Karpenter's own example of
// a provider. The program reads settings and facts of the cluster again while it runs.
func Example() {
	karpenter.Register(scheme.Scheme)
	ctx, op := operator.NewOperator()
	refresh := &karpenter.Refresh{
		ConfigMap: types.NamespacedName{Namespace: "kube-system", Name: "karpenter-global-settings"},
		Settings:  yourEnvironment,
		Detect:    yourDetection,
		Images:    yourImages,
	}
	inputs, err := refresh.Read(ctx, op.GetAPIReader())
	if err != nil {
		fail(err)
	}
	serverTime, err := karpenter.ServerDate(op.GetConfig())
	if err != nil {
		fail(err)
	}
	provider, err := karpenter.New(karpenter.Options{
		Client: op.GetClient(), Reader: op.GetAPIReader(), Recorder: op.EventRecorder, Clock: op.Clock, ServerTime: serverTime,
		Machines: yourMachines(), Inputs: inputs, Refresh: refresh,
	})
	if err != nil {
		fail(err)
	}
	decorated := overlay.Decorate(provider, op.GetClient(), op.InstanceTypeStore)
	repairs, err := health.NewRepairPolicyMatcher(ctx, decorated)
	if err != nil {
		fail(err)
	}
	cluster := state.NewCluster(op.Clock, op.GetClient(), decorated, state.WithRepairPolicyMatcher(repairs))
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, decorated, provider, cluster, op.InstanceTypeStore,
		op.PredictionStore, controllers.WithRegistrationHook(provider.RegistrationHook()),
	)...)
	op.WithControllers(ctx, provider.Controllers()...).Start(ctx)
}

// fail ends the program.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// yourMachines is a cloud.
func yourMachines() karpenter.Machines { return new(cloud) }

// yourEnvironment has the settings that are not in the ConfigMap.
func yourEnvironment(context.Context) ([]azure.SettingsSource, error) {
	return []azure.SettingsSource{{Name: "environment", Variables: map[string]string{"LOCATION": os.Getenv("LOCATION")}}}, nil
}

// yourDetection reads the cluster and its cloud, as package adapters/azure/detect does (Azure.Cluster, Kubernetes.Detect).
func yourDetection(context.Context) (*azure.Detected, error) { return new(azure.Detected), nil }

// yourImages lists the images of the region, as package adapters/azure/detect does (Azure.Images).
func yourImages(context.Context) (*azure.Images, error) { return new(azure.Images), nil }

// The interfaces of Karpenter's provider for Azure that make a machine's custom data (pkg/providers/imagefamily: bootstrap and
// customscriptsbootstrap).
type (
	azureBootstrapper interface {
		Script() (string, error)
	}
	azureCustomScripts interface {
		GetCustomDataAndCSE(ctx context.Context) (customData, cse string, err error)
	}
)

// azureImageFamily is an image family of Karpenter's provider for Azure, whose images have Slipway. The provider calls both methods
// where it has resolved class, claim and instance type; the template and the token are from package launch.
type azureImageFamily struct {
	template *launch.Launch
	token    nodeconfig.Secret
}

// ScriptlessCustomData is for the mode aksscriptless.
func (f azureImageFamily) ScriptlessCustomData() azureBootstrapper {
	return karpenter.Bootstrapper{Launch: f.template, Token: f.token}
}

// CustomScriptsNodeBootstrapping is for the mode bootstrappingclient.
func (f azureImageFamily) CustomScriptsNodeBootstrapping() azureCustomScripts {
	return karpenter.Bootstrapper{Launch: f.template, Token: f.token}
}

// In Karpenter's provider for Azure, Slipway replaces the provider's bootstrappers; the rest of the provider stays as it is.
func ExampleBootstrapper() {
	in, claim := exampleLaunch()
	template := launch.Render(in, launch.Request{Claim: claim})
	problems := template.Problems()
	for _, p := range nodeconfig.Fatal(problems) {
		fmt.Println(p)
	}
	family := azureImageFamily{template, nodeconfig.NewSecret("abcdef.0123456789abcdef")}
	customData, err := family.ScriptlessCustomData().Script()
	fmt.Println(len(customData) > 1000, err)
	_, cse, err := family.CustomScriptsNodeBootstrapping().GetCustomDataAndCSE(context.Background())
	fmt.Println(cse, err)
	// Output:
	// true <nil>
	// /opt/slipway/bin/slipway-node provision-wait <nil>
}

// exampleLaunch is the provider's input for a launch.
func exampleLaunch() (*azure.Input, *launch.NodeClaim) {
	file := func(name string) []byte {
		data, err := os.ReadFile(examples + "/" + name)
		if err != nil {
			fail(err)
		}
		return data
	}
	in, claim := new(azure.Input), new(launch.NodeClaim)
	launch.Read(file("nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim)
	in.Settings, _ = azure.Reload(nil, azure.SettingsSource{Name: "settings.yaml", Document: file("settings.yaml")})
	in.Class, _ = azure.ReadNodeClass(file("nodeclass.yaml"))
	in.Detected, _ = azure.ReadDetected(file("detected.yaml"))
	in.Images, _ = azure.ReadImages(file("images.yaml"))
	var err error
	if in.Type, err = karpenter.InstanceTypeOf(yourInstanceType()); err != nil {
		fail(err)
	}
	return in, claim
}

// yourInstanceType is one as the provider has it.
func yourInstanceType() *cloudprovider.InstanceType {
	in := func(key string, values ...string) *scheduling.Requirement {
		return scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, values...)
	}
	return &cloudprovider.InstanceType{Name: "Standard_D4ds_v5", Requirements: scheduling.NewRequirements(
		in("kubernetes.io/arch", "amd64"), in("karpenter.azure.com/sku-cpu", "4"), in("karpenter.azure.com/sku-memory", "16384"),
		in("karpenter.azure.com/sku-hyperv-generation", "1", "2"), in("topology.kubernetes.io/zone", "eastus-1", "eastus-2"),
		in("karpenter.azure.com/sku-networking-accelerated", "true"), in("karpenter.azure.com/sku-storage-premium-capable", "true"),
		scheduling.NewRequirement("karpenter.azure.com/sku-gpu-count", corev1.NodeSelectorOpDoesNotExist),
	)}
}
