package fakeazure

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"
)

// The content of [Example].
const (
	Subscription = "22222222-2222-2222-2222-222222222222"
	NodeGroup    = "MC_example_example_eastus"
	Subnet       = "/subscriptions/" + Subscription + "/resourceGroups/network-rg/providers/Microsoft.Network/virtualNetworks/example-vnet/subnets/nodes"
	// Ubuntu and Linux are the galleries of AKS's images.
	Ubuntu = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2"
	Linux  = "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b"
)

// The nodes' settings.
const (
	tenant   = "11111111-1111-1111-1111-111111111111"
	identity = "/subscriptions/" + Subscription + "/resourceGroups/" + NodeGroup + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/example-agentpool"
	sshKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample ops@example.com"
)

// Noon is the time of all facts.
func Noon() time.Time { return time.Date(2026, 11, 25, 13, 0, 0, 0, time.FixedZone("CET", 3600)) }

// Day is the start of a day of 2026.
func Day(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC)
}

// Example is the cluster of package launch's own examples, in the user's own network, in a region with some of AKS's images.
func Example(kubeconfig []byte) *Cloud {
	return &Cloud{
		Cluster: &armcontainerservice.ManagedCluster{Location: new("eastus"), Identity: &armcontainerservice.ManagedClusterIdentity{TenantID: new(tenant)}, Properties: &armcontainerservice.ManagedClusterProperties{
			CurrentKubernetesVersion: new("1.34.2"), KubernetesVersion: new("1.34"), NodeResourceGroup: new(NodeGroup),
			Fqdn: new("example-dns-0123456789abcdefghijk.hcp.eastus.azmk8s.io"),
			IdentityProfile: map[string]*armcontainerservice.UserAssignedIdentity{"kubeletidentity": {
				ClientID: new("33333333-3333-3333-3333-333333333333"), ResourceID: new(identity),
			}},
			LinuxProfile: &armcontainerservice.LinuxProfile{
				AdminUsername: new("azureuser"),
				SSH:           &armcontainerservice.SSHConfiguration{PublicKeys: []*armcontainerservice.SSHPublicKey{{KeyData: new(sshKey + "\n")}}},
			},
			AgentPoolProfiles: []*armcontainerservice.ManagedClusterAgentPoolProfile{
				{Name: new("system"), VnetSubnetID: new(Subnet)}, {Name: new("user"), VnetSubnetID: new(strings.ToLower(Subnet))},
			},
			NetworkProfile: &armcontainerservice.NetworkProfile{
				NetworkPlugin: new(armcontainerservice.NetworkPluginAzure), NetworkPluginMode: new(armcontainerservice.NetworkPluginModeOverlay),
				NetworkPolicy: new(armcontainerservice.NetworkPolicyCilium), NetworkDataplane: new(armcontainerservice.NetworkDataplaneCilium),
				DNSServiceIP: new("10.0.0.10"), ServiceCidr: new("10.0.0.0/16"), ServiceCidrs: []*string{new("10.0.0.0/16"), new("fd12:3456:789a::/108")},
			},
		}},
		Kubeconfig:     kubeconfig,
		SecurityGroups: [][]string{{"bastion-nsg"}, {"aks-agentpool-36065932-nsg"}, {"another-nsg"}},
		RouteTables:    [][]string{{"egress"}, {"aks-agentpool-36065932-routetable"}},
		Networks: [][]*armnetwork.VirtualNetwork{{{
			Name: new("example-vnet"), Properties: &armnetwork.VirtualNetworkPropertiesFormat{ResourceGUID: new("44444444-4444-4444-4444-444444444444")},
		}}},
		PageSize: 2,
		Galleries: map[string]Gallery{
			"eastus/" + Ubuntu: {
				"2404gen2containerd": {
					{Name: "202609.10.0", Published: Day(9, 11)}, {Name: "202608.12.0", Published: Day(8, 13)},
					{Name: "202610.01.0", Published: Day(10, 2), Excluded: true}, {Name: "202608.9.0"}, {Name: "202611.05.0", Published: Day(11, 6)},
				},
				"2204gen2containerd": {{Name: "202608.12.0", Published: Day(8, 13)}},
				"1804gen2containerd": {{Name: "202401.01.0", Published: Day(1, 1)}},
				"2404containerd":     nil,
			},
			"eastus/" + Linux: {
				"V3gen2":     {{Name: "202609.10.0", Published: Day(9, 11)}},
				"v3GEN2FIPS": {{Name: "202609.10.0", Published: Day(9, 11)}},
			},
			"westus/" + Linux: {"V3gen2": nil},
		},
		Answers: make(map[string][]Answer),
	}
}

// Kubeconfig is a kubeconfig for a server, with its CA and a token.
func Kubeconfig(server, authority, token string) []byte {
	data, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "example",
		"contexts": []any{map[string]any{"name": "example", "context": map[string]any{"cluster": "c", "user": "u"}}},
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": server, "certificate-authority-data": []byte(authority)}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": token}}},
	})
	if err != nil {
		panic(err)
	}
	return data
}
