package plan

import (
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// wireServerRules keep pods from Azure's wire server, whose ports hand out what only the host may have: extensions'
// protected settings and certificates (AKS: kubelet.sh). They have one port each: AKS compares a node's rules with a
// list, as text, and takes a node with any other rule for one that its user has changed
// (Azure/azure-container-networking: azure-iptables-monitor).
var wireServerRules = []string{
	" FORWARD -d 168.63.129.16 -p tcp --dport 80 -j DROP",
	" FORWARD -d 168.63.129.16 -p tcp --dport 32526 -j DROP",
}

// formerWireServerRule is what earlier versions had in their place. A node that is updated while it runs has it until
// this removes it.
const formerWireServerRule = " FORWARD -d 168.63.129.16 -p tcp -m multiport --dports 80,32526 -j DROP"

// ruleLoaders are the units of images that load rules of the packet filter and remove all others: nftables and
// netfilter-persistent of Debian and Ubuntu, iptables of Azure Linux.
var ruleLoaders = []string{"iptables.service", "netfilter-persistent.service", "nftables.service"}

// kubeletPrepare plans the unit that does what must be done before a kubelet starts, once in a boot, and its start.
// It is a unit of its own, so that it is over when everything else is there: in the kubelet's own it would be between
// the last input and the kubelet, eight processes long. An image has it, and it does not wait for the agent, so it is done
// while the container runtime starts. It does not name the kubelet's unit, which systemd would read for that: when the
// machine's own drop-ins came it would have to read all units again, for seconds.
var kubeletPrepare = concern{
	name:  "kubelet preparation",
	reads: []string{"$.cloud.provider"},
	plan:  planKubeletPrepare,
}

func planKubeletPrepare(in *input, out *output) {
	asks := in.agentless && len(in.wanted) > 0 // the provider's metadata service
	if in.config.Cloud.Provider == "aws" && in.config.Cloud.AWS == nil && !asks {
		out.notApplied("$.cloud.provider")
	}
	unit := in.family.Kubelet.Prepare
	lines := []string{
		"[Unit]",
		"Description=Prepare the start of the kubelet",
		"DefaultDependencies=no",
		"After=local-fs.target",
	}
	if in.config.Cloud.Provider == "azure" {
		lines = append(lines, "# These load the rules of the image, in the place of all that there are.", "After="+strings.Join(ruleLoaders, " "))
	}
	lines = append(lines,
		"Conflicts=shutdown.target",
		"Before=shutdown.target",
		"",
		"[Service]",
		"Type=oneshot",
		"RemainAfterExit=yes",
		"# The kubelet does not sync its certificates: what a power cut has left empty would stop it for ever. The agent may be at work",
		"# there, on files whose names begin with a dot.",
		"ExecStart=-find "+kubeletCertDir+" -type f -name [!.]* -empty -delete",
	)
	if in.config.Cloud.Provider == "azure" {
		// Without a shell there is no other "unless it is there".
		lines = append(lines,
			"# Pods must not reach the wire server. The lines with -D remove the rules of an earlier start, and of an earlier version.",
			"ExecStart=-iptables -w -D"+formerWireServerRule,
		)
		for _, rule := range wireServerRules {
			lines = append(lines, "ExecStart=-iptables -w -D"+rule, "ExecStart=iptables -w -I"+rule)
		}
	}
	lines = append(lines, "", "[Install]", "WantedBy=multi-user.target")
	out.file(resource.Base, resource.UnitDir+"/"+unit, 0o644, unitFile(lines...), "prepares the start of the kubelet; the kubelet restarts with it", unit)
	out.enable(resource.Base, unit)
	out.add(resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "has ended before the kubelet starts",
		Spec:     &resource.Unit{Unit: unit},
	})
	out.repeatedBy(wants(unit))
}
