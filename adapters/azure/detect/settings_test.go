package detect_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// settingsOf detects a cluster, and returns its settings.
func settingsOf(t testing.TB, c *fakeazure.Cloud) (*detect.ConfigMap, error) {
	t.Helper()
	a := ask(c)
	found, err := a.Cluster(t.Context(), example)
	if err != nil {
		t.Log(err)
	}
	return a.Settings(t.Context(), example, found)
}

// TestSettings: a launch accepts the settings as they are written. They contain no credential.
func TestSettings(t *testing.T) {
	m, err := settingsOf(t, cloud(t))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "settings.json", m)
	settings, problems := reload(t, m)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if settings.SubnetID != nodes || settings.Endpoint != "https://example-dns-0123456789abcdefghijk.hcp.eastus.azmk8s.io:443" {
		t.Errorf("%+v", settings)
	}
}

// TestSettingsOfClusters: the differences among clusters. An empty setting that has a meaning is written, an unknown one is not,
// and one that a launch needs, or would refuse, is an error.
func TestSettingsOfClusters(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeazure.Cloud)
		data   map[string]string
		absent []string
		wrong  []string
	}{
		"a private cluster": {
			change: func(c *fakeazure.Cloud) {
				p := c.Cluster.Properties
				p.APIServerAccessProfile = &armcontainerservice.ManagedClusterAPIServerAccessProfile{EnablePrivateCluster: new(true)}
				p.PrivateFQDN = new("example.private.eastus.azmk8s.io")
			},
			data: map[string]string{"cluster-endpoint": "https://example.private.eastus.azmk8s.io:443"},
		},
		"a network of its nodes' own subnet": {
			change: func(c *fakeazure.Cloud) {
				p := c.Cluster.Properties.NetworkProfile
				p.NetworkPluginMode, p.NetworkPolicy, p.NetworkDataplane = nil, nil, nil
			},
			data: map[string]string{"network-plugin": "azure", "network-plugin-mode": "", "network-policy": "", "network-dataplane": ""},
		},
		"a network of others": {
			change: func(c *fakeazure.Cloud) {
				p := c.Cluster.Properties.NetworkProfile
				p.NetworkPlugin, p.NetworkPluginMode = new(armcontainerservice.NetworkPluginNone), nil
			},
			data: map[string]string{"network-plugin": "none", "network-plugin-mode": ""},
		},
		"no key, no identity, no name": {
			change: func(c *fakeazure.Cloud) {
				c.Cluster.Identity = nil
				p := c.Cluster.Properties
				p.LinuxProfile, p.Fqdn, p.IdentityProfile = nil, nil, nil
			},
			absent: []string{"ssh-public-key", "cluster-endpoint", "tenant-id", "node-identities", "kubelet-identity-client-id", "linux-admin-username"},
			wrong:  []string{"ssh-public-key", "cluster-endpoint"},
		},
		"a key of two lines": {
			change: func(c *fakeazure.Cloud) {
				c.Cluster.Properties.LinuxProfile.SSH.PublicKeys[0].KeyData = new("ssh-rsa AAAA one\nssh-rsa AAAA two")
			},
			absent: []string{"ssh-public-key"}, wrong: []string{"ssh-public-key"},
		},
		"several subnets": {
			change: func(c *fakeazure.Cloud) { managed(c, "aks-subnet", "other-subnet") },
			absent: []string{"vnet-subnet-id"}, // the facts' errors have the reason
		},
	} {
		t.Run(name, func(t *testing.T) {
			azureCloud := cloud(t)
			c.change(azureCloud)
			m, err := settingsOf(t, azureCloud)
			if got := len(flat(err)); got != len(c.wrong) {
				t.Errorf("%d errors, want %d: %v", got, len(c.wrong), err)
			}
			for _, one := range c.wrong {
				_ = factError(t, err, one)
			}
			for setting, want := range c.data {
				if got, ok := m.Data[setting]; !ok || got != want {
					t.Errorf("%s is %q, want %q", setting, got, want)
				}
			}
			for _, setting := range c.absent {
				if v, ok := m.Data[setting]; ok {
					t.Errorf("%s is %q", setting, v)
				}
			}
			if _, problems := reload(t, m); slices.ContainsFunc(nodeconfig.Fatal(problems), func(p nodeconfig.Problem) bool { return p.Kind != nodeconfig.Missing }) {
				t.Error(problems)
			}
		})
	}
}

// reload reads settings as a launch does.
func reload(t testing.TB, m *detect.ConfigMap) (*azure.Settings, []nodeconfig.Problem) {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), secret) {
		t.Errorf("a credential is among the settings: %s", data)
	}
	return azure.Reload(nil, azure.SettingsSource{Name: "settings.json", Document: data})
}

// TestSettingsOfClouds: the settings contain the client's cloud, by the name that a launch knows.
func TestSettingsOfClouds(t *testing.T) {
	for _, c := range detect.Clouds() {
		a := ask(cloud(t))
		a.Options.Cloud = c.Config
		m, err := a.Settings(t.Context(), example, new(azure.Detected))
		if err != nil || m.Data["cloud"] != c.Name {
			t.Errorf("%q, %v, want %s", m.Data["cloud"], err, c.Name)
		}
	}
	a := ask(cloud(t)) // the SDK's default is the public one
	if m, err := a.Settings(t.Context(), example, new(azure.Detected)); err != nil || m.Data["cloud"] != "AzurePublicCloud" {
		t.Errorf("%q, %v", m.Data["cloud"], err)
	}
}
