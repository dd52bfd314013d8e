package kubelet

import (
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// wireServerRules keep pods from Azure's wire server, whose ports serve data for the host only: extensions'
// protected settings and certificates (AKS: kubelet.sh). Each rule has one port: AKS compares a node's rules with a
// list, as text, and treats any other rule as a change by the node's user
// (Azure/azure-container-networking: azure-iptables-monitor).
var wireServerRules = []string{
	" FORWARD -d 168.63.129.16 -p tcp --dport 80 -j DROP",
	" FORWARD -d 168.63.129.16 -p tcp --dport 32526 -j DROP",
}

// ruleLoaders are the units of images that load rules of the packet filter and remove all others: nftables and
// netfilter-persistent of Debian and Ubuntu, iptables of Azure Linux.
var ruleLoaders = []string{"iptables.service", "netfilter-persistent.service", "nftables.service"}

// kubeletPrepare plans the unit that prepares a kubelet's start, once in a boot. It is a separate unit, so that it ends while the
// other inputs arrive: in the kubelet's unit its eight processes would run between the last input and the kubelet. An image
// has the unit, and the unit does not wait for the agent, so it runs while the container runtime starts. It does not name the
// kubelet's unit. If it did, systemd would read the kubelet's unit for it, and would have to read all units again, for seconds, when the
// machine's own drop-ins arrive.
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
		// Without a shell, there is no other way to write "insert it if it is missing".
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
