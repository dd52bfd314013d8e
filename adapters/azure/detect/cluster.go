package detect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/slipway-dev/slipway/launch/azure"
)

// Cluster names a managed cluster.
type Cluster struct {
	// Subscription is the ID of its subscription.
	Subscription string
	// ResourceGroup is the cluster's own, not the one of its nodes.
	ResourceGroup string
	// Name is the cluster's.
	Name string
}

// id is the cluster's ID in Azure's resource manager.
func (c Cluster) id() string {
	return "/subscriptions/" + c.Subscription + "/resourceGroups/" + c.ResourceGroup + "/providers/Microsoft.ContainerService/managedClusters/" + c.Name
}

// source describes the facts' source for people.
func (c Cluster) source() string {
	return "managed cluster " + c.Name + " of the resource group " + c.ResourceGroup
}

// Cluster reads the facts of a managed cluster from Azure. It always returns a document, with the facts that are known. The error
// has a [*FactError] for each other fact. If the cluster itself cannot be read, no fact is known.
func (a *Azure) Cluster(ctx context.Context, c Cluster) (*azure.Detected, error) {
	f := newFinding(clock(a.Now))
	managed, err := a.managed(ctx, c)
	if err != nil {
		return f.document, err
	}
	f.cluster(c, managed.Properties)
	f.authority(ctx, c, a)
	n := network{finding: f, azure: a, cluster: c}
	n.find(ctx, managed.Properties)
	return f.result()
}

// clusters returns the client for managed clusters.
func (a *Azure) clusters(c Cluster) (*armcontainerservice.ManagedClustersClient, error) {
	clients, err := armcontainerservice.NewClientFactory(c.Subscription, a.Credential, a.options())
	if err != nil {
		return nil, fmt.Errorf("managed cluster %s: %w", c.Name, err)
	}
	return clients.NewManagedClustersClient(), nil
}

// managed reads the cluster from Azure. It has properties.
func (a *Azure) managed(ctx context.Context, c Cluster) (*armcontainerservice.ManagedCluster, error) {
	client, err := a.clusters(c)
	if err != nil {
		return nil, err
	}
	answer, err := client.Get(ctx, c.ResourceGroup, c.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("managed cluster %s: %w", c.Name, readCluster.explain(err, c.id()))
	}
	if answer.Properties == nil {
		return nil, fmt.Errorf("managed cluster %s: Azure's answer says nothing of it", c.Name)
	}
	return &answer.ManagedCluster, nil
}

// text is a value of an answer. It is empty if the answer has none.
func text[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// cluster takes the facts in the managed cluster itself.
func (f *finding) cluster(c Cluster, p *armcontainerservice.ManagedClusterProperties) {
	d, source := f.document, c.source()
	switch current, wanted := text(p.CurrentKubernetesVersion), text(p.KubernetesVersion); {
	case current != "":
		d.KubernetesVersion = f.fact(current, source)
	case wanted != "": // it may be only a minor version, and the cluster may not run it yet
		d.KubernetesVersion = f.fact(wanted, source)
		d.KubernetesVersion.Confidence = likely
	default:
		f.fail("kubernetesVersion", errors.New("the managed cluster does not say it"))
	}
	if group := text(p.NodeResourceGroup); group != "" {
		d.NodeResourceGroup = f.fact(group, source)
	} else {
		f.fail("nodeResourceGroup", errors.New("the managed cluster does not say it"))
	}
	if identity := p.IdentityProfile["kubeletidentity"]; identity != nil && text(identity.ClientID) != "" {
		d.KubeletIdentity = f.fact(text(identity.ClientID), source)
	} else {
		f.fail("kubeletIdentity", errors.New("the managed cluster has none; it may have a service principal, which nodes of a launch cannot use"))
	}
	f.networkProfile(source, p.NetworkProfile)
}

// networkProfile takes the facts of the cluster's network. An omitted value is a fact, too: launches have other defaults than AKS.
func (f *finding) networkProfile(source string, p *armcontainerservice.NetworkProfile) {
	if p == nil {
		f.fail("networkPlugin", errors.New("the managed cluster says nothing of its network"))
		return
	}
	d := f.document
	if plugin := text(p.NetworkPlugin); plugin != "" {
		d.NetworkPlugin = f.fact(plugin, source)
	} else {
		f.fail("networkPlugin", errors.New("the managed cluster does not say it"))
	}
	d.NetworkPluginMode = f.fact(text(p.NetworkPluginMode), source)
	d.NetworkPolicy = f.fact(text(p.NetworkPolicy), source)
	d.NetworkDataplane = f.fact(text(p.NetworkDataplane), source)
	if address := text(p.DNSServiceIP); address != "" {
		d.DNSServiceIP = f.fact(address, source)
	} else {
		f.fail("dnsServiceIP", errors.New("the managed cluster does not say it"))
	}
	var ranges []string
	for _, r := range p.ServiceCidrs {
		ranges = append(ranges, text(r))
	}
	if ranges == nil && text(p.ServiceCidr) != "" {
		ranges = []string{text(p.ServiceCidr)}
	}
	if ranges != nil {
		d.ServiceCIDR = f.fact(strings.Join(ranges, ","), source)
	} else {
		f.fail("serviceCIDR", errors.New("the managed cluster does not say it"))
	}
}

// authority takes the cluster's CA from the kubeconfig that Azure has for its users. It keeps nothing else of it, because the rest
// may contain credentials.
func (f *finding) authority(ctx context.Context, c Cluster, a *Azure) {
	const fact = "certificateAuthority"
	client, err := a.clusters(c)
	if err != nil {
		f.fail(fact, err)
		return
	}
	answer, err := client.ListClusterUserCredentials(ctx, c.ResourceGroup, c.Name, nil)
	if err != nil {
		f.fail(fact, readCredentials.explain(err, c.id()))
		return
	}
	for _, one := range answer.Kubeconfigs {
		if one == nil {
			continue
		}
		config, err := readKubeconfig(one.Value, "", "")
		if err != nil {
			f.fail(fact, fmt.Errorf("the kubeconfig of the managed cluster: %w", err))
			return
		}
		authority, err := config.authority()
		if err != nil {
			f.fail(fact, fmt.Errorf("the kubeconfig of the managed cluster: %w", err))
			return
		}
		f.document.CertificateAuthority = f.fact(string(authority), "kubeconfig of the "+c.source())
		return
	}
	f.fail(fact, errors.New("Azure has no kubeconfig of the managed cluster"))
}
