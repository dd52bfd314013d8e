package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
)

// If a client requires a version that the plug-in does not support, it gets an error before any request.
func TestEKSTokenAnswersOnlyInKnownVersions(t *testing.T) {
	for info, want := range map[string]string{
		`{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1alpha1"}`: `apiVersion "client.authentication.k8s.io/v1alpha1": the kubeconfig must have one of client.authentication.k8s.io/v1,`,
		`no JSON`: "KUBERNETES_EXEC_INFO is not JSON",
	} {
		t.Setenv("KUBERNETES_EXEC_INFO", info)
		var out, messages bytes.Buffer
		code := run(t.Context(), program, []string{"eks-token", "--cluster-name", "prod", "--region", "eu-west-1"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &messages})
		if code != exitcode.Invalid || out.Len() > 0 || !strings.Contains(messages.String(), want) {
			t.Errorf("%s: %d, %q, %q", info, code, out.String(), messages.String())
		}
	}
}
