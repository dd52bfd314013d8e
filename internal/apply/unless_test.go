package apply_test

import (
	"context"
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// A check for a joining node does not run on a node that has joined: its token may have expired.
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

// A failed advisory check fails nothing, delays nothing, and is reported.
func TestCheckAdvisory(t *testing.T) {
	m := newMemory()
	m.probe = func(context.Context, *resource.Check) error { return errInjected }
	check := resource.Resource{Spec: &resource.Check{Label: "client", Advisory: true}, ExitCode: 220}
	report := applied(t, m, with(check, started("kubelet.service", check.ID())))
	if m.units["kubelet.service"] == nil {
		t.Error("the kubelet does not run")
	}
	if len(report.Advice) != 1 || len(report.Skipped) > 0 {
		t.Fatalf("%+v", report)
	}
	if failed, ok := errors.AsType[*apply.Error](report.Advice[0]); !ok || failed.Resource != check.ID() || failed.ExitCode != 220 || !errors.Is(failed, errInjected) {
		t.Errorf("%v", report.Advice)
	}
}
