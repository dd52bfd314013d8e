package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The author's check of outbound access comes before the request for the node's certificate, the kubelet and the author's other
// commands. Servers are checked in parallel with it.
func TestOutbound(t *testing.T) {
	const text = "curl \"$1\" 'x' && true\n"
	c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Checks.OutboundCommand, c.Checks.Outbound = text, []string{"mcr.example"}
		c.Commands = []nodeconfig.ShellCommand{{Text: "one"}, {Text: "two"}}
	})
	p, problems := New(c, facts.Facts{})
	if len(problems) > 0 {
		t.Error(problems)
	}
	command := resource.IDOf(&resource.Command{Label: "check-outbound"})
	server := resource.IDOf(&resource.Check{Label: "outbound-mcr.example:443"})
	seen := make(map[resource.ID]bool)
	for _, r := range p.Resources {
		seen[r.ID()] = true
		before := slices.Contains([]resource.ID{"Unit:kubelet.service", "Command:command-1", "Certificate:kubelet-client"}, r.ID())
		if slices.Contains(r.Requires, command) != before || slices.Contains(r.Requires, server) {
			t.Errorf("%s requires %v", r.ID(), r.Requires)
		}
		if r.ID() == command || r.ID() == server {
			if r.ExitCode != exitcode.OutboundFailed || r.Phase != resource.Join {
				t.Errorf("%+v", r)
			}
		}
		if s, ok := r.Spec.(*resource.Command); ok && r.ID() == command && (s.Argv[4] != text || s.Argv[5] != "" || s.Once == "" || !s.Unconfined) {
			t.Errorf("%+v", s)
		}
	}
	if !seen[command] || !seen[server] {
		t.Errorf("planned are %v", seen)
	}
}

func TestOutboundRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		known facts.Facts
		want  string
	}{
		"no shell": {"true", facts.Facts{NoBash: true}, "the image has none"},
		"too long": {strings.Repeat("x", 16<<10+1), facts.Facts{}, "has more than 16384 bytes"},
		"longest":  {strings.Repeat("x", 16<<10), facts.Facts{}, ""},
	} {
		_, problems := New(contract(t, "native/minimal.yaml", func(config *nodeconfig.NodeConfig) { config.Checks.OutboundCommand = c.text }), c.known)
		fatal := nodeconfig.Fatal(problems)
		if (len(fatal) > 0) != (c.want != "") || c.want != "" && (fatal[0].Path != "$.checks.outboundCommand" || !strings.Contains(fatal[0].Reason, c.want)) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// The author's text has the proxy's variables, whatever characters these have, and is tried until it succeeds, or often enough.
func TestOutboundScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	programs := filepath.Join(dir, "bin")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	// The pauses and the time limit are the script's arguments to these, and their own business.
	for name, does := range map[string]string{"sleep": `echo "sleep $*" >>calls`, "timeout": `echo "timeout $1 $2 $3" >>calls; shift 3; exec "$@"`} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!"+bash+"\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	hostile := `http://u:p&$(touch pwned)"` + "`touch pwned`" + `\ '!#;~<x>@h:1`
	if err := os.WriteFile(filepath.Join(dir, "proxy.env"), textfile.Shell([2]string{"HTTPS_PROXY", hostile}, [2]string{"NO_PROXY", "*.x,[::1],a b;touch pwned"}, [2]string{"http_proxy", "http://p:1"}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text  string
		code  int
		tries int
	}{
		"at once":     {`printf %s "$HTTPS_PROXY|$NO_PROXY|$http_proxy" >seen`, 0, 1},
		"the third":   {`echo x >>tried; test "$(wc -l <tried)" = 3`, 0, 3},
		"never":       {`exit 7`, 7, 20},
		"no argument": {`test -z "$1$2"`, 0, 1},
	} {
		_ = os.Remove(filepath.Join(dir, "calls"))
		p, _ := New(contract(t, "native/minimal.yaml", func(config *nodeconfig.NodeConfig) { config.Checks.OutboundCommand = c.text }), facts.Facts{})
		argv := p.ByID()["Command:check-outbound"].Spec.(*resource.Command).Argv
		cmd := exec.Command(bash, append(slices.Clone(argv[1:len(argv)-1]), filepath.Join(dir, "proxy.env"))...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + programs + ":" + os.Getenv("PATH")}
		out, _ := cmd.CombinedOutput()
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil || cmd.ProcessState.ExitCode() != c.code || strings.Count(string(calls), "timeout -k 5 15") != c.tries {
			t.Errorf("%s: ends with %d, after\n%s%s", name, cmd.ProcessState.ExitCode(), calls, out)
		}
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if want := hostile + "|*.x,[::1],a b;touch pwned|http://p:1"; err != nil || string(seen) != want {
		t.Errorf("the text sees %q, want %q", seen, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a variable is run")
	}
}
