package plan

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// onAzure is a machine of Azure with a number of processors, and units of its image.
func onAzure(os string, cpus int, units ...string) facts.Facts {
	return facts.Facts{OS: facts.OS{ID: os}, Platform: facts.Azure, CPUs: cpus, NodeIPs: []string{"10.224.0.4", "fd00::4"}, Units: units}
}

// aksNode is a node of AKS with a plug-in and families of addresses.
func aksNode(t *testing.T, plugin string, families ...string) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, "aks/minimal.json", func(c *nodeconfig.NodeConfig) { c.Network.Plugin, c.Network.IPFamilies = plugin, families })
}

// DHCP's domain becomes a search domain if the distribution's own configuration leaves it out. systemd-networkd does
// not restart for it.
func TestDHCPDomains(t *testing.T) {
	for os, want := range map[string]string{"azurelinux": "[DHCPv4]\nUseDomains=yes\n", "mariner": "[DHCPv4]\nUseDomains=yes\n", "ubuntu": "", "": ""} {
		for _, families := range [][]string{{"IPv4"}, {"IPv4", "IPv6"}} {
			p := first(New(aksNode(t, "none", families...), onAzure(os, 2)))
			r := resourceIn(p, resource.ID("File:"+"/etc/systemd/networkd.conf.d/70-slipway-domains.conf"))
			if (r != nil) != (want != "") {
				t.Fatalf("%s: %v", os, r)
			}
			if r == nil {
				continue
			}
			if len(families) == 2 {
				want += "\n[DHCPv6]\nUseDomains=yes\n"
			}
			if got := string(r.Spec.(*resource.File).Content); got != want || len(r.Restarts)+len(r.Reloads) > 0 {
				t.Errorf("%s: %q, %+v", os, got, r.Effects)
			}
		}
	}
}

// Rings are larger on machines of Azure with four processors or more, now and at each boot.
func TestRings(t *testing.T) {
	for name, c := range map[string]struct {
		layout  string
		machine facts.Facts
		want    bool
	}{
		"a machine of Azure": {nodeconfig.LayoutAKS, onAzure("ubuntu", 4), true},
		"a small one":        {nodeconfig.LayoutAKS, onAzure("ubuntu", 3), false},
		"another cloud's":    {nodeconfig.LayoutAKS, facts.Facts{CPUs: 8, Platform: facts.EC2}, false},
		"another family's":   {nodeconfig.LayoutStandard, onAzure("ubuntu", 8), false},
	} {
		config := aksNode(t, "none", "IPv4")
		config.Components.Layout = c.layout
		p := first(New(config, c.machine))
		file := resourceIn(p, resource.ID("File:"+"/etc/udev/rules.d/99-slipway-rings.rules"))
		if (file != nil) != c.want || planned(p, resource.ID("Command:receive-rings")) != c.want || planned(p, resource.ID("Command:udev-rules")) != c.want {
			t.Errorf("%s: %v", name, file)
		}
		if file == nil {
			continue
		}
		var rules []string
		for line := range strings.Lines(string(file.Spec.(*resource.File).Content)) {
			if !strings.HasPrefix(line, "#") {
				rules = append(rules, strings.TrimSpace(line))
			}
		}
		want := `ACTION!="remove", SUBSYSTEM=="net", ENV{ID_NET_NAME_SLOT}=="enP*", PROGRAM=="/usr/sbin/ethtool -g %k", ` +
			`RESULT=="*settings:?RX:??1024[!0-9]*", RUN+="/usr/sbin/ethtool -G $name rx 2048"`
		if len(rules) != 1 || rules[0] != want {
			t.Errorf("%s", rules)
		}
	}
}

// The rule matches ethtool's output only if the current size of the receive ring is 1024. udev replaces tabs and line breaks by
// blanks or underscores (systemd: udev_replace_chars).
func TestRingsOfOtherSizes(t *testing.T) {
	const pattern = "*settings:?RX:??1024[^0-9]*" // fnmatch(3) has "!" for "^"
	for printed, want := range map[string]bool{
		"Ring parameters for eth1:\nPre-set maximums:\nRX:\t\t8192\nTX:\t\t8192\nCurrent hardware settings:\nRX:\t\t1024\nRX Mini:\tn/a\nTX:\t\t1024": true,
		"Ring parameters for eth1:\nPre-set maximums:\nRX:\t\t1024\nTX:\t\t8192\nCurrent hardware settings:\nRX:\t\t2048\nRX Mini:\tn/a\nTX:\t\t1024": false,
		"Ring parameters for eth1:\nPre-set maximums:\nRX:\t\t8192\nCurrent hardware settings:\nRX:\t\t10240\nRX Mini:\t1024\nTX:\t\t1024":            false,
	} {
		for _, space := range []string{" ", "_"} {
			if fits, err := filepath.Match(pattern, strings.NewReplacer("\n", space, "\t", space, "/", "").Replace(printed)); err != nil || fits != want {
				t.Errorf("%q: %v, %v", printed, fits, err)
			}
		}
	}
}

// Probes over IPv6 reach pods on a node with IPv6: by the image's unit, or by rules of the plan.
func TestIPv6Probes(t *testing.T) {
	const ofImage = "/etc/systemd/system/ipv6_nftables.service"
	for name, c := range map[string]struct {
		families []string
		machine  facts.Facts
		want     bool
	}{
		"both families":         {[]string{"IPv4", "IPv6"}, onAzure("ubuntu", 2), true},
		"the image sees to it":  {[]string{"IPv4", "IPv6"}, onAzure("ubuntu", 2, ofImage), false},
		"IPv4 alone":            {[]string{"IPv4"}, onAzure("ubuntu", 2), false},
		"no such load balancer": {[]string{"IPv4", "IPv6"}, facts.Facts{NodeIPs: []string{"10.0.0.1", "fd00::1"}}, false},
	} {
		p := first(New(aksNode(t, "none", c.families...), c.machine))
		unit := resourceIn(p, resource.ID("Unit:"+"slipway-ipv6-probes.service"))
		if (unit != nil) != c.want || planned(p, resource.ID("File:"+"/etc/slipway/ipv6-probes.nft")) != c.want {
			t.Errorf("%s: %v", name, unit)
		}
		if unit == nil {
			continue
		}
		if unit.ExitCode != exitcode.UnitStartFailed {
			t.Errorf("%s: code %d", name, unit.ExitCode)
		}
		readsRules(t, fileAt(t, p, "/etc/slipway/ipv6-probes.nft").Content)
	}
}

// readsRules has the packet filter's own program read rules, if it is installed and allowed.
func readsRules(t *testing.T, rules []byte) {
	t.Helper()
	program, err := exec.LookPath("nft")
	if err != nil {
		return
	}
	check := exec.Command(program, "--check", "--file", "-")
	check.Stdin = strings.NewReader(string(rules))
	if out, err := check.CombinedOutput(); err != nil && !strings.Contains(string(out), "Operation not permitted") {
		t.Errorf("%v: %s in\n%s", err, out, rules)
	}
}

// A bridge is in promiscuous mode only if a unit of the image drops the packets that then arrive twice.
func TestKubenetBridge(t *testing.T) {
	const drops = "/etc/systemd/system/ensure-no-dup.service"
	for name, c := range map[string]struct {
		layout  string
		machine facts.Facts
		promisc bool
	}{
		"the image has the unit":          {nodeconfig.LayoutAKS, onAzure("ubuntu", 2, drops), true},
		"it has not":                      {nodeconfig.LayoutAKS, onAzure("ubuntu", 2), false},
		"without facts":                   {nodeconfig.LayoutAKS, facts.Facts{}, true},
		"a family that does not start it": {nodeconfig.LayoutStandard, onAzure("ubuntu", 2, drops), false},
	} {
		config := aksNode(t, "kubenet", "IPv4")
		config.Components.Layout = c.layout
		template := string(fileAt(t, first(New(config, c.machine)), concern.KubenetFile).Content)
		if strings.Contains(template, `"promiscMode": true`) != c.promisc || strings.Contains(template, `"hairpinMode": true`) == c.promisc {
			t.Errorf("%s:\n%s", name, template)
		}
	}
}
