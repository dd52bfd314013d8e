package plan

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestCredentialsInMaps: a file in which a map of the contract may put a credential is secret, and root's alone.
func TestCredentialsInMaps(t *testing.T) {
	provider := func(fields map[string]any) *nodeconfig.ImageCredentialProvider {
		return &nodeconfig.ImageCredentialProvider{BinDir: "/opt/bin", Config: map[string]any{"providers": []any{fields}}}
	}
	standard := profile.Of(nodeconfig.LayoutStandard).Paths
	for _, c := range []struct {
		name, path string
		secret     bool
		edit       func(*nodeconfig.NodeConfig)
	}{
		{"no header", concern.ContainerdConfig, false, func(*nodeconfig.NodeConfig) {}},
		{"AKS's own header", concern.ContainerdConfig, false, func(c *nodeconfig.NodeConfig) {
			c.Runtime.Containerd.RegistryHeaders = map[string]nodeconfig.Secret{"X-Meta-Source-Client": nodeconfig.NewSecret("azure/aks")}
		}},
		{"AKS's own header with another value", concern.ContainerdConfig, true, func(c *nodeconfig.NodeConfig) {
			c.Runtime.Containerd.RegistryHeaders = map[string]nodeconfig.Secret{"X-Meta-Source-Client": nodeconfig.NewSecret("x")}
		}},
		{"a registry's header", concern.ContainerdConfig, true, func(c *nodeconfig.NodeConfig) {
			c.Runtime.Containerd.RegistryHeaders = map[string]nodeconfig.Secret{"Authorization": nodeconfig.NewSecret("x")}
		}},
		{"a static pod's header", standard.KubeletConfig, true, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Config = map[string]any{"staticPodURLHeader": map[string]any{"Authorization": []any{"x"}}}
		}},
		{"a static pod's URL", standard.KubeletConfig, true, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Config = map[string]any{"staticPodURL": "https://user:x@example.com/"}
		}},
		{"a static pod's URL by flag", standard.KubeletEnv, true, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "manifest-url", Value: "https://user:x@example.com/"}}
		}},
		{"no static pod's header", standard.KubeletConfig, false, func(*nodeconfig.NodeConfig) {}},
		{"a static pod's header by flag", standard.KubeletEnv, true, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "manifest-url-header", Value: "Authorization:x"}}
		}},
		{"another flag", standard.KubeletEnv, false, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "v", Value: "2"}}
		}},
		{"a provider's arguments", standard.CredentialConfig, true, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.ImageCredentialProvider = provider(map[string]any{"args": []any{"x"}})
		}},
		{"a provider's environment", standard.CredentialConfig, true, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.ImageCredentialProvider = provider(map[string]any{"env": []any{map[string]any{"name": "A", "value": "x"}}})
		}},
		{"a provider without either", standard.CredentialConfig, false, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.ImageCredentialProvider = provider(map[string]any{"name": "p"})
		}},
	} {
		p, _ := New(contract(t, "native/minimal.yaml", c.edit), ubuntu(t))
		f := fileAt(t, p, c.path)
		if f.Secret != c.secret || c.secret && f.Mode != 0o600 {
			t.Errorf("%s: %s is secret: %v, of mode %04o", c.name, c.path, f.Secret, f.Mode)
		}
	}
}
