package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A node of AKS keeps the credential that it joined with, as AKS leaves it, and needs nothing that removes it.
func TestBootstrapCredentialStaysOnAKS(t *testing.T) {
	p, _ := New(contract(t, "aks/azure-cni.json"), ubuntu(t))
	resources := p.ByID()
	if file := resources["File:/var/lib/kubelet/bootstrap-kubeconfig"].Spec.(*resource.File); !file.Stays || !file.Temporary() || file.Mode != 0o600 || !file.Secret {
		t.Errorf("the credential is %+v", file)
	}
	for id := range resources {
		if strings.Contains(string(id), "slipway-retire-credential") {
			t.Errorf("%s removes it", id)
		}
	}
}

// The bootstrap credential is removed when the kubelet can start without it, wherever the kubelet's files are. It stays if systemd
// cannot know their paths.
func TestRetireCredential(t *testing.T) {
	const certificate, kubeconfig = "/var/lib/kubelet/pki/kubelet-client-current.pem", "/etc/kubernetes/kubelet.conf"
	for name, c := range map[string]struct {
		flags    []nodeconfig.Flag
		until    []string
		warnings []string
	}{
		"where they are":        {until: []string{certificate, kubeconfig}},
		"a directory elsewhere": {flags: []nodeconfig.Flag{{Name: "cert-dir", Value: "/x"}}, until: []string{"/x/kubelet-client-current.pem", kubeconfig}},
		"nowhere plain": {
			flags:    []nodeconfig.Flag{{Name: "cert-dir", Value: "/$x"}},
			warnings: []string{"cert-dir is not a plain absolute path"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Kubelet.Flags = append(n.Kubelet.Flags, c.flags...) })
			p, problems := New(config, ubuntu(t))
			var warnings []string
			for _, problem := range problems {
				if warning, _, found := strings.Cut(problem.Reason, ":"); found && strings.HasSuffix(warning, "plain absolute path") {
					warnings = append(warnings, warning)
				}
			}
			if !slices.Equal(warnings, c.warnings) {
				t.Errorf("warnings: %q, want %q", warnings, c.warnings)
			}
			resources := p.ByID()
			if file := resources["File:/etc/kubernetes/bootstrap-kubelet.conf"].Spec.(*resource.File); file.Stays || !slices.Equal(file.Until, c.until) {
				t.Errorf("it goes when there are %q, want %q", file.Until, c.until)
			}
			unit, found := resources["File:/etc/systemd/system/slipway-retire-credential.service"]
			if found != (c.until != nil) {
				t.Fatalf("a unit that removes it: %t", found)
			}
			for _, path := range c.until {
				if !strings.Contains(string(unit.Spec.(*resource.File).Content), "\nExecStart=test -s "+path+"\n") {
					t.Errorf("the unit does not wait for %s", path)
				}
			}
		})
	}
}
