package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// taintPatience is how long a start-up taint may stand on a Ready Node.
const taintPatience = 2 * time.Minute

// startUpTaint is a taint that a component removes when it has done its work on a new Node.
type startUpTaint struct {
	key    string
	by     string
	source string
}

// startUpTaints are the known ones. Taints by which pods choose Nodes, such as those of control planes, are not here.
var startUpTaints = []startUpTaint{
	{"node.cloudprovider.kubernetes.io/uninitialized", "the cloud's cloud-controller-manager", "Kubernetes docs, Cloud Controller Manager Administration"},
	{"node.kubernetes.io/network-unavailable", "the cloud's route controller or the network plug-in, when the Node has its network", "Kubernetes docs, Taints and Tolerations"},
	{"node.cilium.io/agent-not-ready", "Cilium's operator, when the agent on this Node is ready", "Cilium docs, Taint Effects"},
	{"cni.istio.io/not-ready", "Istio's istiod, when the pod of istio-cni on this Node is ready", "istio: pilot/pkg/serviceregistry/kube/controller/ambient, nodeUntainter"},
	{"ebs.csi.aws.com/agent-not-ready", "the node pod of the Amazon EBS CSI driver", "aws-ebs-csi-driver: docs/install.md"},
	{"efs.csi.aws.com/agent-not-ready", "the node pod of the Amazon EFS CSI driver", "aws-efs-csi-driver: removeNotReadyTaint"},
	{"fsx.csi.aws.com/agent-not-ready", "the node pod of the Amazon FSx CSI driver", "aws-fsx-csi-driver: docs/install.md"},
	{"s3.csi.aws.com/agent-not-ready", "the node pod of the Mountpoint for Amazon S3 CSI driver", "mountpoint-s3-csi-driver: docs"},
	{"disk.csi.azure.com/agent-not-ready", "the node pod of the Azure Disk CSI driver", "azuredisk-csi-driver: removeNotReadyTaint"},
	{"azurelustre.csi.azure.com/agent-not-ready", "the node pod of the Azure Lustre CSI driver", "azurelustre-csi-driver: docs, startup taints"},
	{"karpenter.sh/unregistered", "Karpenter, when it has matched the Node with its claim", "Karpenter docs, NodeClaims"},
	{"node.cluster.x-k8s.io/uninitialized", "Cluster API's controller of Machines", "Cluster API book, bootstrap providers"},
}

func lookTaints(_ context.Context, p *Patient) Finding {
	n, f := readNode(p)
	switch {
	case f.Cause == "missing":
		return fine("the cluster has no Node yet")
	case n == nil:
		return f
	}
	var stand, young []string
	for _, t := range n.Spec.Taints {
		for _, known := range startUpTaints {
			if t.Key != known.key {
				continue
			}
			since := n.Metadata.CreationTimestamp
			if t.TimeAdded.After(since) {
				since = t.TimeAdded
			}
			text := fmt.Sprintf("%s since %s, which %s removes", t.Key, stamp(since), known.by)
			if p.Now().Sub(since) > p.Patience(taintPatience) {
				stand = append(stand, text)
			} else {
				young = append(young, text)
			}
		}
	}
	switch {
	case len(stand) > 0:
		return wrong("stands", "a start-up taint keeps pods away: %s", strings.Join(stand, "; "))
	case len(young) > 0:
		return fine("the Node is new, and waits: %s", strings.Join(young, "; "))
	}
	return fine("the Node has no start-up taint")
}
