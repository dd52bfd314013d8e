package node_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/examples"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ubuntu(t *testing.T) node.Facts {
	t.Helper()
	// EKS's nodes have two more programs, and EC2's name.
	text := strings.Replace(string(read(t, "facts/ubuntu.json")), `"components": [`, `"components": [{"name": "aws", "path": "/usr/bin/aws"}, {"name": "ecr-credential-provider", "path": "/etc/eks/ecr-credential-provider"}, `, 1)
	text = strings.Replace(text, `"instance": {`, `"instance": {"id": "i-0", "hostname": "ip-10-0-0-5.eu-west-1.compute.internal", "type": "m5.large", "zone": "eu-west-1a", "lifecycle": "spot", `, 1)
	known, err := node.ParseFacts([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// Every example is read and planned. The shown plan has everything except the secrets. A plan does not differ from itself, nor from
// that of the same config made in Go.
func TestPlan(t *testing.T) {
	for _, name := range contracts.Examples(t, "..") {
		contract := node.Read(node.Document{Name: name, Data: read(t, strings.TrimPrefix(name, "../examples/"))})
		planned, problems := contract.Plan(ubuntu(t))
		if len(nodeconfig.Fatal(problems)) > 0 || len(problems) < len(contract.Problems()) || contract.Dialect() == "" {
			t.Errorf("%s: %q, %v", name, contract.Dialect(), problems)
		}
		shown, err := json.Marshal(planned)
		if err != nil {
			t.Fatal(err)
		}
		if token := contract.Config().Join.BootstrapToken.Reveal(); token != "" && strings.Contains(string(shown), token) {
			t.Errorf("%s: the token is shown", name)
		}
		if len(planned.Files) < 15 || len(planned.Units) < 2 || len(planned.Actions) < 10 || planned.Config != nodeconfig.Digest(contract.Config()) {
			t.Errorf("%s: %d files, %d units, %d actions", name, len(planned.Files), len(planned.Units), len(planned.Actions))
		}
		for _, f := range planned.Files {
			if f.Secret != (f.Kind == "File" && f.Content == nil) || f.Phase == "" || (f.Kind == "Symlink" || f.Kind == "Copy") != (f.Target != "") {
				t.Errorf("%s: %s %s, secret %v", name, f.Kind, f.Path, f.Secret)
			}
		}
		again, _ := node.FromConfig(contract.Config()).Plan(ubuntu(t))
		if d, err := node.Diff(planned, again); err != nil || d.Class != node.None || len(d.Changes) > 0 {
			t.Errorf("%s: differs from itself: %+v, %v", name, d, err)
		}
	}
}

// A contract of another dialect than the named one, without a document, or of two documents that cannot be merged, and bad facts
// are reported.
func TestUnreadable(t *testing.T) {
	minimal := node.Document{Data: read(t, "native/minimal.yaml")}
	for name, c := range map[string]*node.Contract{
		"none": node.Read(), "two of two dialects": node.Read(minimal, node.Document{Data: examples.Contract("aks")}), "another dialect": node.ReadAs("other", minimal), "no contract": node.Read(node.Document{Data: []byte("{")}),
	} {
		planned, problems := c.Plan(node.Facts{})
		if len(nodeconfig.Fatal(problems)) == 0 || c.Config() == nil || len(planned.Files) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if _, err := node.ParseFacts([]byte("{")); err == nil {
		t.Error("invalid facts are accepted")
	}
}

// Added, removed and changed parts are shown with their class and reason; secrets are not shown.
func TestDiff(t *testing.T) {
	from := func(edit func(*nodeconfig.NodeConfig)) *node.Plan {
		c := *node.Read(node.Document{Data: read(t, "native/minimal.yaml")}).Config()
		edit(&c)
		planned, problems := node.FromConfig(&c).Plan(ubuntu(t))
		if len(nodeconfig.Fatal(problems)) > 0 {
			t.Fatal(problems)
		}
		return planned
	}
	before := from(func(*nodeconfig.NodeConfig) {})
	after := from(func(c *nodeconfig.NodeConfig) {
		c.Join.BootstrapToken = nodeconfig.NewSecret("fedcba.fedcba9876543210")
		c.Kubelet.Labels = map[string]string{"team": "blue"}
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "v", Value: "4"}}
		c.System.Sysctls = map[string]string{"vm.swappiness": "10"}
	})
	for _, c := range []struct {
		from, to *node.Plan
		how      string
	}{{before, after, "added"}, {after, before, "removed"}} {
		d, err := node.Diff(c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		var hows []string
		for _, change := range d.Changes {
			hows = append(hows, change.How+" "+change.Kind+" "+change.Name)
			if change.Class > node.None && len(change.Reasons) == 0 || change.Class > d.Class {
				t.Errorf("%+v", change)
			}
		}
		shown, err := json.Marshal(d)
		if err != nil || strings.Contains(string(shown), "fedcba") || !strings.Contains(string(shown), `"class":"`+d.Class.String()) {
			t.Errorf("%s, %v", shown, err)
		}
		for _, want := range []string{c.how + " Sysctl vm.swappiness", "changed File /etc/default/kubelet", "changed File /etc/kubernetes/bootstrap-kubelet.conf"} {
			if !slices.Contains(hows, want) {
				t.Errorf("there is no %q in %q", want, hows)
			}
		}
		if d.Class < node.Restart || !slices.Contains(d.Restarts, "kubelet.service") {
			t.Errorf("takes %s, restarts %v", d.Class, d.Restarts)
		}
	}
}

// Every setting of a full contract changes the digest of the node, except for its credentials, secrets and metadata.
func TestNodeDigest(t *testing.T) {
	for _, name := range []string{"native/full.yaml", "native/minimal.yaml"} {
		tree := contracts.Parse(t, "../examples/"+name)
		digest := func(tree *document.Node) string {
			return node.NodeDigest(node.Read(node.Document{Data: tree.AppendJSON(nil)}).Config())
		}
		want, leaves := digest(tree), 0
		if !strings.HasPrefix(want, "v1-") || len(want) != 67 {
			t.Errorf("%s is no digest", want)
		}
		contracts.Walk(tree, func(path string, n *document.Node) {
			if n.Kind == document.Map || n.Kind == document.List || path == "$.apiVersion" || path == "$.kind" {
				return
			}
			leaves++
			same := path == "$.join.bootstrapToken" || nodeconfig.IsSecretPlace(path) || document.Within(path, "$.metadata") || document.Within(path, "$.join.clientCertificate")
			var other *document.Node // no other document
			if path == "$.join.bootstrapToken" {
				other = &document.Node{Kind: document.String, Text: "fedcba.fedcba9876543210"}
			}
			if got := digest(contracts.Replace(tree, path, other)) == want; got != same {
				t.Errorf("%s: with another %s, or none, the digest is the same: %v", name, path, got)
			}
		})
		if leaves < 4 {
			t.Errorf("%s: only %d leaves", name, leaves)
		}
	}
}
