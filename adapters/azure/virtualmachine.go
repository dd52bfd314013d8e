package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// VirtualMachine returns the machine, with the interface of [Machine.Interface]. Azure deletes disk and interface with the machine.
func (m *Machine) VirtualMachine() (*armcompute.VirtualMachine, error) {
	c, err := m.check(mostName)
	if err != nil {
		return nil, err
	}
	price := c.price()
	machine := &armcompute.VirtualMachine{
		Location: c.location(), Tags: c.tags(), Zones: c.zones(),
		Properties: &armcompute.VirtualMachineProperties{
			HardwareProfile: &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes(c.document.Machine.Type.Name))},
			StorageProfile:  &armcompute.StorageProfile{ImageReference: c.image, OSDisk: c.disk()},
			NetworkProfile: &armcompute.NetworkProfile{NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{
				ID: c.id(kindInterface, c.Name),
				Properties: &armcompute.NetworkInterfaceReferenceProperties{
					Primary: new(true), DeleteOption: new(armcompute.DeleteOptionsDelete),
				},
			}}},
			OSProfile: &armcompute.OSProfile{
				ComputerName: new(c.Name), AdminUsername: new(c.document.Machine.AdminUser),
				CustomData: new(c.userData), LinuxConfiguration: c.linux(),
			},
			AdditionalCapabilities: c.additional(), SecurityProfile: c.security(),
			Priority: price.priority, EvictionPolicy: price.eviction, BillingProfile: price.billing,
		},
	}
	if identities := c.identities(); identities != nil {
		machine.Identity = &armcompute.VirtualMachineIdentity{
			Type: new(armcompute.ResourceIdentityTypeUserAssigned), UserAssignedIdentities: identities,
		}
	}
	return machine, nil
}

// disk is the OS disk. A disk on the host is cached there, and Azure requires the model to state that (Azure: Ephemeral OS disks).
func (c *checked) disk() *armcompute.OSDisk {
	wanted := &c.document.Machine.Disk
	disk := &armcompute.OSDisk{
		Name: new(c.Name), CreateOption: new(armcompute.DiskCreateOptionTypesFromImage),
		DeleteOption: new(armcompute.DiskDeleteOptionTypesDelete), DiskSizeGB: new(wanted.SizeGB),
	}
	if settings := c.onHost(); settings != nil {
		disk.DiffDiskSettings, disk.Caching = settings, new(armcompute.CachingTypesReadOnly)
	}
	if wanted.EncryptionSet != "" {
		disk.ManagedDisk = &armcompute.ManagedDiskParameters{DiskEncryptionSet: &armcompute.DiskEncryptionSetParameters{ID: new(wanted.EncryptionSet)}}
	}
	return disk
}

// onHost is where on the host the disk is. It is nil for a managed disk.
func (c *checked) onHost() *armcompute.DiffDiskSettings {
	disk := &c.document.Machine.Disk
	if disk.Ephemeral == nil || !*disk.Ephemeral {
		return nil
	}
	return &armcompute.DiffDiskSettings{Option: new(armcompute.DiffDiskOptionsLocal), Placement: new(armcompute.DiffDiskPlacement(disk.Placement))}
}

// linux has the user who may log in and the user's SSH key. A password is never accepted.
func (c *checked) linux() *armcompute.LinuxConfiguration {
	m := &c.document.Machine
	return &armcompute.LinuxConfiguration{
		DisablePasswordAuthentication: new(true),
		SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{{
			KeyData: new(string(m.SSHPublicKey)), Path: new("/home/" + m.AdminUser + "/.ssh/authorized_keys"),
		}}},
	}
}

// security is the machine's protection. It is nil if the launch states none.
func (c *checked) security() *armcompute.SecurityProfile {
	wanted := c.document.Machine.Security
	if !wanted.Trusted() && wanted.EncryptionAtHost == nil {
		return nil
	}
	profile := &armcompute.SecurityProfile{EncryptionAtHost: copied(wanted.EncryptionAtHost)}
	if wanted.Trusted() {
		profile.SecurityType = new(armcompute.SecurityTypesTrustedLaunch)
		profile.UefiSettings = &armcompute.UefiSettings{VTpmEnabled: copied(wanted.VTPM), SecureBootEnabled: copied(wanted.SecureBoot)}
	}
	return profile
}

// additional are the machine's capabilities beyond its type's usual disks, or nil.
func (c *checked) additional() *armcompute.AdditionalCapabilities {
	if ultra := c.document.Machine.UltraSSD; ultra == nil || !*ultra {
		return nil
	}
	return &armcompute.AdditionalCapabilities{UltraSSDEnabled: new(true)}
}

// pricing is the machine's price, and what happens when Azure evicts it.
type pricing struct {
	priority *armcompute.VirtualMachinePriorityTypes
	eviction *armcompute.VirtualMachineEvictionPolicyTypes
	billing  *armcompute.BillingProfile
}

// anyPrice is the maximum price of a spot machine that is never evicted because of its price (Azure: Spot Virtual Machines).
const anyPrice = -1

func (c *checked) price() pricing {
	if c.document.Machine.CapacityType != "spot" {
		return pricing{priority: new(armcompute.VirtualMachinePriorityTypesRegular)}
	}
	return pricing{
		new(armcompute.VirtualMachinePriorityTypesSpot), new(armcompute.VirtualMachineEvictionPolicyTypesDelete),
		&armcompute.BillingProfile{MaxPrice: new(float64(anyPrice))},
	}
}

// identities are those of the machine, by their IDs, or nil.
func (c *checked) identities() map[string]*armcompute.UserAssignedIdentitiesValue {
	if len(c.document.Machine.Identities) == 0 {
		return nil
	}
	all := make(map[string]*armcompute.UserAssignedIdentitiesValue)
	for _, id := range c.document.Machine.Identities {
		all[id] = new(armcompute.UserAssignedIdentitiesValue)
	}
	return all
}
