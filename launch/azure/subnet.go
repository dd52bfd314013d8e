package azure

import (
	"errors"
	"strings"
)

// Subnet is a subnet's ID in Azure's resource manager, in its parts.
type Subnet struct{ Subscription, ResourceGroup, VNet, Name string }

// errSubnet says what a subnet's ID is.
var errSubnet = errors.New("is not the ID of a subnet; want /subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Network/virtualNetworks/NAME/subnets/NAME")

// ParseSubnet reads a subnet's ID. The words between the names may be in any case, as in Azure.
func ParseSubnet(id string) (Subnet, error) {
	parts := strings.Split(id, "/")
	want := []string{"", "subscriptions", "*", "resourceGroups", "*", "providers", "Microsoft.Network", "virtualNetworks", "*", "subnets", "*"}
	if len(parts) != len(want) {
		return Subnet{}, errSubnet
	}
	for i, word := range want {
		if word == "*" && !isResourceName(parts[i]) || word != "*" && !strings.EqualFold(parts[i], word) {
			return Subnet{}, errSubnet
		}
	}
	if group := parts[4]; len(group) > 90 || strings.HasSuffix(group, ".") {
		return Subnet{}, errors.New("has the name of a resource group that Azure refuses: at most 90 characters, and no dot at the end")
	}
	return Subnet{parts[2], parts[4], parts[8], parts[10]}, nil
}

// isResourceName is a name of Azure's: letters of any alphabet are possible in a resource group, but not here, because the
// name is in files of the node.
func isResourceName(s string) bool {
	for i := range len(s) {
		letter := s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z'
		if !letter && (s[i] < '0' || s[i] > '9') && strings.IndexByte("-_.()", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// same reports whether two IDs are of one subnet. Azure compares names without case.
func (s Subnet) same(other Subnet) bool {
	return s.sameNetwork(other) && strings.EqualFold(s.Name, other.Name)
}

// sameNetwork reports whether two subnets are of one virtual network.
func (s Subnet) sameNetwork(other Subnet) bool {
	return strings.EqualFold(s.Subscription, other.Subscription) && strings.EqualFold(s.ResourceGroup, other.ResourceGroup) && strings.EqualFold(s.VNet, other.VNet)
}
