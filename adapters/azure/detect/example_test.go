package detect_test

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
)

// An autoscaler detects its cluster's facts at its start and at intervals. Each fact that cannot be found is an error; the other
// facts are returned. Here a fake of Azure answers, so the credential and the transport are a test's.
func Example() {
	transport := fakeazure.Example(fakeazure.Kubeconfig("https://api.example.com:443", "no certificate", "token"))
	azure := &detect.Azure{
		Credential: new(azfake.TokenCredential), // azidentity.NewDefaultAzureCredential makes one
		Options:    &arm.ClientOptions{ClientOptions: policy.ClientOptions{Cloud: detect.Clouds()[0].Config, Transport: transport}},
		Now:        fakeazure.Noon,
	}
	cluster := detect.Cluster{Subscription: fakeazure.Subscription, ResourceGroup: "example-rg", Name: "example"}
	ctx := context.Background()

	found, err := azure.Cluster(ctx, cluster)
	fmt.Println(found.KubernetesVersion.Value, found.KubernetesVersion.Source, found.KubernetesVersion.Time)
	fmt.Println(err)

	settings, err := azure.Settings(ctx, cluster, found)
	fmt.Println(settings.Data["cluster-endpoint"], settings.Data["network-plugin-mode"], err)

	images, err := azure.Images(ctx, cluster.Subscription, "eastus", detect.AKSGalleries()...)
	fmt.Println(len(images.Images), err)
	// Output:
	// 1.34.2 managed cluster example of the resource group example-rg 2026-11-25T12:00:00Z
	// certificateAuthority: the kubeconfig of the managed cluster: certificate-authority-data: is not a PEM certificate
	// https://example-dns-0123456789abcdefghijk.hcp.eastus.azmk8s.io:443 overlay <nil>
	// 7 <nil>
}
