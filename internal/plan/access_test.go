package plan

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Each distribution has its own units for the SSH server; an unknown distribution has none.
func TestSSHServers(t *testing.T) {
	for id, want := range map[string]struct {
		off   string // units that are stopped
		tests string // units whose configuration is tested
	}{
		"ubuntu":     {"ssh.service ssh.socket", "ssh.service"},
		"debian":     {"ssh.service ssh.socket", "ssh.service"},
		"azurelinux": {"sshd.service sshd.socket", "sshd.service"},
		"mariner":    {"sshd.service sshd.socket", "sshd.service"},
		"flatcar":    {"sshd.service sshd.socket", "sshd.service"},
		"amzn":       {"sshd.service sshd.socket", "sshd.service"},
		"rocky":      {"sshd.service sshd.socket", "sshd.service"},
		"":           {"ssh.service ssh.socket sshd.service sshd.socket", "ssh.service sshd.service"},
		"alpine":     {"ssh.service ssh.socket sshd.service sshd.socket", ""},
	} {
		known := ubuntu(t)
		known.OS = facts.OS{ID: id}
		off, _ := New(contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) { c.Access.SSH.Enabled = new(false) }), known)
		keys, problems := New(contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) { c.Access.SSH.PublicKeyAuthentication = new(false) }), known)
		var stopped, tested []string
		for _, r := range off.Resources {
			if s, ok := r.Spec.(*resource.UnitState); ok && s.State == resource.UnitDisabled && r.ExitCode == exitcode.SSHDisableFailed {
				stopped = append(stopped, s.Unit)
			}
		}
		for _, r := range keys.Resources {
			if c, ok := r.Spec.(*resource.Command); ok && c.While != "" && r.ExitCode == exitcode.SSHKeysFailed {
				tested = append(tested, c.While)
			}
		}
		if got := strings.Join(stopped, " "); got != want.off {
			t.Errorf("%s: %s are stopped, want %s", id, got, want.off)
		}
		if got := strings.Join(tested, " "); got != want.tests {
			t.Errorf("%s: %s are tested, want %s", id, got, want.tests)
		}
		if refused := len(nodeconfig.Fatal(problems)) > 0; refused != (want.tests == "") {
			t.Errorf("%s: %v", id, problems)
		}
	}
}

// The rule has the form that AKS takes for its own, for whichever of the machine's addresses is IPv4.
func TestMetadataRule(t *testing.T) {
	const rule = "iptables -w -t filter -I FORWARD 1 ! -s 10.9.0.4 -d 169.254.169.254/32 -p tcp -m tcp --dport 80 -m comment " +
		`--comment "AKS managed: added by AgentBaker ensureIMDSRestriction for IMDS restriction feature" -j DROP` + "\n"
	restricted := contract(t, "aks/minimal.json", func(c *nodeconfig.NodeConfig) {
		c.Network.MetadataRestriction = &nodeconfig.MetadataRestriction{Table: "filter"}
		c.Kubelet.Flags = append(c.Kubelet.Flags, nodeconfig.Flag{Name: "cluster-dns", Value: "10.0.0.10"})
	})
	known := ubuntu(t)
	known.NodeIPs = []string{"fd00::4", "10.9.0.4"}
	p, problems := New(restricted, known)
	unit := resourceOf(t, p, resource.ID("File:/etc/systemd/system/metadata-restriction.service")).Spec.(*resource.File)
	if !strings.Contains(string(unit.Content), "\nExecStart="+rule) || len(problems) > 0 {
		t.Errorf("%v\n%s", problems, unit.Content)
	}
	known.NodeIPs = []string{"fd00::4"}
	if needs := Needs(restricted, known); len(needs) == 0 {
		t.Error("the agent does not wait for an IPv4 address")
	}
	if _, problems = New(restricted, known); len(nodeconfig.Fatal(problems)) != 1 {
		t.Errorf("a machine without the address has a rule: %v", problems)
	}
	restricted.Kubelet.NodeIPs = []string{"0.0.0.0"}
	if _, problems = New(restricted, known); len(nodeconfig.Fatal(problems)) != 1 {
		t.Errorf("a rule has the unspecified address: %v", problems)
	}
	restricted.Kubelet.NodeIPs = nil
	if _, problems = New(restricted, facts.Facts{}); len(problems) > 0 {
		t.Errorf("nothing is known of the machine, and that is a problem of the contract's: %v", problems)
	}
}
