package plan

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// FuzzReadBack checks that a program which reads a file of the host gets exactly the contract's text, and nothing
// else. Units, the Corefile and /etc/hosts have separate fuzz targets.
func FuzzReadBack(f *testing.F) {
	for _, text := range []string{
		"a", "http://user:p\"w@proxy.example:3128/%20", "http://proxy.example:3128", "10.0.0.4", "corp.example", "a b\tc", "a\nDefaultEnvironment=b",
		"\";\nAcquire::http::Proxy \"DIRECT", "#c", "$(reboot)", "%n", "\\", "é\u2028", "-R", "--root=/", "'", "xn--a", "//{}",
	} {
		f.Add(text, "A_1", text, text)
		f.Add("http://"+text+"@p:1", text, "x"+text, text+".example")
	}
	f.Fuzz(func(t *testing.T, proxy, name, text, word string) {
		c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
			c.System.SwapMB = 1
			c.Kubelet.Config = map[string]any{"failSwapOn": false}
		})
		c.Proxy = nodeconfig.Proxy{HTTP: nodeconfig.NewSecret(proxy), HTTPS: nodeconfig.NewSecret("http://other.example:1"), NoProxy: []string{text, word}}
		c.System.Environment = map[string]map[string]nodeconfig.Secret{"default": {name: nodeconfig.NewSecret(text)}, "kubelet": {name: nodeconfig.NewSecret(text)}}
		c.Access = nodeconfig.Access{MessageOfTheDay: text, AdminUser: word, Realm: &nodeconfig.Realm{Domain: word, User: text, Password: nodeconfig.NewSecret(text)}}
		c.Network.SearchDomains, c.Network.Nameservers = []string{word, "second.example"}, []string{text, "10.0.0.4"}
		nodeconfig.Repair(c) // as for a document of a foreign dialect
		p, problems := New(c, facts.Facts{OS: facts.OS{ID: "ubuntu"}})
		if len(nodeconfig.Fatal(problems)) > 0 {
			return // such as a character with which systemd reads no file
		}
		readProxy(t, p, c)
		readVariables(t, p, c)
		if text := c.Access.MessageOfTheDay; text != "" && string(fileAt(t, p, "/etc/motd").Content) != strings.TrimSuffix(text, "\n")+"\n" {
			t.Errorf("the message %q is %q", text, fileAt(t, p, "/etc/motd").Content)
		}
		for file, want := range map[string][][2]string{
			"/etc/systemd/resolved.conf.d/" + "70-slipway-search.conf": {{"Domains", strings.Join(c.Network.SearchDomains, " ")}},
			"/etc/systemd/resolved.conf.d/" + "60-slipway-dns.conf":    {{"DNS", strings.Join(c.Network.Nameservers, " ")}, {"Domains", "~."}},
		} {
			if have := settings(string(fileAt(t, p, file).Content)); !slices.Equal(have, want) {
				t.Errorf("%s has %q, want %q", file, have, want)
			}
		}
		for _, server := range c.Network.Nameservers {
			if _, err := netip.ParseAddr(server); err != nil {
				t.Errorf("the DNS server %q is no address", server)
			}
		}
		for _, r := range p.Resources {
			// A name that begins with a dash would be an option.
			if command, ok := r.Spec.(*resource.Command); ok && (strings.HasPrefix(command.Label, "password-ageing") || command.Label == "realm-join") && strings.HasPrefix(command.Argv[len(command.Argv)-1], "-") {
				t.Errorf("the arguments are %q", command.Argv)
			}
		}
	})
}

// readProxy reads the proxy like containerd, services, apt and a login do.
func readProxy(t *testing.T, p resource.Plan, c *nodeconfig.NodeConfig) {
	t.Helper()
	want := make(map[string]string)
	direct := strings.Join(concern.NoProxy(concern.NewInput(c, facts.Facts{})), ",")
	for _, v := range [][2]string{{"HTTP_PROXY", c.Proxy.HTTP.Reveal()}, {"HTTPS_PROXY", c.Proxy.HTTPS.Reveal()}, {"NO_PROXY", direct}} {
		if v[1] != "" {
			want[v[0]], want[strings.ToLower(v[0])] = v[1], v[1]
		}
	}
	equal := func(where string, have map[string]string) {
		if !maps.Equal(have, want) {
			t.Errorf("%s has %q, want %q", where, have, want)
		}
	}
	equal(concern.ProxyEnv, readEnvironment(string(fileAt(t, p, concern.ProxyEnv).Content)))
	if file := fileIn(p, "/etc/systemd/system.conf.d/"+"10-slipway-proxy.conf"); file != nil {
		equal(file.Path, assigned(t, string(file.Content)))
	}
	if r := resourceIn(p, "Block:"+"/etc/environment"+"#proxy"); r != nil {
		equal("/etc/environment", loginEnvironment(r.Spec.(*resource.Block).Content))
	}
	statements := aptStatements(t, string(fileAt(t, p, "/etc/apt/apt.conf.d/90-slipway-proxy").Content))
	for _, scheme := range []string{"http", "https"} {
		value := strings.ReplaceAll(want[scheme+"_proxy"], `"`, "%22")
		if have, found := statements["Acquire::"+scheme+"::Proxy"]; have != value || found != (value != "") {
			t.Errorf("apt's proxy for %s is %q, want %q", scheme, have, value)
		}
		delete(statements, "Acquire::"+scheme+"::Proxy")
	}
	if len(statements) > 0 {
		t.Errorf("apt reads %q", statements)
	}
}

// readVariables reads the contract's variables where services do.
func readVariables(t *testing.T, p resource.Plan, c *nodeconfig.NodeConfig) {
	t.Helper()
	for service, variables := range c.System.Environment {
		if len(variables) == 0 {
			continue
		}
		var have map[string]string
		if service == nodeconfig.AllServices {
			have = assigned(t, string(fileAt(t, p, "/etc/systemd/system.conf.d/"+"20-slipway-environment.conf").Content))
		} else {
			have = readEnvironment(string(fileAt(t, p, concern.EnvironmentDir+service+".env").Content))
		}
		for name, value := range variables {
			if have[name] != value.Reveal() || len(have) != len(variables) {
				t.Errorf("%s has %q, want %s=%q", service, have, name, value.Reveal())
			}
		}
	}
}

// loginEnvironment reads a file as pam_env(8) does: lines up to a #, without the quotes around a value.
func loginEnvironment(content string) map[string]string {
	variables := make(map[string]string)
	for line := range strings.Lines(content) {
		line, _, _ = strings.Cut(strings.TrimLeft(line, " \t"), "#")
		line = strings.TrimPrefix(strings.TrimRight(line, " \t\r\n"), "export ")
		if name, value, found := strings.Cut(line, "="); found {
			variables[name] = strings.Trim(value, `"'`)
		}
	}
	return variables
}

// aptStatements reads a file of statements, each with a value in quotes (apt.conf(5)).
func aptStatements(t *testing.T, content string) map[string]string {
	t.Helper()
	statements := make(map[string]string)
	for rest := content; strings.TrimSpace(rest) != ""; {
		name, after, opened := strings.Cut(rest, `"`)
		value, behind, closed := strings.Cut(after, `"`)
		name = strings.TrimSpace(name)
		if !opened || !closed || !strings.HasPrefix(behind, ";") || strings.ContainsAny(name, " \t\n;{}") || strings.Contains(value, "\n") {
			t.Fatalf("apt does not read %q", rest)
		}
		statements[name], rest = value, behind[1:]
	}
	return statements
}
