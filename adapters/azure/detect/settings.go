package detect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Cloud is one of Azure's clouds.
type Cloud struct {
	// Name is the value of launch/azure's setting "cloud".
	Name string
	// Config configures the SDK's clients.
	Config azcloud.Configuration
}

// Clouds are the supported clouds, the public one first.
func Clouds() []Cloud {
	return []Cloud{
		{"AzurePublicCloud", azcloud.AzurePublic},
		{"AzureChinaCloud", azcloud.AzureChina},
		{"AzureUSGovernment", azcloud.AzureGovernment},
	}
}

// ConfigMap is a Kubernetes ConfigMap with settings as azure.Reload reads them. It contains no secret.
type ConfigMap struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   ConfigMapMeta     `json:"metadata"`
	Data       map[string]string `json:"data"`
}

// ConfigMapMeta names a ConfigMap.
type ConfigMapMeta struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// answer is the managed cluster as Azure returns it, and its cloud.
type answer struct {
	cluster Cluster
	cloud   string
	managed *armcontainerservice.ManagedCluster
}

// settingRow is a setting and how to read its value. An empty value is unknown.
type settingRow struct {
	name  string
	value func(*answer) string
	// why explains what a missing value means. It is empty for a setting that may be missing.
	why string
}

// settingRows are the settings that the managed cluster itself has (Karpenter for Azure v1.7: hack/deploy/configure-values.sh). A
// bootstrap token is not among them: a program makes its own, or its user sets one.
var settingRows = []settingRow{
	{"cluster-name", func(a *answer) string { return a.cluster.Name }, ""},
	{"cluster-resource-group", func(a *answer) string { return a.cluster.ResourceGroup }, ""},
	{"subscription-id", func(a *answer) string { return a.cluster.Subscription }, ""},
	{"cloud", func(a *answer) string { return a.cloud }, ""},
	{"location", func(a *answer) string { return text(a.managed.Location) }, "the managed cluster does not say it"},
	{"tenant-id", func(a *answer) string {
		if a.managed.Identity == nil {
			return ""
		}
		return text(a.managed.Identity.TenantID)
	}, ""},
	{"cluster-endpoint", endpoint, "the managed cluster has no name that nodes could reach; is it being made?"},
	{"linux-admin-username", func(a *answer) string {
		if p := a.managed.Properties.LinuxProfile; p != nil {
			return text(p.AdminUsername)
		}
		return ""
	}, ""},
	{"ssh-public-key", sshKey, "the managed cluster has none; give one"},
	{"node-identities", func(a *answer) string {
		if identity := a.managed.Properties.IdentityProfile["kubeletidentity"]; identity != nil {
			return text(identity.ResourceID)
		}
		return ""
	}, ""},
}

// factRows are the settings that come from facts. An empty network setting has a meaning: without it, a program would take
// Karpenter's default.
var factRows = []struct {
	name string
	fact func(*azure.Detected) *azure.Fact
}{
	{"kubelet-identity-client-id", func(d *azure.Detected) *azure.Fact { return d.KubeletIdentity }},
	{"node-resource-group", func(d *azure.Detected) *azure.Fact { return d.NodeResourceGroup }},
	{"vnet-subnet-id", func(d *azure.Detected) *azure.Fact { return d.SubnetID }},
	{"vnet-guid", func(d *azure.Detected) *azure.Fact { return d.VNetGUID }},
	{"dns-service-ip", func(d *azure.Detected) *azure.Fact { return d.DNSServiceIP }},
	{"network-plugin", func(d *azure.Detected) *azure.Fact { return d.NetworkPlugin }},
	{"network-plugin-mode", func(d *azure.Detected) *azure.Fact { return d.NetworkPluginMode }},
	{"network-policy", func(d *azure.Detected) *azure.Fact { return d.NetworkPolicy }},
	{"network-dataplane", func(d *azure.Detected) *azure.Fact { return d.NetworkDataplane }},
}

// endpoint is the API server's URL. Nodes of a private cluster reach it by its private name.
func endpoint(a *answer) string {
	p := a.managed.Properties
	name := text(p.Fqdn)
	if access := p.APIServerAccessProfile; access != nil && isTrue(access.EnablePrivateCluster) {
		name = cmp.Or(text(p.PrivateFQDN), name)
	}
	if name == "" {
		return ""
	}
	return "https://" + name + ":443"
}

// sshKey is the first key that may log in to the cluster's nodes.
func sshKey(a *answer) string {
	p := a.managed.Properties.LinuxProfile
	if p == nil || p.SSH == nil {
		return ""
	}
	for _, key := range p.SSH.PublicKeys {
		if key != nil && text(key.KeyData) != "" {
			return strings.TrimSpace(text(key.KeyData))
		}
	}
	return ""
}

// Settings returns the settings of a program that launches nodes for a managed cluster. They come from the managed cluster itself
// and from the detected facts ([Azure.Cluster], [Merge]). It always returns a document, with the settings that are known. The error
// has a [*FactError] for each missing setting, and for each that a launch would refuse, which is then left out.
func (a *Azure) Settings(ctx context.Context, c Cluster, found *azure.Detected) (*ConfigMap, error) {
	m := &ConfigMap{
		APIVersion: "v1", Kind: "ConfigMap", Data: make(map[string]string),
		Metadata: ConfigMapMeta{Namespace: "kube-system", Name: "karpenter-global-settings"},
	}
	managed, err := a.managed(ctx, c)
	if err != nil {
		return m, err
	}
	said := &answer{cluster: c, cloud: a.cloud(), managed: managed}
	var wrong []error
	for _, row := range settingRows {
		switch v := row.value(said); {
		case v != "":
			m.Data[row.name] = v
		case row.why != "":
			wrong = append(wrong, &FactError{row.name, errors.New(row.why)})
		}
	}
	for _, row := range factRows {
		if f := row.fact(found); f != nil {
			m.Data[row.name] = f.Value
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return m, err
	}
	_, problems := azure.Reload(nil, azure.SettingsSource{Name: m.Metadata.Name, Document: data})
	for _, p := range nodeconfig.Fatal(problems) {
		for name, v := range m.Data {
			if p.Path == document.FieldPath("$", name) || p.Path == document.FieldPath("$.data", name) {
				wrong = append(wrong, &FactError{name, fmt.Errorf("is %q, which a launch refuses: %s", v, p.Reason)})
				delete(m.Data, name)
			}
		}
	}
	return m, errors.Join(wrong...)
}

// cloud is the name of the cloud that the client uses.
func (a *Azure) cloud() string {
	all := Clouds()
	for _, c := range all {
		if a.Options != nil && a.Options.Cloud.ActiveDirectoryAuthorityHost == c.Config.ActiveDirectoryAuthorityHost {
			return c.Name
		}
	}
	return all[0].Name // the SDK's default
}
