package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// The result does not wait for the distribution's certificate tool: the tool runs after the result is published, and
// the status gets its failure later.
func TestResultDoesNotWaitForTrustTool(t *testing.T) {
	t.Parallel()
	n := onAzure(t, nil)
	n.deliver(credential, aksWith(t, "minimal.json", map[string]any{"cluster_config": map[string]any{"location": "ussecwest"}}))
	n.Cloud = &clouds{authorities: facts.Authorities{Certificates: []string{exampleCertificate(t)}}}
	runs, answer := 0, errors.New("no hash for it")
	n.host.run = func(_ context.Context, c *resource.Command) ([]byte, error) {
		if c.Argv[0] != "update-ca-certificates" {
			return nil, nil
		}
		if runs++; !n.exists(aksPlace.complete) || !n.exists(aksPlace.result.Path) {
			t.Error("the tool runs before the result is published")
		}
		return nil, answer
	}
	n.made()
	got, err := n.LastStatus()
	if err != nil {
		t.Fatal(err)
	}
	if runs != 1 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, "no hash for it") {
		t.Errorf("%d runs, warnings %v", runs, got.Warnings)
	}
	// The power was cut while the warning was written: nothing of that stays.
	half := halfOf(state.Status)
	n.deliver(half, []byte("{"))
	if n.made(); runs != 1 || n.exists(half) {
		t.Errorf("%d runs after another boot; %s is there: %v", runs, half, n.exists(half))
	}
}
