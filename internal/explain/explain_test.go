package explain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/test/detector"
)

// exampleFiles is the module's directory of examples.
const exampleFiles = "../../examples"

// readExample reads one of the examples.
func readExample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(exampleFiles, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// explained returns the explanation of a field.
func explained(t *testing.T, document, field string) *Explanation {
	t.Helper()
	x, err := Field(compile.ReadOne("", []byte(document)), field, facts.Facts{})
	if err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	return x
}

// TestExplainFindsWhatDepends holds that changing values finds what a reader of the planner's code would find.
func TestExplainFindsWhatDepends(t *testing.T) {
	tests := []struct {
		example, field string
		becomes        []string
		resources      []string
	}{
		{"native/full.yaml", "cluster.certificateAuthority", nil, []string{"Certificate:kubelet-client", "Check:api-server", "File:/etc/kubernetes/pki/ca.crt"}},
		{"native/full.yaml", "cluster.serverCertificate", nil, []string{"File:/etc/kubernetes/pki/apiserver.crt"}},
		{"native/full.yaml", "kubelet.nodeName", nil, []string{"Certificate:kubelet-client", "Check:kubelet-network", "File:/etc/default/kubelet", "ServingCertificate:kubelet-server"}},
		{"native/full.yaml", "kubelet.nodeIPs", nil, []string{"Check:kubelet-network", "File:/etc/default/kubelet"}},
		{"native/full.yaml", "runtime.containerd.dataDir", nil, []string{"File:/etc/containerd/config.toml"}},
		{"native/full.yaml", "runtime.containerd.limits", nil, []string{"File:/etc/systemd/system/containerd.service.d/10-limits.conf"}},
		{"native/minimal.yaml", "runtime.containerd.limits", nil, []string{"File:/etc/systemd/system/containerd.service.d/10-limits.conf"}},
		{"native/full.yaml", "runtime.cgroupDriver", nil, []string{"File:/etc/containerd/config.toml", "File:/var/lib/kubelet/config.yaml"}},
		{"native/minimal.yaml", "components.features", nil, []string{"File:/etc/slipway/features.env"}},
		{"native/minimal.yaml", "checks.apiServerTimeout", nil, []string{"Certificate:kubelet-client", "Check:api-server"}},
		{"aks/minimal.json", "kubernetes_ca_cert", []string{"$.cluster.certificateAuthority"}, []string{"Certificate:kubelet-client", "Check:api-server", "File:/etc/kubernetes/certs/ca.crt"}},
		{"aks/minimal.json", "is_vhd", []string{"$.components.preinstalled"}, []string{"Check:image-built"}},
		{"aks/minimal.json", "auth_config.service_principal_secret", []string{"$.cloud.azure.identity.clientSecret"}, []string{"File:/etc/kubernetes/azure.json"}},
		{"aks/minimal.json", "bootstrapping_config.tls_bootstrapping_token", []string{"$.join.bootstrapToken"}, []string{"Certificate:kubelet-client", "Check:api-server", "File:/var/lib/kubelet/bootstrap-kubeconfig"}},
		{"aks/minimal.json", "custom_linux_os_config.sysctl_config.net_ipv4_tcp_tw_reuse", []string{`$.system.sysctls["net.ipv4.tcp_tw_reuse"]`}, []string{"File:/etc/sysctl.d/999-sysctl-aks.conf", "Sysctl:net.ipv4.tcp_tw_reuse"}},
		{"aks/client-certificate.json", "kubelet_config.kubelet_client_key", []string{"$.join.clientCertificate.key"}, []string{"File:/etc/kubernetes/certs/client.key"}},
		{"aks/kubelet-config-file.json", "kubelet_config.kubelet_config_file_config.max_pods", []string{"$.kubelet.config.maxPods"}, []string{"File:/etc/default/kubeletconfig.json"}},
		{"aks/minimal.json", "gpu_config.enable_amd_gpu", nil, nil},
		{"aks/minimal.json", "vm_size", []string{"$.cloud.instanceType"}, nil},
	}
	for _, tt := range tests {
		x := explained(t, readExample(t, tt.example), tt.field)
		var fields, resources []string
		for _, b := range x.Becomes {
			fields = append(fields, b.Path)
		}
		for _, r := range x.Resources {
			resources = append(resources, string(r.ID))
		}
		if !slices.Equal(fields, tt.becomes) || !slices.Equal(resources, tt.resources) {
			t.Errorf("%s of %s becomes %q and ends in %q,\nwant %q and %q", tt.field, tt.example, fields, resources, tt.becomes, tt.resources)
		}
	}
}

// TestExplainPlansWhatIsInvalid holds that no value of a field makes the planner crash.
func TestExplainPlansWhatIsInvalid(t *testing.T) {
	detector.Skip(t)
	for _, document := range []string{
		"apiVersion: slipway.dev/v1\nkind: NodeConfig\n",
		"apiVersion: slipway.dev/v1\njoin: {method: ClientCertificate}\n",
		"apiVersion: slipway.dev/v1\njoin: {method: Exec}\ncloud: {azure: {}}\n",
		"apiVersion: slipway.dev/v1\ncomponents: {layout: nowhere}\n",
		`{"version": "v1"}`,
		`{"version": "v0", "bootstrapping_config": null}`,
	} {
		x := explained(t, document, "$")
		if _, err := json.Marshal(x); err != nil {
			t.Errorf("%s: %v", document, err)
		}
		_ = explained(t, document, "components.layout")
	}
}
