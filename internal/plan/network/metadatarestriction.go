package network

import (
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// metadataRestriction keeps pods from the cloud's metadata service, which gives credentials of the machine's identity to
// every client.
var metadataRestriction = concern.Concern{
	Name:  "metadata restriction",
	Joins: true,
	Reads: []string{setting.MetadataRestriction},
	Plan:  planMetadataRestriction,
}

const (
	// restrictionUnit adds the rule, once in a boot and when it changes.
	restrictionUnit = "metadata-restriction.service"
	// restrictionTimeout is for a machine that boots: iptables waits for the holder of the lock, and loads modules.
	restrictionTimeout = resource.Duration(30 * time.Second)
)

// restrictionTables are the tables that the rule may be in, with the code of a node that does not get it there.
var restrictionTables = []struct {
	name     string
	exitCode int
}{
	{"filter", exitcode.FilterRuleFailed},
	{"mangle", exitcode.MangleRuleFailed},
}

func planMetadataRestriction(in *concern.Input, out *concern.Output) {
	restriction := in.Config.Network.MetadataRestriction
	if restriction == nil {
		return
	}
	// The host's own packets are not forwarded. Forwarded packets with the host's address pass, as on AKS: AKS recognises this form
	// of the rule (ensure_imds_restriction.sh).
	address := concern.NodeIPv4(in)
	if address == "" && in.Seen() { // else it is not known of which machine
		out.Fatal(nodeconfig.Missing, setting.MetadataRestriction, "needs the machine's IPv4 address, and it has none")
		return
	}
	match := []string{"-d", "169.254.169.254/32", "-p", "tcp", "-m", "tcp", "--dport", "80", "-m", "comment", "--comment", in.Family.Host.MetadataComment, "-j", "DROP"}
	if address != "" {
		match = append([]string{"!", "-s", address}, match...)
	}
	unitPath := resource.UnitDir + "/" + restrictionUnit
	lines := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Keep pods from the metadata service"),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", "local-fs.target"),
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		unitfile.Comment("Without a shell there is no other \"unless it is there\": the rule of an earlier start is removed first."),
	}
	var add unitfile.Line
	var removals []resource.ID
	code := 0
	for _, table := range restrictionTables {
		remove := append([]string{"iptables", "-w", "-t", table.name, "-D", "FORWARD"}, match...)
		lines = append(lines, unitfile.Set("ExecStart", "-"+execLine(remove)))
		if table.name == restriction.Table {
			code = table.exitCode
			add = unitfile.Set("ExecStart", execLine(append([]string{"iptables", "-w", "-t", table.name, "-I", "FORWARD", "1"}, match...)))
		}
		// When the contract drops the restriction, nothing starts the unit any more, and this command removes the rule. The command's name
		// contains the address, so a rule with a former address is removed, too.
		command := &resource.Command{
			Label: "metadata-restriction-" + strings.Trim(table.name+"-"+address, "-"), Argv: remove, Timeout: restrictionTimeout,
			Inputs: []string{unitPath}, Optional: true,
		}
		out.Append(resource.Resource{Phase: resource.Join, Reason: "the rule is not there twice, and not where the contract has it no more", Spec: command})
		removals = append(removals, resource.IDOf(command))
	}
	lines = append(lines, add, unitfile.Section("Install"), unitfile.Set("WantedBy", "multi-user.target"))
	out.File(resource.Join, unitPath, 0o644, unitfile.File(lines...), concern.Sourced("keeps pods from the metadata service", in.Family.Sources.Metadata), restrictionUnit)
	out.Enable(resource.Join, restrictionUnit)
	out.File(resource.Join, concern.KubeletDropIns+"20-metadata-restriction.conf", 0o644,
		unitfile.File(unitfile.Section("Unit"), unitfile.Set("Requires", restrictionUnit), unitfile.Set("After", restrictionUnit)), "no pod starts before the rule is there", concern.KubeletUnit)
	out.AppendTo(concern.KubeletGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: removals,
		ExitCode: code,
		Reason:   "pods do not reach the metadata service",
		Spec:     &resource.Unit{Unit: restrictionUnit},
	})
}

// execLine is a command line as systemd will split it again.
func execLine(argv []string) unitfile.Text {
	words := make([]unitfile.Text, len(argv))
	for i, arg := range argv {
		if words[i] = "!"; arg != "!" { // which has a meaning in front of the command alone
			words[i] = unitfile.Word(arg)
		}
	}
	return unitfile.Words(words...)
}
