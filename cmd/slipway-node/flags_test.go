package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/cli"
)

// Of several wrong flags, the first one is reported, always the same.
func TestWrongFlagsAreReportedInOrder(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"watch", "--drift-interval", "1s", "--interval", "1s"}, "--interval must be at least"},
		{[]string{"watch", "--metrics-textfile", "b", "--metrics-socket", "a"}, "--metrics-socket must be an absolute path"},
		{[]string{"local-dns"}, "--coredns must be an absolute path"},
		{[]string{"eks-token", "--region", "eu"}, "--cluster-name must be the name of a cluster"},
		{[]string{"eks-token", "--cluster-name", "prod", "--region", "eu"}, "--region must be a region"},
		{[]string{"eks-token", "--cluster-name", "prod", "--root", "node"}, "--root: a directory has no AWS identity"},
	} {
		for range 20 {
			var messages bytes.Buffer
			run(t.Context(), program, test.args, cli.Streams{In: strings.NewReader(""), Out: &messages, Err: &messages})
			if !strings.Contains(messages.String(), test.want) {
				t.Errorf("%v: %q, want %q", test.args, messages.String(), test.want)
			}
		}
	}
}
