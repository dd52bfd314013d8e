package detect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"

	"github.com/slipway-dev/slipway/launch/azure"
)

// network finds the facts of a cluster's network: the resources in its node resource group, and its nodes' subnet.
type network struct {
	*finding
	azure   *Azure
	cluster Cluster
}

// find finds all of them. A failure for one does not stop the others.
func (n *network) find(ctx context.Context, p *armcontainerservice.ManagedClusterProperties) {
	if group := text(p.NodeResourceGroup); group != "" {
		n.groups(ctx, group)
		n.tables(ctx, group)
	}
	n.subnet(ctx, p)
}

// clients are those of a subscription: the user's own network may be in another one than the cluster.
func (n *network) clients(subscription string) (*armnetwork.ClientFactory, error) {
	return armnetwork.NewClientFactory(subscription, n.azure.Credential, n.azure.options())
}

// groupID is the ID of the nodes' resource group.
func (n *network) groupID(group string) string {
	return "/subscriptions/" + n.cluster.Subscription + "/resourceGroups/" + group
}

// groups finds the security groups. One of them should be the cluster's. If none or several could be, the fact is recorded all the
// same, because a launch can have its cluster ID from elsewhere.
func (n *network) groups(ctx context.Context, group string) {
	const fact = "securityGroups"
	clients, err := n.clients(n.cluster.Subscription)
	if err != nil {
		n.fail(fact, err)
		return
	}
	names, err := collect(ctx, clients.NewSecurityGroupsClient().NewListPager(group, nil), func(page armnetwork.SecurityGroupsClientListResponse) []*armnetwork.SecurityGroup {
		return page.Value
	}, func(g *armnetwork.SecurityGroup) string { return text(g.Name) })
	if err != nil {
		n.fail(fact, readGroups.explain(err, n.groupID(group)))
		return
	}
	n.document.SecurityGroups = n.names(names, "security groups of the node resource group "+group)
	_, _, err = azure.SecurityGroups(names)
	n.fail(fact, err)
}

// tables finds the route tables. Most clusters have none.
func (n *network) tables(ctx context.Context, group string) {
	const fact = "routeTables"
	clients, err := n.clients(n.cluster.Subscription)
	if err != nil {
		n.fail(fact, err)
		return
	}
	names, err := collect(ctx, clients.NewRouteTablesClient().NewListPager(group, nil), func(page armnetwork.RouteTablesClientListResponse) []*armnetwork.RouteTable {
		return page.Value
	}, func(t *armnetwork.RouteTable) string { return text(t.Name) })
	if err != nil {
		n.fail(fact, readTables.explain(err, n.groupID(group)))
		return
	}
	n.document.RouteTables = n.names(names, "route tables of the node resource group "+group)
}

// names is a fact with several sorted values.
func (n *network) names(names []string, source string) *azure.Fact {
	slices.Sort(names)
	return &azure.Fact{Values: names, Source: source, Time: n.time}
}

// collect collects a value of each item of all pages.
func collect[Page, Item any](ctx context.Context, pager *runtime.Pager[Page], items func(Page) []*Item, value func(*Item) string) ([]string, error) {
	values := []string{}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range items(page) {
			if item != nil {
				values = append(values, value(item))
			}
		}
	}
	return values, nil
}

// subnet finds the nodes' subnet, and the identifier of its network.
func (n *network) subnet(ctx context.Context, p *armcontainerservice.ManagedClusterProperties) {
	const fact = "subnetID"
	found, source, confidence, err := n.subnets(ctx, p)
	switch {
	case err != nil:
		n.fail(fact, err)
	case len(found) == 0:
		n.fail(fact, errors.New("no agent pool names a subnet, and the node resource group has no network; give vnet-subnet-id"))
	case len(found) > 1:
		n.fail(fact, &AmbiguousError{"several subnets could be meant; give vnet-subnet-id", found})
	default:
		n.document.SubnetID = n.fact(found[0], source)
		n.document.SubnetID.Confidence = confidence
	}
	n.identifier(ctx, found, source)
}

// subnets are those that nodes may be in: those of the agent pools, or else all subnets of the networks that AKS has made.
func (n *network) subnets(ctx context.Context, p *armcontainerservice.ManagedClusterProperties) (found []string, source, confidence string, err error) {
	for _, pool := range p.AgentPoolProfiles {
		if pool == nil || text(pool.VnetSubnetID) == "" {
			continue
		}
		found = append(found, text(pool.VnetSubnetID))
	}
	if found != nil {
		return distinct(found), "agent pools of the " + n.cluster.source(), "", nil
	}
	group := text(p.NodeResourceGroup)
	if group == "" {
		return nil, "", "", nil
	}
	clients, err := n.clients(n.cluster.Subscription)
	if err != nil {
		return nil, "", "", err
	}
	for pager := clients.NewVirtualNetworksClient().NewListPager(group, nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, "", "", readNetworks.explain(err, n.groupID(group))
		}
		for _, v := range page.Value {
			if v == nil || v.Properties == nil {
				continue
			}
			for _, s := range v.Properties.Subnets {
				if s != nil {
					found = append(found, text(s.ID))
				}
			}
		}
	}
	return distinct(found), "virtual networks of the node resource group " + group, likely, nil
}

// distinct returns the IDs sorted, without duplicates that differ only in case.
func distinct(ids []string) []string {
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
	})
	return slices.CompactFunc(ids, strings.EqualFold)
}

// identifier finds the network's identifier, if all subnets are in one network.
func (n *network) identifier(ctx context.Context, subnets []string, source string) {
	const fact = "vnetGUID"
	var of *azure.Subnet
	for _, id := range subnets {
		s, err := azure.ParseSubnet(id)
		switch {
		case err != nil:
			n.fail(fact, fmt.Errorf("the subnet %q of the %s: %w", id, source, err))
			return
		case of != nil && !strings.EqualFold(networkID(*of), networkID(s)):
			n.fail(fact, &AmbiguousError{"several networks could be meant; give vnet-guid", []string{networkID(*of), networkID(s)}})
			return
		}
		of = &s
	}
	if of == nil {
		return // the subnet has an error already
	}
	clients, err := n.clients(of.Subscription)
	if err != nil {
		n.fail(fact, err)
		return
	}
	answer, err := clients.NewVirtualNetworksClient().Get(ctx, of.ResourceGroup, of.VNet, nil)
	switch {
	case err != nil:
		n.fail(fact, readNetworks.explain(err, networkID(*of)))
	case answer.Properties == nil || text(answer.Properties.ResourceGUID) == "":
		n.fail(fact, fmt.Errorf("the virtual network %s does not say it", of.VNet))
	default:
		n.document.VNetGUID = n.fact(text(answer.Properties.ResourceGUID), "virtual network "+of.VNet+" of the resource group "+of.ResourceGroup)
	}
}

// networkID returns the ID of a subnet's network.
func networkID(s azure.Subnet) string {
	return "/subscriptions/" + s.Subscription + "/resourceGroups/" + s.ResourceGroup + "/providers/Microsoft.Network/virtualNetworks/" + s.VNet
}
