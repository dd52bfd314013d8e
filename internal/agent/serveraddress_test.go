package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/source"
)

const (
	hostsPath  = "/etc/hosts"
	serverName = "example-1.privatelink.eastus.azmk8s.io"
)

// privateContract is a contract whose API server has a name of a private link.
func privateContract(t *testing.T) []byte {
	return aksWith(t, "minimal.json", map[string]any{
		"enable_hosts_config_agent": true, "api_server_config": map[string]any{"api_server_name": serverName},
	})
}

// asked is a metadata service that counts how often it is asked what it says of the machine.
type asked struct {
	described
	times int
	err   error
}

func (a *asked) Instance(context.Context) (facts.Instance, error) {
	a.times++
	return a.said, a.err
}

// taggedWith is what the metadata service says of a machine with an address in its tag.
func taggedWith(address string) facts.Instance {
	return facts.Instance{
		Platform: facts.Azure, ID: "i", Type: "Standard_D2s_v5", Hostname: "other", Tags: facts.Tags{Tagged: true, APIServerAddress: address},
	}
}

// onAzure is a fresh machine of Azure's that has a contract.
func onAzure(t *testing.T, service source.Service) *node {
	n := newNode(t)
	n.Cloud = &clouds{service: service}
	n.deliver("/etc/os-release", []byte("ID=ubuntu\nVERSION_ID=24.04\n"))
	n.deliver("/etc/machine-id", []byte("0f3a5b7c9d1e4f60a1b2c3d4e5f60718\n"))
	n.deliver("/sys/class/dmi/id/chassis_asset_tag", []byte("7783-7084-3265-9085-8269-3286-77\n"))
	n.deliver(hostsPath, []byte("127.0.0.1 localhost\n"))
	n.deliver(credential, privateContract(t))
	return n
}

// made provisions with the facts of the machine itself, and wants a node.
func (n *node) made() {
	n.Helper()
	if got := n.Provision(context.Background(), ProvisionOptions{}); got.ExitCode != 0 {
		n.Fatal(got.Error)
	}
}

// wantAddress wants the API server's line of /etc/hosts, and the lines of others after it; no address for "".
func (n *node) wantAddress(address string) {
	n.Helper()
	line := address + " " + serverName
	if address == "" {
		line = "# " + serverName + " has no address yet"
	}
	got := string(n.read(hostsPath))
	if lines := strings.Split(got, "\n"); len(lines) < 4 || !strings.HasPrefix(lines[1], line) || !strings.HasSuffix(got, "\n127.0.0.1 localhost\n") {
		n.Errorf("%s is %q, want %q first", hostsPath, got, line)
	}
}

// The machine's tags are asked for before the node is planned, and once: they are recorded, for a boot that has no network
// and for a service that has forgotten them. The machine's names stay those that its contract came with.
func TestTagsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	service := &asked{described: described{taggedWith("10.0.0.4")}}
	n := onAzure(t, service)
	n.made()
	n.wantAddress("10.0.0.4")
	if service.times != 1 {
		t.Errorf("the service is asked %d times", service.times)
	}
	recorded, err := facts.Parse(n.read(FactsPath))
	if err != nil || recorded.Instance == nil || recorded.Instance.Type != "Standard_D2s_v5" || recorded.Instance.APIServerAddress != "10.0.0.4" || recorded.Instance.Hostname != "" {
		t.Errorf("recorded is %+v, %v", recorded.Instance, err)
	}
	if record := string(n.read(IdentityPath)); !strings.Contains(record, "10.0.0.4") || strings.Contains(record, `"id"`) || strings.Contains(record, "other") {
		t.Errorf("the record of the machine is %s", record)
	}
	if n.exists("/etc/hostname") {
		t.Error("the machine has got a name")
	}
	for name, later := range map[string]*asked{
		"away":      {err: errors.New("down")},
		"untagged":  {described: described{taggedWith("")}},
		"retagged":  {described: described{taggedWith("10.0.0.5")}}, // it is the watcher's to follow
		"nameless":  {described: described{facts.Instance{}}},
		"not there": nil,
	} {
		n.Cloud = nil
		if later != nil {
			n.Cloud = &clouds{service: later}
		}
		n.made()
		if n.wantAddress("10.0.0.4"); t.Failed() {
			t.Fatalf("after a boot with a service that is %s", name)
		}
	}
}

// A node is made also where the service does not answer, and the next boot asks again.
func TestTagsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	service := &asked{err: errors.New("down")}
	n := onAzure(t, service)
	n.made()
	n.wantAddress("")
	if !strings.Contains(n.log.String(), "the node is planned without what it would say") {
		t.Errorf("nobody is told: %s", n.log.String())
	}
	*service = asked{described: described{taggedWith("10.0.0.4")}}
	n.made()
	n.wantAddress("10.0.0.4")
}

// A machine whose plan does not depend on its tags is not asked for them before its node is there.
func TestTagsThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	service := &asked{described: described{taggedWith("10.0.0.4")}}
	n := onAzure(t, service)
	n.deliver(credential, example(t, "aks/minimal.json"))
	n.host.before = func(op, name string) error {
		if op == "WriteFileAtomic" && name == aksPlace.complete && service.times > 0 {
			t.Error("the service is asked while the node is made")
		}
		return nil
	}
	n.made()
	if got := string(n.read(hostsPath)); got != "127.0.0.1 localhost\n" {
		t.Errorf("%s is %q", hostsPath, got)
	}
}
