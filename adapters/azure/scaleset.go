package azure

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// ScaleSet returns a scale set of capacity machines of the launch. All have the same user data, and so the same token: once it has
// expired, the scale set cannot grow. Azure makes exactly as many machines as wanted, without overprovisioning, and they keep their
// model until the user upgrades them, as in AKS's own scale sets.
func (m *Machine) ScaleSet(capacity int64) (*armcompute.VirtualMachineScaleSet, error) {
	c, err := m.check(mostPrefix)
	if err != nil {
		return nil, err
	}
	if capacity < 0 {
		return nil, fmt.Errorf("a scale set of %d machines; want 0 or more", capacity)
	}
	price := c.price()
	set := &armcompute.VirtualMachineScaleSet{
		Location: c.location(), Tags: c.tags(), Zones: c.zones(),
		SKU: &armcompute.SKU{Name: new(c.document.Machine.Type.Name), Tier: new("Standard"), Capacity: new(capacity)},
		Properties: &armcompute.VirtualMachineScaleSetProperties{
			AdditionalCapabilities: c.additional(), Overprovision: new(false), SinglePlacementGroup: new(false),
			UpgradePolicy: &armcompute.UpgradePolicy{Mode: new(armcompute.UpgradeModeManual)},
			VirtualMachineProfile: &armcompute.VirtualMachineScaleSetVMProfile{
				StorageProfile: &armcompute.VirtualMachineScaleSetStorageProfile{ImageReference: c.image, OSDisk: c.scaleSetDisk()},
				NetworkProfile: &armcompute.VirtualMachineScaleSetNetworkProfile{
					NetworkInterfaceConfigurations: []*armcompute.VirtualMachineScaleSetNetworkConfiguration{c.scaleSetInterface()},
				},
				OSProfile: &armcompute.VirtualMachineScaleSetOSProfile{
					ComputerNamePrefix: new(c.Name), AdminUsername: new(c.document.Machine.AdminUser),
					CustomData: new(c.userData), LinuxConfiguration: c.linux(),
				},
				SecurityProfile: c.security(),
				Priority:        price.priority, EvictionPolicy: price.eviction, BillingProfile: price.billing,
			},
		},
	}
	if c.command != "" {
		set.Properties.VirtualMachineProfile.ExtensionProfile = &armcompute.VirtualMachineScaleSetExtensionProfile{
			Extensions: []*armcompute.VirtualMachineScaleSetExtension{ScaleSetExtension(c.command)},
		}
	}
	if identities := c.identities(); identities != nil {
		set.Identity = &armcompute.VirtualMachineScaleSetIdentity{
			Type: new(armcompute.ResourceIdentityTypeUserAssigned), UserAssignedIdentities: identities,
		}
	}
	return set, nil
}

// scaleSetDisk is [checked.disk] of each machine. Azure names it, and deletes it with its machine.
func (c *checked) scaleSetDisk() *armcompute.VirtualMachineScaleSetOSDisk {
	one := c.disk()
	disk := &armcompute.VirtualMachineScaleSetOSDisk{
		CreateOption: one.CreateOption, DiskSizeGB: one.DiskSizeGB, DiffDiskSettings: one.DiffDiskSettings, Caching: one.Caching,
	}
	if one.ManagedDisk != nil {
		disk.ManagedDisk = &armcompute.VirtualMachineScaleSetManagedDiskParameters{DiskEncryptionSet: one.ManagedDisk.DiskEncryptionSet}
	}
	return disk
}
