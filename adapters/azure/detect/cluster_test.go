package detect_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
	"github.com/slipway-dev/slipway/launch/azure"
)

// All facts of a cluster, each with source and time. Lists come in pages.
func TestCluster(t *testing.T) {
	c := cloud(t)
	found, err := ask(c).Cluster(t.Context(), example)
	if err != nil {
		t.Fatal(err)
	}
	readable(t, found, detected)
	golden(t, "cluster.json", found)
	again, err := ask(cloud(t)).Cluster(t.Context(), example)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "cluster.json", again)
	for _, path := range c.Asked() {
		if !strings.HasPrefix(path, "/subscriptions/"+subscription+"/") {
			t.Errorf("%s was asked for", path)
		}
	}
}

// managed makes the cluster use the network that AKS makes if the user has none.
func managed(c *fakeazure.Cloud, subnets ...string) {
	for _, pool := range c.Cluster.Properties.AgentPoolProfiles {
		pool.VnetSubnetID = nil
	}
	v := &armnetwork.VirtualNetwork{Name: new("aks-vnet-36065932"), Properties: &armnetwork.VirtualNetworkPropertiesFormat{
		ResourceGUID: new("55555555-5555-5555-5555-555555555555"),
	}}
	for _, name := range subnets {
		v.Properties.Subnets = append(v.Properties.Subnets, &armnetwork.Subnet{ID: new(madeSubnet(name))})
	}
	c.Networks = [][]*armnetwork.VirtualNetwork{{v}}
}

// madeSubnet is the ID of a subnet of that network.
func madeSubnet(name string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + nodeGroup + "/providers/Microsoft.Network/virtualNetworks/aks-vnet-36065932/subnets/" + name
}

func TestManagedNetwork(t *testing.T) {
	c := cloud(t)
	managed(c, "aks-subnet")
	found, err := ask(c).Cluster(t.Context(), example)
	if err != nil {
		t.Fatal(err)
	}
	if s := found.SubnetID; s.Value != madeSubnet("aks-subnet") || s.Confidence != "likely" || s.Source != "virtual networks of the node resource group "+nodeGroup {
		t.Errorf("the subnet is %+v", s)
	}
	if found.VNetGUID.Value != "55555555-5555-5555-5555-555555555555" {
		t.Errorf("the network is %+v", found.VNetGUID)
	}
}

// The user's own network can be in another subscription.
func TestNetworkOfAnotherSubscription(t *testing.T) {
	c := cloud(t)
	const other = "66666666-6666-6666-6666-666666666666"
	for _, pool := range c.Cluster.Properties.AgentPoolProfiles {
		pool.VnetSubnetID = new(strings.Replace(nodes, subscription, other, 1))
	}
	found, err := ask(c).Cluster(t.Context(), example)
	if err != nil {
		t.Fatal(err)
	}
	if found.VNetGUID == nil {
		t.Error("the network's own identifier is not known")
	}
	asked := c.Asked()
	if last := asked[len(asked)-1]; !strings.HasPrefix(last, "/subscriptions/"+other+"/resourceGroups/network-rg/") {
		t.Errorf("%s was asked for", last)
	}
}

type properties = armcontainerservice.ManagedClusterProperties

// spoiled is a cluster with one defect.
type spoiled struct {
	name  string
	spoil func(*fakeazure.Cloud, *properties)
	// fact is the fact with the defect. left reports whether the fact is in the document all the same.
	fact string
	left bool
	want []string
	// also are other facts that are unknown because of it.
	also []string
}

// spoiledClusters each remove something from a cluster, or add to it.
var spoiledClusters = []spoiled{
	{"no security group", func(c *fakeazure.Cloud, _ *properties) { c.SecurityGroups = nil },
		"securityGroups", true, []string{"no security group of the node resource group is called aks-agentpool-DIGITS-nsg", "give cluster-id"}, nil},
	{"several security groups", func(c *fakeazure.Cloud, _ *properties) {
		c.SecurityGroups = append(c.SecurityGroups, []string{"aks-agentpool-11111111-nsg"})
	}, "securityGroups", true, []string{"several", "give cluster-id", "aks-agentpool-11111111-nsg, aks-agentpool-36065932-nsg"}, nil},
	{"several subnets of a network", func(_ *fakeazure.Cloud, p *properties) {
		p.AgentPoolProfiles[1].VnetSubnetID = new(strings.Replace(nodes, "/nodes", "/more", 1))
	}, "subnetID", false, []string{"give vnet-subnet-id", "subnets/more, ", "subnets/nodes"}, nil},
	{"several subnets of a network that is spelled in two ways", func(_ *fakeazure.Cloud, p *properties) {
		p.AgentPoolProfiles[1].VnetSubnetID = new(strings.NewReplacer("example-vnet", "Example-VNet", "/nodes", "/more").Replace(nodes))
	}, "subnetID", false, []string{"give vnet-subnet-id"}, nil},
	{"subnets of two networks", func(_ *fakeazure.Cloud, p *properties) {
		p.AgentPoolProfiles[1].VnetSubnetID = new(strings.Replace(nodes, "example-vnet", "other-vnet", 1))
	}, "subnetID", false, []string{"give vnet-subnet-id"}, []string{"vnetGUID"}},
	{"several made subnets", func(c *fakeazure.Cloud, _ *properties) {
		managed(c, "aks-subnet", "aks-appgateway")
	}, "subnetID", false, []string{"give vnet-subnet-id", "aks-appgateway", "aks-subnet"}, nil},
	{"no subnet", func(c *fakeazure.Cloud, _ *properties) { managed(c) },
		"subnetID", false, []string{"no agent pool names a subnet", "give vnet-subnet-id"}, []string{"vnetGUID"}},
	{"an invalid subnet", func(_ *fakeazure.Cloud, p *properties) {
		p.AgentPoolProfiles = p.AgentPoolProfiles[:1]
		p.AgentPoolProfiles[0].VnetSubnetID = new("/subnets/nodes")
	}, "subnetID", false, []string{`is "/subnets/nodes", which a launch refuses: is not the ID of a subnet`}, []string{"vnetGUID"}},
	{"no network", func(c *fakeazure.Cloud, _ *properties) { c.Networks = nil },
		"vnetGUID", false, []string{"404", "virtualNetworks/example-vnet"}, nil},
	{"a plug-in of the past", func(_ *fakeazure.Cloud, p *properties) {
		p.NetworkProfile.NetworkPlugin = new(armcontainerservice.NetworkPluginKubenet)
	}, "networkPlugin", false, []string{`is "kubenet", which a launch refuses`, "azure"}, nil},
	{"no plug-in", func(_ *fakeazure.Cloud, p *properties) {
		p.NetworkProfile.NetworkPlugin = nil
	},
		"networkPlugin", false, []string{"does not say it"}, nil},
	{"a service principal", func(_ *fakeazure.Cloud, p *properties) { p.IdentityProfile = nil },
		"kubeletIdentity", false, []string{"service principal"}, nil},
	{"no version", func(_ *fakeazure.Cloud, p *properties) {
		p.CurrentKubernetesVersion, p.KubernetesVersion = nil, nil
	}, "kubernetesVersion", false, []string{"does not say it"}, nil},
	{"no DNS address", func(_ *fakeazure.Cloud, p *properties) {
		p.NetworkProfile.DNSServiceIP = nil
	},
		"dnsServiceIP", false, []string{"does not say it"}, nil},
	{"no range", func(_ *fakeazure.Cloud, p *properties) {
		p.NetworkProfile.ServiceCidr, p.NetworkProfile.ServiceCidrs = nil, nil
	}, "serviceCIDR", false, []string{"does not say it"}, nil},
	{"no kubeconfig", func(c *fakeazure.Cloud, _ *properties) { c.Kubeconfig = nil },
		"certificateAuthority", false, []string{"Azure has no kubeconfig"}, nil},
	{"a kubeconfig without a CA", func(c *fakeazure.Cloud, _ *properties) {
		c.Kubeconfig = withAuthority("")
	},
		"certificateAuthority", false, []string{"certificate-authority-data: is missing"}, nil},
	{"an invalid CA", func(c *fakeazure.Cloud, _ *properties) {
		c.Kubeconfig = withAuthority("CA")
	},
		"certificateAuthority", false, []string{"is not a PEM certificate"}, nil},
	{"no node resource group", func(_ *fakeazure.Cloud, p *properties) { p.NodeResourceGroup = nil },
		"nodeResourceGroup", false, []string{"does not say it"}, []string{"securityGroups", "routeTables"}},
}

// A defect is reported for one fact, with what to do. All other facts are in the document, so it does not stop other launches.
func TestMissingFacts(t *testing.T) {
	for _, c := range spoiledClusters {
		t.Run(c.name, func(t *testing.T) {
			azureCloud := cloud(t)
			c.spoil(azureCloud, azureCloud.Cluster.Properties)
			found, err := ask(azureCloud).Cluster(t.Context(), example)
			reason := factError(t, err, c.fact).Error()
			for _, want := range c.want {
				if !strings.Contains(reason, want) {
					t.Errorf("%s\ndoes not say %q", reason, want)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("a credential is in %v", err)
			}
			readable(t, found, detected)
			gone := append([]string{}, c.also...)
			if !c.left {
				gone = append(gone, c.fact)
			}
			others(t, found, gone)
		})
	}
}

// others checks that all facts but some are there.
func others(t *testing.T, found *azure.Detected, gone []string) {
	t.Helper()
	missing := make(map[string]bool)
	for _, name := range gone {
		missing[name] = true
	}
	for name, fact := range map[string]*azure.Fact{
		"kubernetesVersion": found.KubernetesVersion, "certificateAuthority": found.CertificateAuthority, "dnsServiceIP": found.DNSServiceIP,
		"serviceCIDR": found.ServiceCIDR, "networkPlugin": found.NetworkPlugin, "networkPluginMode": found.NetworkPluginMode,
		"networkPolicy": found.NetworkPolicy, "networkDataplane": found.NetworkDataplane, "nodeResourceGroup": found.NodeResourceGroup,
		"subnetID": found.SubnetID, "vnetGUID": found.VNetGUID, "kubeletIdentity": found.KubeletIdentity,
		"securityGroups": found.SecurityGroups, "routeTables": found.RouteTables,
	} {
		if (fact == nil) != missing[name] {
			t.Errorf("%s: %+v", name, fact)
		}
	}
}

// The candidates are in the typed errors.
func TestCandidates(t *testing.T) {
	c := cloud(t)
	c.SecurityGroups = [][]string{{"aks-agentpool-22222222-nsg"}, {"aks-agentpool-11111111-nsg"}}
	managed(c, "b", "a")
	_, err := ask(c).Cluster(t.Context(), example)
	groups, ok := errors.AsType[*azure.ClusterIDError](factError(t, err, "securityGroups"))
	if !ok || strings.Join(groups.Candidates, " ") != "aks-agentpool-11111111-nsg aks-agentpool-22222222-nsg" {
		t.Errorf("security groups: %v", groups)
	}
	subnets, ok := errors.AsType[*detect.AmbiguousError](factError(t, err, "subnetID"))
	if !ok || strings.Join(subnets.Candidates, " ") != madeSubnet("a")+" "+madeSubnet("b") {
		t.Errorf("subnets: %v", subnets)
	}
}

// A version that is only requested is likely; one that runs is certain.
func TestWantedVersion(t *testing.T) {
	c := cloud(t)
	c.Cluster.Properties.CurrentKubernetesVersion = nil
	found, err := ask(c).Cluster(t.Context(), example)
	if err != nil {
		t.Fatal(err)
	}
	if v := found.KubernetesVersion; v.Value != "1.34" || v.Confidence != "likely" {
		t.Errorf("%+v", v)
	}
}

// A value that a cluster omits is not the default of launches.
func TestUnsaidNetwork(t *testing.T) {
	c := cloud(t)
	p := c.Cluster.Properties.NetworkProfile
	p.NetworkPluginMode, p.NetworkDataplane, p.NetworkPolicy, p.ServiceCidrs = nil, nil, nil, nil
	found, err := ask(c).Cluster(t.Context(), example)
	if err != nil {
		t.Fatal(err)
	}
	for name, fact := range map[string]*azure.Fact{"mode": found.NetworkPluginMode, "dataplane": found.NetworkDataplane, "policy": found.NetworkPolicy} {
		if fact == nil || fact.Value != "" || fact.Source == "" {
			t.Errorf("the %s is %+v, want none", name, fact)
		}
	}
	if found.ServiceCIDR.Value != "10.0.0.0/16" {
		t.Errorf("the range is %+v", found.ServiceCIDR)
	}
}

// Without the cluster no fact is known, and the error has the reason.
func TestNoCluster(t *testing.T) {
	c := cloud(t)
	c.Cluster = nil
	found, err := ask(c).Cluster(t.Context(), example)
	if err == nil || !strings.Contains(err.Error(), "404") || !strings.Contains(err.Error(), "ResourceNotFound") || !strings.Contains(err.Error(), "managedClusters/example") {
		t.Errorf("%v", err)
	}
	if _, ok := errors.AsType[*azcore.ResponseError](err); !ok {
		t.Errorf("the SDK's error is not in %v", err)
	}
	if *found != (azure.Detected{APIVersion: found.APIVersion, Kind: found.Kind}) {
		t.Errorf("something is known: %+v", found)
	}
	c = cloud(t)
	c.Cluster.Properties = nil
	if _, err := ask(c).Cluster(t.Context(), example); err == nil || !strings.Contains(err.Error(), "says nothing") {
		t.Errorf("an empty answer: %v", err)
	}
}
