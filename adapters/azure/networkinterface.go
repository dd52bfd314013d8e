package azure

import (
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"
)

// The kinds of resources that a model names by their IDs.
const (
	kindInterface     = "Microsoft.Network/networkInterfaces"
	kindSecurityGroup = "Microsoft.Network/networkSecurityGroups"
)

// Interface returns the network interface of the machine. Create it before the machine, with the machine's name.
func (m *Machine) Interface() (*armnetwork.Interface, error) {
	c, err := m.check(mostName)
	if err != nil {
		return nil, err
	}
	network := &c.document.Machine.Network
	properties := &armnetwork.InterfacePropertiesFormat{EnableAcceleratedNetworking: copied(network.Accelerated)}
	if network.SecurityGroup != "" {
		properties.NetworkSecurityGroup = &armnetwork.SecurityGroup{ID: c.id(kindSecurityGroup, network.SecurityGroup)}
	}
	for i := range c.addresses() {
		address := &armnetwork.InterfaceIPConfigurationPropertiesFormat{
			Primary:                   new(i == 0),
			PrivateIPAddressVersion:   new(armnetwork.IPVersionIPv4),
			PrivateIPAllocationMethod: new(armnetwork.IPAllocationMethodDynamic),
			Subnet:                    &armnetwork.Subnet{ID: new(network.Subnet)},
		}
		if i == 0 {
			for _, pool := range c.pools() {
				address.LoadBalancerBackendAddressPools = append(address.LoadBalancerBackendAddressPools, &armnetwork.BackendAddressPool{ID: new(pool)})
			}
		}
		properties.IPConfigurations = append(properties.IPConfigurations, &armnetwork.InterfaceIPConfiguration{Name: addressName(i), Properties: address})
	}
	return &armnetwork.Interface{Location: c.location(), Tags: c.tags(), Properties: properties}, nil
}

// addresses is the number of the interface's addresses: the machine's own, and in a network without an overlay those of its pods.
func (c *checked) addresses() int { return int(max(c.document.Machine.Network.Addresses, 1)) }

// addressName is AKS's name for an address of a node's interface.
func addressName(i int) *string { return new("ipconfig" + strconv.Itoa(i+1)) }

// scaleSetInterface is the interface of each machine of a scale set.
func (c *checked) scaleSetInterface() *armcompute.VirtualMachineScaleSetNetworkConfiguration {
	network := &c.document.Machine.Network
	properties := &armcompute.VirtualMachineScaleSetNetworkConfigurationProperties{
		Primary:                     new(true),
		EnableAcceleratedNetworking: copied(network.Accelerated),
	}
	if network.SecurityGroup != "" {
		properties.NetworkSecurityGroup = &armcompute.SubResource{ID: c.id(kindSecurityGroup, network.SecurityGroup)}
	}
	for i := range c.addresses() {
		address := &armcompute.VirtualMachineScaleSetIPConfigurationProperties{
			Primary:                 new(i == 0),
			PrivateIPAddressVersion: new(armcompute.IPVersionIPv4),
			Subnet:                  &armcompute.APIEntityReference{ID: new(network.Subnet)},
		}
		if i == 0 {
			for _, pool := range c.pools() {
				address.LoadBalancerBackendAddressPools = append(address.LoadBalancerBackendAddressPools, &armcompute.SubResource{ID: new(pool)})
			}
		}
		properties.IPConfigurations = append(properties.IPConfigurations, &armcompute.VirtualMachineScaleSetIPConfiguration{Name: addressName(i), Properties: address})
	}
	return &armcompute.VirtualMachineScaleSetNetworkConfiguration{Name: new(c.Name), Properties: properties}
}
