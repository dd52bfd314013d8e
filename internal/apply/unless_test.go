package apply_test

import (
	"context"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

// A check that was for a node that joins is not for one that has joined: its token may have expired.
func TestCheckUnless(t *testing.T) {
	check := resource.Resource{Spec: &resource.Check{Label: "api-server", Unless: "/var/lib/kubelet/kubeconfig"}}
	for _, joined := range []bool{false, true} {
		m := newMemory()
		m.before = failing("probe api-server")
		p := with(check, started("kubelet.service", check.ID()))
		if joined {
			applied(t, m, with(file("/var/lib/kubelet/kubeconfig", "joined")))
		}
		_, err := engine(m).Apply(context.Background(), p)
		if failed := err != nil; failed == joined {
			t.Errorf("joined %v: %v", joined, err)
		}
		if running := m.units["kubelet.service"] != nil; running != joined {
			t.Errorf("joined %v: kubelet runs: %v", joined, running)
		}
	}
}
