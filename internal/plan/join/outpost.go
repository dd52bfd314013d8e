package join

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// outpost refuses a node of a local cluster on an outpost that would join as in a region: by the cluster's name its API server knows no
// node (Amazon EKS AMI: nodeadm, withOutpostSetup).
var outpost = concern.Concern{
	Name:     "local cluster on an outpost",
	Joins:    true,
	Declines: []string{outpostPath},
	Plan:     planOutpost,
}

const outpostPath = "$.cloud.aws.outpostID"

func planOutpost(in *concern.Input, out *concern.Output) {
	if aws := in.Config.Cloud.AWS; aws != nil && aws.OutpostID != "" {
		out.Add(nodeconfig.Problem{
			Kind: nodeconfig.NotApplied, Path: outpostPath, Fatal: in.Method == nodeconfig.JoinAWS,
			Reason: "is not applied by this version: the node of a local cluster on an outpost gets a certificate by the cluster's ID, and keeps it while the region is out of reach",
		})
	}
}
