package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// The extension that waits for the node and returns its result, as on AKS's nodes (aks-node-controller: README, Usage).
const (
	ExtensionName      = "vmssCSE"
	extensionPublisher = "Microsoft.Azure.Extensions"
	extensionType      = "CustomScript"
	extensionVersion   = "2.0"
	commandToExecute   = "commandToExecute"
)

// protected are the settings that Azure never shows.
func protected(command string) map[string]any { return map[string]any{commandToExecute: command} }

// Extension returns the machine's extension, which is created after the machine, with the name [ExtensionName]. It is nil for a
// machine without one, see [Machine.Script].
func (m *Machine) Extension() (*armcompute.VirtualMachineExtension, error) {
	c, err := m.check(mostName)
	if err != nil || c.command == "" {
		return nil, err
	}
	return &armcompute.VirtualMachineExtension{
		Location: c.location(), Tags: c.tags(),
		Properties: &armcompute.VirtualMachineExtensionProperties{
			Publisher:               new(extensionPublisher),
			Type:                    new(extensionType),
			TypeHandlerVersion:      new(extensionVersion),
			AutoUpgradeMinorVersion: new(true),
			Settings:                map[string]any{},
			ProtectedSettings:       protected(c.command),
		},
	}, nil
}

// ScaleSetExtension returns the extension of a scale set for a command: that of
// [github.com/slipway-dev/slipway/userdata.Contract.CSE]. It is for programs that make the rest of the model themselves.
func ScaleSetExtension(command string) *armcompute.VirtualMachineScaleSetExtension {
	return &armcompute.VirtualMachineScaleSetExtension{
		Name: new(ExtensionName),
		Properties: &armcompute.VirtualMachineScaleSetExtensionProperties{
			Publisher:               new(extensionPublisher),
			Type:                    new(extensionType),
			TypeHandlerVersion:      new(extensionVersion),
			AutoUpgradeMinorVersion: new(true),
			Settings:                map[string]any{},
			ProtectedSettings:       protected(command),
		},
	}
}
