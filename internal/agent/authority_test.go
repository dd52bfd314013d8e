package agent

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// pinnedContract is a contract that pins the CA of an example by a hash, and that CA.
func pinnedContract(t *testing.T) (contract, authority string) {
	t.Helper()
	given := dialect.Decode(example(t, "native/minimal.yaml"), "").Config.Cluster.CertificateAuthority
	return `apiVersion: slipway.dev/v1
kind: NodeConfig
cluster:
  kubernetesVersion: "1.36.3"
  server: https://10.0.0.1:6443
  certificateAuthorityHashes: ["sha256:4ba2b29ad733a249cba567266a0e7bc78a08c06704a53d87ecffecc81082f86d"]
join: {bootstrapToken: abcdef.0123456789abcdef}
`, given
}

// TestPinnedAuthority: a CA that is pinned is fetched once, and kept: a later boot needs no server for it, until the pin changes.
func TestPinnedAuthority(t *testing.T) {
	contract, authority := pinnedContract(t)
	n := newNode(t)
	n.host.answers = true
	asked := 0
	var answer error
	n.host.authority = func(server *resource.APIServer, pins func(string) bool) (string, error) {
		asked++
		if server.Server != "https://10.0.0.1:6443" || server.Token.Reveal() != "abcdef.0123456789abcdef" || !pins(authority) || pins("") {
			t.Errorf("asked %+v", server)
		}
		return authority, answer
	}
	n.deliver(nativeContract, []byte(contract))
	if got := n.provision(); got.ExitCode != 0 || asked != 1 {
		t.Fatalf("%d after %d questions: %v", got.ExitCode, asked, got.Errors)
	}
	if got := string(n.read("/etc/kubernetes/pki/ca.crt")); got != authority {
		t.Errorf("the node's CA is %q", got)
	}
	answer = errors.New("must not be asked")
	if err := os.Remove(n.root + "/etc/kubernetes/pki/ca.crt"); err != nil {
		t.Fatal(err)
	}
	if got := n.provision(); got.ExitCode != 0 || asked != 1 {
		t.Fatalf("the second boot: %d after %d questions: %v", got.ExitCode, asked, got.Errors)
	}
	if got := string(n.read("/etc/kubernetes/pki/ca.crt")); got != authority {
		t.Errorf("the node's CA is %q after the second boot", got)
	}
	n.deliver(nativeContract, []byte(strings.ReplaceAll(contract, "sha256:4", "sha256:5")))
	n.host.authority = func(*resource.APIServer, func(string) bool) (string, error) {
		asked++
		return "", &apply.CheckError{Cause: resource.CausePin, Endpoint: "https://10.0.0.1:6443", Err: errors.New("is another CA")}
	}
	if got := n.provision(); got.ExitCode != exitcode.APIServerUnreachable || asked != 2 {
		t.Errorf("with another pin: %d after %d questions: %v", got.ExitCode, asked, got.Errors)
	}
}

// TestUnpinnedAuthority: without a hash the agent takes the CA that the token of the discovery has signed. It keeps it for the same
// server, and asks another one.
func TestUnpinnedAuthority(t *testing.T) {
	pinned, authority := pinnedContract(t)
	contract := strings.Replace(pinned, `certificateAuthorityHashes: ["sha256:4ba2b29ad733a249cba567266a0e7bc78a08c06704a53d87ecffecc81082f86d"]`, "unsafeSkipCAVerification: true", 1)
	contract = strings.Replace(contract, "join: {", "join: {discoveryToken: fedcba.0123456789abcdef, ", 1)
	n := newNode(t)
	n.host.answers = true
	var asked []string
	n.host.authority = func(server *resource.APIServer, accepts func(string) bool) (string, error) {
		asked = append(asked, server.Server)
		if server.Token.Reveal() != "fedcba.0123456789abcdef" || !accepts(authority) || accepts("") || accepts("no certificate") {
			t.Errorf("asked %+v", server)
		}
		return authority, nil
	}
	for i, change := range []string{"", "", "10.0.0.2", "10.0.0.2"} {
		n.deliver(nativeContract, []byte(strings.ReplaceAll(contract, "10.0.0.1", cmp.Or(change, "10.0.0.1"))))
		if got := n.provision(); got.ExitCode != 0 || string(n.read("/etc/kubernetes/pki/ca.crt")) != authority {
			t.Fatalf("run %d: %d: %v", i, got.ExitCode, got.Errors)
		}
	}
	if want := []string{"https://10.0.0.1:6443", "https://10.0.0.2:6443"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if kubeconfig := string(n.read("/etc/kubernetes/bootstrap-kubelet.conf")); !strings.Contains(kubeconfig, "abcdef.0123456789abcdef") || strings.Contains(kubeconfig, "fedcba") {
		t.Error("the node does not join with its bootstrap token")
	}
}

// TestRefusedAuthority: nothing is made of a contract whose pinned CA cannot be had, and the cause is named with what to do.
func TestRefusedAuthority(t *testing.T) {
	contract, _ := pinnedContract(t)
	for name, c := range map[string]struct {
		err    error
		code   int
		cause  resource.Cause
		action string
	}{
		"another CA":       {&apply.CheckError{Cause: resource.CausePin, Endpoint: "https://a", Err: errors.New("x")}, exitcode.APIServerUnreachable, resource.CausePin, "print-join-command"},
		"unsigned":         {&apply.CheckError{Cause: resource.CauseUnsigned, Endpoint: "https://a", Err: errors.New("x")}, exitcode.APIServerUnreachable, resource.CauseUnsigned, "bootstrapsigner"},
		"a redirect":       {&apply.CheckError{Cause: resource.CauseRedirect, Endpoint: "https://a", Err: errors.New("x")}, exitcode.APIServerUnreachable, resource.CauseRedirect, "API server itself"},
		"not shown":        {&apply.CheckError{Cause: resource.CauseDiscovery, Endpoint: "https://a", Err: errors.New("x")}, exitcode.APIServerUnreachable, resource.CauseDiscovery, "cluster-info"},
		"another's":        {&apply.CheckError{Cause: resource.CauseTLS, Endpoint: "https://a", Err: errors.New("x")}, exitcode.APIServerUnreachable, resource.CauseTLS, "CA"},
		"silence":          {&apply.CheckError{Cause: resource.CauseConnection, Endpoint: "https://a", Err: context.DeadlineExceeded}, exitcode.APIServerUnreachable, resource.CauseConnection, "subnet"},
		"no name":          {&apply.CheckError{Cause: resource.CauseDNS, Endpoint: "https://a", Err: errors.New("x")}, exitcode.APIServerNameUnresolved, resource.CauseDNS, "DNS"},
		"no server to ask": {apply.ErrNotProbed, exitcode.AKSNodeController, "", "slipway validate"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.host.authority = func(*resource.APIServer, func(string) bool) (string, error) { return "", c.err }
			n.deliver(nativeContract, []byte(contract))
			got := n.provision()
			if got.ExitCode != c.code || len(got.Errors) == 0 || got.Errors[0].Cause != string(c.cause) || !strings.Contains(got.Errors[0].Action, c.action) {
				t.Fatalf("got %d: %+v", got.ExitCode, got.Errors)
			}
			n.published(nativePlace, c.code)
			for _, path := range []string{"/etc/kubernetes", "/etc/systemd", state.Dir + "/generations"} {
				if n.exists(path) {
					t.Errorf("%s is there", path)
				}
			}
			if n.exists(filepath.Join(state.Dir, "intent.json")) {
				t.Error("an apply has begun")
			}
		})
	}
}
