package azure_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	sdk "github.com/slipway-dev/slipway/adapters/azure"
	"github.com/slipway-dev/slipway/api/aksnodeconfig/nodeconfigutils"
	exampleContracts "github.com/slipway-dev/slipway/examples"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// placements are the SDK's.
func placements() []armcompute.DiffDiskPlacement { return armcompute.PossibleDiffDiskPlacementValues() }

// scaleSet is the model that a program for AKS makes from its own configuration: custom data, and the extension that waits.
func scaleSet() (*armcompute.VirtualMachineScaleSet, error) {
	config, err := nodeconfigutils.UnmarshalConfigurationV1(exampleContracts.Contract("aks"))
	if err != nil {
		return nil, err
	}
	customData, err := nodeconfigutils.CustomData(config)
	if err != nil {
		return nil, err
	}
	return &armcompute.VirtualMachineScaleSet{
		Properties: &armcompute.VirtualMachineScaleSetProperties{
			VirtualMachineProfile: &armcompute.VirtualMachineScaleSetVMProfile{
				OSProfile: &armcompute.VirtualMachineScaleSetOSProfile{CustomData: &customData},
				ExtensionProfile: &armcompute.VirtualMachineScaleSetExtensionProfile{
					Extensions: []*armcompute.VirtualMachineScaleSetExtension{{
						Name: to.Ptr("vmssCSE"),
						Properties: &armcompute.VirtualMachineScaleSetExtensionProperties{
							Publisher:               to.Ptr("Microsoft.Azure.Extensions"),
							Type:                    to.Ptr("CustomScript"),
							TypeHandlerVersion:      to.Ptr("2.0"),
							AutoUpgradeMinorVersion: to.Ptr(true),
							Settings:                map[string]any{},
							ProtectedSettings:       map[string]any{"commandToExecute": nodeconfigutils.CSE},
						},
					}},
				},
			},
		},
	}, nil
}

// A scale set as AKS's programs make it from their own node configuration.
func ExampleScaleSetExtension() {
	model, err := scaleSet()
	if err != nil {
		fmt.Println(err)
		return
	}
	// The same extension, in one call.
	profile := model.Properties.VirtualMachineProfile
	profile.ExtensionProfile.Extensions = []*armcompute.VirtualMachineScaleSetExtension{sdk.ScaleSetExtension(nodeconfigutils.CSE)}
	shown, err := json.MarshalIndent(profile.ExtensionProfile, "", "  ")
	fmt.Println(string(shown), err)
	fmt.Println(len(*profile.OSProfile.CustomData) > 100)
	// Output:
	// {
	//   "extensions": [
	//     {
	//       "name": "vmssCSE",
	//       "properties": {
	//         "autoUpgradeMinorVersion": true,
	//         "protectedSettings": {
	//           "commandToExecute": "/opt/azure/containers/aks-node-controller provision-wait"
	//         },
	//         "publisher": "Microsoft.Azure.Extensions",
	//         "settings": {},
	//         "type": "CustomScript",
	//         "typeHandlerVersion": "2.0"
	//       }
	//     }
	//   ]
	// } <nil>
	// true
}

// The example's model has the values that the package makes.
func TestScaleSetExtension(t *testing.T) {
	model, err := scaleSet()
	if err != nil {
		t.Fatal(err)
	}
	want := model.Properties.VirtualMachineProfile.ExtensionProfile.Extensions[0]
	if got := sdk.ScaleSetExtension(nodeconfigutils.CSE); !reflect.DeepEqual(got, want) {
		t.Errorf("%s, want %s", marshal(t, got), marshal(t, want))
	}
}

// exampleFile reads one of the module's examples, as a program reads the objects of its cluster.
func exampleFile(name string) []byte {
	data, err := os.ReadFile("../../examples/launch/" + name)
	if err != nil {
		panic(err)
	}
	return data
}

// A claim becomes a template, and the template becomes the models that the SDK's clients send: the interface first, then the
// machine, then its extension.
func ExampleMachine() {
	var in azure.Input
	in.Settings, _ = azure.Reload(nil, azure.SettingsSource{Name: "settings.yaml", Document: exampleFile("settings.yaml")})
	in.Class, _ = azure.ReadNodeClass(exampleFile("nodeclass.yaml"))
	in.Detected, _ = azure.ReadDetected(exampleFile("detected.yaml"))
	in.Images, _ = azure.ReadImages(exampleFile("images.yaml"))
	in.Type, _ = azure.KnownInstanceType("Standard_D4ds_v5")
	claim := new(launch.NodeClaim)
	problems := launch.Read(exampleFile("nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim)
	template := launch.Render(&in, launch.Request{Claim: claim})
	found := template.Problems()
	if fatal := nodeconfig.Fatal(append(problems, found...)); len(fatal) > 0 {
		fmt.Println(fatal)
		return
	}
	m := sdk.Machine{Launch: template, Token: nodeconfig.NewSecret("abcdef.0123456789abcdef"), Name: "aks-" + claim.Metadata.Name}
	nic, err := m.Interface()
	if err != nil {
		fmt.Println(err)
		return
	}
	machine, err := m.VirtualMachine()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*nic.Properties.IPConfigurations[0].Properties.Subnet.ID)
	fmt.Println(*machine.Properties.HardwareProfile.VMSize, *machine.Zones[0], *machine.Properties.StorageProfile.OSDisk.DiskSizeGB)
	// Output:
	// /subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/network-rg/providers/Microsoft.Network/virtualNetworks/example-vnet/subnets/nodes
	// Standard_D4ds_v5 2 100
}
