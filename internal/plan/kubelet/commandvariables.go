package kubelet

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// commandVariables leaves the variables that the commands of a contract's author expect in some families, with what was decided of the
// node (eksctl: pkg/nodebootstrap/assets/scripts/bootstrap.helper.sh).
var commandVariables = concern.Concern{
	Name:  "variables for commands",
	Joins: true,
	Reads: []string{
		"$.cluster.certificateAuthority",
		"$.cluster.dnsServiceIPs",
		"$.cluster.server",
		"$.cluster.serviceCIDRs",
		"$.commands",
		"$.join.aws",
		"$.kubelet.capacity",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.labels",
		"$.kubelet.machineLabels",
		"$.kubelet.taints",
		setting.LocalDNS,
		setting.Nameservers,
		setting.GPU,
	},
	Plan: planCommandVariables,
}

func planCommandVariables(in *concern.Input, out *concern.Output) {
	command := &in.Family.Command
	if command.Helper == "" || len(in.Config.Commands) == 0 {
		return
	}
	pods := ""
	if in.SetsPods() {
		pods = podsArgument(in).value
	}
	lines := []string{
		"# The variables of this node for the commands of its contract, which source this file.",
		"set -o errexit -o pipefail -o nounset",
	}
	for _, v := range [][2]string{
		{"CLUSTER_NAME", clusterValue(in, profile.ClusterName)},
		{"API_SERVER_URL", clusterValue(in, profile.Server)},
		{"B64_CLUSTER_CA", base64.StdEncoding.EncodeToString([]byte(in.Config.Cluster.CertificateAuthority))},
		{"CLUSTER_DNS", strings.Join(in.Config.Cluster.DNSServiceIPs, ",")},
		{"NODE_LABELS", labelsOf(in)},
		{"NODE_TAINTS", taintsOf(in.Config.Kubelet)},
		{"MAX_PODS", pods},
		{"CONTAINER_RUNTIME", "containerd"},
		{"KUBELET_CONFIG", in.Family.Paths.KubeletConfig},
	} {
		lines = append(lines, v[0]+"="+textfile.ShellQuoted(v[1]))
	}
	machine := machineLabels(in, true)
	if len(machine) > 0 {
		file := textfile.ShellQuoted(command.Local)
		lines = append(lines, "if [ -r "+file+" ]; then", "  . "+file)
		for _, label := range slices.Sorted(maps.Keys(machine)) {
			lines = append(lines, `  NODE_LABELS="${NODE_LABELS:+$NODE_LABELS,}"`+textfile.ShellQuoted(label+"=")+`"$`+machine[label]+`"`)
		}
		lines = append(lines, "fi")
	}
	lines = append(lines,
		`KUBELET_ARGS=("--node-labels=$NODE_LABELS")`,
		`[ -z "$NODE_TAINTS" ] || KUBELET_ARGS+=("--register-with-taints=$NODE_TAINTS")`,
		`[ -z "$MAX_PODS" ] || KUBELET_ARGS+=("--max-pods=$MAX_PODS")`,
		`KUBELET_EXTRA_ARGS="${KUBELET_ARGS[*]}"`,
	)
	out.File(resource.Join, command.Helper, 0o755, []byte(strings.Join(lines, "\n")+"\n"), "the variables that commands source (eksctl: bootstrap.helper.sh)")
}
