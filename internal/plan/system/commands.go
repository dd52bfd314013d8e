package system

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// commands plans the author's shell commands, except one that starts the kubelet: the concern of the kubelet's start plans
// that.
var commands = concern.Concern{
	Name:  "commands",
	Joins: true,
	Reads: []string{"$.commands"},
	Plan:  planCommands,
}

func planCommands(in *concern.Input, out *concern.Output) {
	texts := in.Config.Commands
	if len(texts) > 0 && in.Facts.NoBash {
		out.Fatal(nodeconfig.NotInstalled, "$.commands", "are run by %s, and the image has none; use an image that has it, or give files and units in their place", facts.Bash)
	}
	for i := range texts {
		if i == in.Starter {
			break
		}
		r := concern.ShellCommand(texts, i)
		r.Reason = "a command of the contract's author, run as it is"
		out.AppendTo(concern.RuntimeGroup, r)
		out.AskedBy(document.IndexPath("$.commands", i))
	}
	if helper := in.Family.Command.Helper; helper != "" && len(texts) > 0 {
		out.File(resource.Join, helper, 0o755, helperScript(in.Family), "the variables of the node, for commands that source them (eksctl: bootstrap.helper.sh)")
	}
}

// helperScript has the variables that eksctl leaves for commands (eksctl: pkg/nodebootstrap/assets/scripts/bootstrap.helper.sh). Their
// values are in the node's own files.
func helperScript(family *profile.Profile) []byte {
	command, paths := &family.Command, &family.Paths
	return []byte(strings.Join([]string{
		"# The variables of this node, for the commands of its contract, which source this file.",
		"set -o errexit -o pipefail -o nounset",
		"NODE_LABELS= NODE_TAINTS= MAX_PODS= INSTANCE_ID= INSTANCE_LIFECYCLE=",
		". " + command.Metadata,
		". " + paths.KubeletEnv,
		"[ ! -r " + command.Local + " ] || . " + command.Local,
		`CLUSTER_NAME=$AWS_EKS_CLUSTER_NAME`,
		`API_SERVER_URL=$AWS_EKS_ENDPOINT`,
		`B64_CLUSTER_CA=$(base64 -w 0 ` + paths.CA + `)`,
		"KUBELET_CONFIG=" + paths.KubeletConfig,
		`CLUSTER_DNS=$(tr -d '[:space:]"' <"$KUBELET_CONFIG" | sed -n 's/.*clusterDNS:\[\([^]]*\)\].*/\1/p')`,
		"CONTAINER_RUNTIME=containerd",
		`[ -z "$INSTANCE_ID" ] || NODE_LABELS+="${NODE_LABELS:+,}alpha.eksctl.io/instance-id=$INSTANCE_ID"`,
		`[ -z "$INSTANCE_LIFECYCLE" ] || NODE_LABELS+="${NODE_LABELS:+,}node-lifecycle=$INSTANCE_LIFECYCLE"`,
		`KUBELET_ARGS=("--node-labels=$NODE_LABELS")`,
		`[ -z "$NODE_TAINTS" ] || KUBELET_ARGS+=("--register-with-taints=$NODE_TAINTS")`,
		`[ -z "$MAX_PODS" ] || KUBELET_ARGS+=("--max-pods=$MAX_PODS")`,
		`KUBELET_EXTRA_ARGS="${KUBELET_ARGS[*]}"`,
	}, "\n") + "\n")
}
