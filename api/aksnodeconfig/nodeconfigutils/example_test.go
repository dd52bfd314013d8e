package nodeconfigutils_test

import (
	"fmt"

	// Before, these were "github.com/Azure/agentbaker/aks-node-controller/pkg/gen/aksnodeconfig/v1" and
	// "github.com/Azure/agentbaker/aks-node-controller/pkg/nodeconfigutils". Nothing else changes.
	"github.com/slipway-dev/slipway/api/aksnodeconfig/nodeconfigutils"
	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"

	"github.com/slipway-dev/slipway/examples"
)

// configuration is a provisioner's configuration for its node.
func configuration() *aksnodeconfigv1.Configuration {
	cfg, err := nodeconfigutils.UnmarshalConfigurationV1(examples.Contract("aks"))
	if err != nil {
		panic(err)
	}
	cfg.KubeletConfig = &aksnodeconfigv1.KubeletConfig{KubeletNodeLabels: map[string]string{"team": "blue"}}
	return cfg
}

// A program that used AKS's own helper package changes its imports.
func Example() {
	cfg := configuration()
	customData, err := nodeconfigutils.CustomData(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("customData:", customData[:24]+"...")
	fmt.Println("commandToExecute:", nodeconfigutils.CSE)
	// Output:
	// customData: TUlNRS1WZXJzaW9uOiAxLjAN...
	// commandToExecute: /opt/azure/containers/aks-node-controller provision-wait
}

// For Flatcar, custom data is an Ignition config.
func ExampleCustomDataFlatcar() {
	customData, err := nodeconfigutils.CustomDataFlatcar(configuration())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("customData:", customData[:24]+"...")
	// Output:
	// customData: eyJpZ25pdGlvbiI6eyJ2ZXJz...
}

// All problems are known before the machine exists.
func ExampleValidate() {
	fmt.Println(nodeconfigutils.Validate(&aksnodeconfigv1.Configuration{
		Version:             "v1",
		KubernetesVersion:   "1.36.3",
		ApiServerConfig:     &aksnodeconfigv1.ApiServerConfig{ApiServerName: "api.example"},
		BootstrappingConfig: &aksnodeconfigv1.BootstrappingConfig{TlsBootstrappingToken: new("abcdef.0123456789abcdef")},
	}))
	// Output:
	// no node can be made of this configuration: $.kubernetes_ca_cert: is missing; give the cluster's CA certificate, as PEM or the base64 of it
}
