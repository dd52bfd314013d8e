package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/state"
)

// trusted are the certificates that the system trusts in addition, as they are written.
func (n *node) trusted() (all []string) {
	n.Helper()
	names, err := filepath.Glob(n.root + "/usr/local/share/ca-certificates/*.crt")
	if err != nil {
		n.Fatal(err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			n.Fatal(err)
		}
		all = append(all, string(content))
	}
	slices.Sort(all)
	return all
}

// exampleCertificate is a certificate that can stand for a cloud's.
func exampleCertificate(t *testing.T) string {
	t.Helper()
	_, pem, found := strings.Cut(string(example(t, "native/minimal.yaml")), "-----BEGIN CERTIFICATE-----")
	pem, _, whole := strings.Cut(pem, "-----END CERTIFICATE-----")
	if !found || !whole {
		t.Fatal("the example has no certificate")
	}
	return "-----BEGIN CERTIFICATE-----\n" + strings.Join(strings.Fields(pem), "\n") + "\n-----END CERTIFICATE-----\n"
}

// An AKS node trusts its cloud's certificate authorities before it pulls anything. If the cloud does not answer, they
// stay, with a warning. If the cloud does not list them any more, they go. If a run loses its power while it records
// them, nothing of that run remains, whatever the cloud answers at the next boot.
func TestCloudAuthorities(t *testing.T) {
	t.Parallel()
	certificate := exampleCertificate(t)
	n := onAzure(t, nil)
	n.deliver(credential, aksWith(t, "minimal.json", map[string]any{"cluster_config": map[string]any{"location": "ussecwest"}}))
	for _, boot := range []struct {
		name  string
		cloud *clouds
		want  []string
		told  bool
	}{
		{"the cloud is away", &clouds{refusal: errors.New("down")}, nil, true},
		{"the cloud names one", &clouds{authorities: facts.Authorities{Certificates: []string{certificate}}}, []string{certificate}, false},
		{"the cloud is away again", &clouds{refusal: errors.New("down")}, []string{certificate}, true},
		{"no cloud", nil, []string{certificate}, false},
		{"the cloud answers in part", &clouds{refusal: errors.New("cut"), authorities: facts.Authorities{Certificates: []string{certificate}}}, []string{certificate}, true},
		{"the cloud names none", &clouds{}, nil, false},
		{"the cloud is away at last", &clouds{refusal: errors.New("down")}, nil, true},
	} {
		n.Cloud = nil
		if boot.cloud != nil {
			n.Cloud = boot.cloud
		}
		half := halfOf(state.Authorities)
		n.deliver(half, []byte("{"))
		got := n.Provision(t.Context(), ProvisionOptions{})
		if got.ExitCode != 0 {
			t.Fatalf("%s: %v", boot.name, got.Error)
		}
		if n.exists(half) {
			t.Errorf("%s: %s is left behind", boot.name, half)
		}
		if trusted := n.trusted(); !slices.Equal(trusted, boot.want) {
			t.Errorf("%s: trusted are %q", boot.name, trusted)
		}
		told := false
		for _, p := range got.Problems {
			told = told || p.Path == "$.cluster_config.location" && !p.Fatal
		}
		if told != boot.told {
			t.Errorf("%s: the problems are %v", boot.name, got.Problems)
		}
		if boot.cloud != nil && !slices.Equal(boot.cloud.regions, []string{"ussecwest"}) {
			t.Errorf("%s: asked for %q", boot.name, boot.cloud.regions)
		}
	}
}

// The agent does not request the certificate authorities in another cloud, for a node that is not AKS's, or for an
// image.
func TestCloudAuthoritiesOnlyForNodesOfAKS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contract  []byte
		elsewhere bool
	}{
		"another cloud":  {contract: example(t, "aks/minimal.json"), elsewhere: true},
		"another family": {contract: example(t, "native/minimal.yaml")},
		"an image":       {contract: aksWith(t, "minimal.json", map[string]any{"pre_provision_only": true})},
	} {
		n := onAzure(t, nil)
		told := &clouds{authorities: facts.Authorities{Certificates: []string{exampleCertificate(t)}}}
		n.Cloud = told
		n.deliver(credential, c.contract)
		if c.elsewhere {
			n.deliver("/sys/class/dmi/id/chassis_asset_tag", []byte("none\n"))
		}
		if name == "an image" {
			n.deliver(components.Path, []byte(`{"apiVersion": "slipway.dev/v1", "kind": "ComponentManifest", "components": [
			{"name": "containerd", "version": "2.2.4", "path": "/usr/bin/containerd"}, {"name": "kubelet", "version": "1.34.2", "path": "/usr/local/bin/kubelet"}]}`))
		}
		if n.made(); len(told.regions) > 0 || len(n.trusted()) > 0 {
			t.Errorf("%s: asked for %q, %d are trusted", name, told.regions, len(n.trusted()))
		}
	}
}

// If a disk was cloned from another machine, the answers of that machine's cloud are dropped.
func TestCloudAuthoritiesOfAnotherMachine(t *testing.T) {
	t.Parallel()
	n := onAzure(t, nil)
	n.Cloud = &clouds{authorities: facts.Authorities{Certificates: []string{exampleCertificate(t)}}}
	n.deliver(credential, example(t, "aks/minimal.json"))
	if n.made(); len(n.trusted()) != 1 || !n.exists(state.Authorities.Path) {
		t.Fatalf("%d are trusted", len(n.trusted()))
	}
	n.deliver("/etc/machine-id", []byte("ffffffffffffffffffffffffffffffff\n"))
	n.Cloud = &clouds{refusal: errors.New("down")}
	if n.made(); len(n.trusted()) != 0 || n.exists(state.Authorities.Path) {
		t.Errorf("%d are trusted", len(n.trusted()))
	}
}
