package kubelet

import (
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// wireServerRules keep pods from Azure's wire server, whose ports hand out what only the host may have: extensions'
// protected settings and certificates (AKS: kubelet.sh). They have one port each: AKS compares a node's rules with a
// list, as text, and takes a node with any other rule for one that its user has changed
// (Azure/azure-container-networking: azure-iptables-monitor).
var wireServerRules = []string{
	" FORWARD -d 168.63.129.16 -p tcp --dport 80 -j DROP",
	" FORWARD -d 168.63.129.16 -p tcp --dport 32526 -j DROP",
}

// ruleLoaders are the units of images that load rules of the packet filter and remove all others: nftables and
// netfilter-persistent of Debian and Ubuntu, iptables of Azure Linux.
var ruleLoaders = []string{"iptables.service", "netfilter-persistent.service", "nftables.service"}

// kubeletPrepare plans the unit that does what must be done before a kubelet starts, once in a boot, and its start.
// It is a unit of its own, so that it is over when everything else is there: in the kubelet's own it would be between
// the last input and the kubelet, eight processes long. An image has it, and it does not wait for the agent, so it is done
// while the container runtime starts. It does not name the kubelet's unit, which systemd would read for that: when the
// machine's own drop-ins came it would have to read all units again, for seconds.
var kubeletPrepare = concern.Concern{
	Name:  "kubelet preparation",
	Reads: []string{"$.cloud.provider"},
	Plan:  planKubeletPrepare,
}

func planKubeletPrepare(in *concern.Input, out *concern.Output) {
	asks := in.Agentless && len(in.Wanted) > 0 // the provider's metadata service
	implied := in.Family.Cloud == "aws" || in.Config.Join.Method == nodeconfig.JoinAWS
	if in.Config.Cloud.Provider == "aws" && in.Config.Cloud.AWS == nil && !asks && !implied {
		out.NotApplied("$.cloud.provider")
	}
	unit := in.Family.Kubelet.Prepare
	lines := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Prepare the start of the kubelet"),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", "local-fs.target"),
	}
	if in.Config.Cloud.Provider == "azure" {
		lines = append(lines, unitfile.Comment("These load the rules of the image, in the place of all that there are."), unitfile.Set("After", unitfile.Quote(strings.Join(ruleLoaders, " "))))
	}
	lines = append(lines,
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		unitfile.Comment("The kubelet does not sync its certificates: what a power cut has left empty would stop it for ever. The agent may be at work"),
		unitfile.Comment("there, on files whose names begin with a dot."),
		unitfile.Set("ExecStart", "-find "+concern.KubeletCertDir+" -type f -name [!.]* -empty -delete"),
	)
	if in.Config.Cloud.Provider == "azure" {
		// Without a shell there is no other "unless it is there".
		lines = append(lines, unitfile.Comment("Pods must not reach the wire server. The lines with -D remove the rules of an earlier start."))
		for _, rule := range wireServerRules {
			lines = append(lines, unitfile.Set("ExecStart", "-iptables -w -D"+unitfile.Quote(rule)), unitfile.Set("ExecStart", "iptables -w -I"+unitfile.Quote(rule)))
		}
	}
	lines = append(lines, unitfile.Section("Install"), unitfile.Set("WantedBy", "multi-user.target"))
	out.File(resource.Base, resource.UnitDir+"/"+unit, 0o644, unitfile.File(lines...), "prepares the start of the kubelet; the kubelet restarts with it", unit)
	out.Enable(resource.Base, unit)
	out.Append(resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "has ended before the kubelet starts",
		Spec:     &resource.Unit{Unit: unit},
	})
	out.RepeatedBy(concern.Wants(unit))
}
