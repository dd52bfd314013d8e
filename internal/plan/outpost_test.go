package plan

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A node of a local cluster on an outpost is refused where it would join by the cluster's name.
func TestNodeOnOutpost(t *testing.T) {
	for method, fatal := range map[nodeconfig.JoinMethod]bool{nodeconfig.JoinAWS: true, nodeconfig.JoinBootstrapToken: false} {
		c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Cloud.AWS = &nodeconfig.AWS{Region: "eu-west-1", OutpostID: "0123abcd-0123-4567-89ab-0123456789ab"}
			if n.Join.Method = method; method == nodeconfig.JoinAWS {
				n.Join = nodeconfig.Join{Method: method, AWS: &nodeconfig.AWSIdentity{ClusterName: "prod", Region: "eu-west-1"}}
			}
		})
		_, problems := New(c, facts.Facts{})
		if i := slices.IndexFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == "$.cloud.aws.outpostID" }); i < 0 || problems[i].Fatal != fatal {
			t.Errorf("%s: %v", method, problems)
		}
	}
}
