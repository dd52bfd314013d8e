package compile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// maxWarnings is a number of warnings that a person still reads.
const maxWarnings = 8

// TestPlainContract: a contract as AKS's own programs send it, with every field that they fill, has few warnings. Each names
// something that the node does not have or do. No warning is about defaults, empty strings, or settings below a switch that is off.
func TestPlainContract(t *testing.T) {
	known, err := facts.Parse([]byte(read(t, "../../examples/facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	_, problems := compile.ReadOne("", []byte(read(t, "testdata/plain.json"))).Plan(known)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 || len(problems) > maxWarnings {
		t.Errorf("%d warnings, want at most %d, and errors %v", len(problems), maxWarnings, fatal)
	}
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	want := []string{
		"$.kubelet_config.kubelet_config_file_config.streaming_connection_idle_timeout",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A setting that is allowed by name is a warning, under the names of either document. Every other problem explains how to allow the
// setting.
func TestAllowUnapplied(t *testing.T) {
	const contract = `{"version":"v1","kubelet_config":{"kubelet_flags":{"--image-credential-provider-bin-dir":"/b","--image-credential-provider-config":"/var/lib/kubelet/credential-provider-config.yaml"}},"service_account_image_pull_profile":{"enabled":true}}`
	unapplied := func(allowed ...string) (paths []string) {
		c := compile.ReadOne("", []byte(contract))
		c.AllowUnapplied(allowed...)
		_, problems := c.Plan(facts.Facts{})
		for _, p := range problems {
			if compile.IsUnapplied(p) {
				paths = append(paths, p.Path)
			}
		}
		return paths
	}
	const pull = "$.service_account_image_pull_profile.enabled"
	for _, c := range []struct{ allowed, want []string }{
		{nil, []string{pull}},
		{[]string{"service_account_image_pull_profile"}, nil},
		{[]string{"$.service_account_image_pull_profile.enabled"}, nil},
		{[]string{"service_account_image_pull", "enabled", "$.", ""}, []string{pull}},
	} {
		if diff := cmp.Diff(c.want, unapplied(c.allowed...)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", c.allowed, diff)
		}
	}
}
