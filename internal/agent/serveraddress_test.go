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

// privateContract is a contract whose API server has a private-link name.
func privateContract(t *testing.T) []byte {
	return aksWith(t, "minimal.json", map[string]any{
		"enable_hosts_config_agent": true, "api_server_config": map[string]any{"api_server_name": serverName},
	})
}

// asked is a metadata service that counts the requests for the machine's description.
type asked struct {
	described
	times int
	err   error
}

func (a *asked) Instance(context.Context) (facts.Instance, error) {
	a.times++
	return a.said, a.err
}

// taggedWith is the metadata service's description of a machine with an address in its tag.
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

// made provisions with the machine's facts, and requires a node.
func (n *node) made() {
	n.Helper()
	if got := n.Provision(context.Background(), ProvisionOptions{}); got.ExitCode != 0 {
		n.Fatal(got.Error)
	}
}

// wantAddress requires the API server's line of /etc/hosts, with other lines after it. "" means no such line.
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

// The agent requests the machine's tags once, before it plans the node. It records them for a boot without network and
// for a service that has lost them. The machine's names stay those that came with its contract.
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
		"retagged":  {described: described{taggedWith("10.0.0.5")}}, // the watcher follows the tag
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

// If the service does not answer, the node is made all the same, and the next boot asks again.
func TestTagsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	service := &asked{err: errors.New("down")}
	n := onAzure(t, service)
	n.made()
	n.wantAddress("")
	if !strings.Contains(n.log.String(), "the node is planned without what it would say") {
		t.Errorf("no warning: %s", n.log.String())
	}
	*service = asked{described: described{taggedWith("10.0.0.4")}}
	n.made()
	n.wantAddress("10.0.0.4")
}

// If the plan does not depend on the tags, the agent does not request them before the node is there.
func TestTagsAreNotRequestedIfUnused(t *testing.T) {
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
