package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
)

// A problem within an override has its line in the ClusterConfig if the override is a literal block, and else that of the override.
func TestPlacesWithinAnOverride(t *testing.T) {
	const (
		at    = "$.nodeGroups[0].overrideBootstrapCommand"
		group = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: prod, region: eu-west-1}\nnodeGroups:\n  - name: a\n    overrideBootstrapCommand: "
		block = `|
      apiVersion: node.eks.aws/v1alpha1
      kind: NodeConfig
      spec:
        kubelet:
          config: {maxPods: 3}
          maxPodsExpression: [x]
          flags:
            - --v=2
            - word
            - "--a='b"
            - --node-ip=x
        instance:
          localStorage:
            strategy: RAID0
`
		quoted = `"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {flags: [word]}}"
`
		broken = `|
      apiVersion: node.eks.aws/v1alpha1
      kind: NodeConfig
      spec: [a
      b: c
`
	)
	for name, c := range map[string]struct {
		text string
		want map[string]string
	}{
		"a block": {block, map[string]string{
			at + ".spec.kubelet.maxPodsExpression": "12:30", at + ".spec.kubelet.flags[1]": "15:15", at + ".spec.kubelet.flags[2]": "16:15",
		}},
		"a quoted text": {quoted, map[string]string{at + ".spec.kubelet.flags[0]": "6:31"}},
		"no YAML":       {broken, map[string]string{at: "10:8"}},
	} {
		got := dialect.Decode([]byte(group+c.text), "")
		found := make(map[string]string)
		for _, p := range got.Problems {
			if strings.HasPrefix(p.Path, at) {
				found[p.Path] = fmt.Sprintf("%d:%d", p.Line, p.Column)
			}
		}
		for path, want := range c.want {
			if found[path] != want {
				t.Errorf("%s: %s is at %q, want %s", name, path, found[path], want)
			}
		}
	}
	// What is found later has its own place, too, and the index of the list of its author.
	got := dialect.Decode([]byte(group+block), "")
	for path, want := range map[string]string{
		"$.kubelet.flags[0]": "flags[0] 14:15", "$.kubelet.flags[1]": "flags[2] 16:15", "$.kubelet.flags[2]": "flags[3] 17:15", "$.system.localStorage.strategy": "localStorage.strategy 20:23",
	} {
		p := got.Place(nodeconfig.Problem{Path: path, Reason: "x"})
		if place := fmt.Sprintf("%s %d:%d", p.Path, p.Line, p.Column); !strings.HasSuffix(place, "."+want) {
			t.Errorf("%s is at %s, want %s", path, place, want)
		}
	}
}

// A problem with what is known of the cluster besides names that document, and its path there.
func TestProblemsOfACluster(t *testing.T) {
	const document = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: prod, region: eu-west-1}\nnodeGroups: [{name: a}]\n"
	for name, c := range map[string]struct{ cluster, want string }{
		"another region":     {`{"cluster": {"endpoint": "https://a.example", "arn": "arn:aws:eks:us-east-1:1:cluster/prod"}}`, "cluster.json: $.cluster.arn: has another region"},
		"without a query":    {`{"endpoint": "https://a.example", "arn": "arn:aws:eks:eu-west-1:1:cluster/other"}`, "cluster.json: $.arn: has another name"},
		"plain HTTP":         {`{"cluster": {"endpoint": "http://a.example"}}`, "cluster.json: $.cluster.endpoint: is not a URL"},
		"no PEM":             {`{"cluster": {"endpoint": "https://a.example", "certificateAuthority": {"data": "eA=="}}}`, "cluster.json: $.cluster.certificateAuthority.data: is not a PEM"},
		"a small range":      {`{"cluster": {"endpoint": "https://a.example", "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.0.0.0/30"}}}`, "cluster.json: $.cluster.kubernetesNetworkConfig.serviceIpv4Cidr: has no tenth address"},
		"a server elsewhere": {`{"cluster": {"endpoint": "https://0123.gr7.us-east-1.eks.amazonaws.com"}}`, "$.metadata.region: is another region than that of cluster.endpoint of cluster.json"},
	} {
		got := dialect.DecodeAs([]byte(document), dialect.Reading{Choice: eksctl.Choice{Cluster: []byte(c.cluster), ClusterName: "cluster.json"}})
		found := false
		for _, p := range got.Problems {
			found = found || strings.HasPrefix(p.String(), "error: "+c.want)
		}
		if !found {
			t.Errorf("%s: got %v, want %s", name, got.Problems, c.want)
		}
	}
}
