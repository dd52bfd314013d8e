package kubeadm_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

const (
	hash  = "sha256:4ba2b29ad733a249cba567266a0e7bc78a08c06704a53d87ecffecc81082f86d"
	token = "abcdef.0123456789abcdef"
	whole = "kubeadm join 10.0.0.1:6443 --token " + token + " --discovery-token-ca-cert-hash " + hash
)

// TestLines: each way of writing the command line gives the same config, apart from what the line adds.
func TestLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{whole, ""},
		{whole + "\n", ""},
		{"\n \t" + whole + " \r\n\n", ""},
		{"\xef\xbb\xbf" + whole, ""},
		{"sudo " + whole, ""},
		{strings.ReplaceAll(whole, " --", " \\\n    --"), ""},
		{strings.ReplaceAll(whole, " --", "\\\r\n --"), ""},
		{strings.ReplaceAll(whole, " --", "  \t--"), ""},
		{strings.ReplaceAll(strings.ReplaceAll(whole, "-token ", "-token="), "-hash ", "-hash="), ""},
		{"kubeadm join --token '" + token + "' \"10.0.0.1:6443\" --discovery-token-ca-cert-hash sha\"25\"6:\\" + hash[7:], ""},
		{"kubeadm join 10.0.0.1:6443 --discovery-token " + token + " --tls-bootstrap-token " + token + " --discovery-token-ca-cert-hash " + hash, ""},
		{"kubeadm join 10.0.0.1:6443 --discovery-token " + token + " --token " + token + " --discovery-token-ca-cert-hash " + hash, ""},
		{whole + " --discovery-token-unsafe-skip-ca-verification=false", ""},
		{whole + " --discovery-token fedcba.0123456789abcdef", `"discoveryToken":"fedcba.0123456789abcdef"`},
		{strings.Replace(whole, token, "fedcba.0123456789abcdef", 1) + " --tls-bootstrap-token " + token, `"discoveryToken":"fedcba.0123456789abcdef"`},
		{strings.Replace(whole, "--token", "--discovery-token fedcba.0123456789abcdef --tls-bootstrap-token", 1), `"discoveryToken":"fedcba.0123456789abcdef"`},
		{whole + " --cri-socket unix:///run/containerd/containerd.sock", ""},
		{whole + " --dry-run=false", ""},
		{whole + " --node-name worker-1", `"kubelet":{"nodeName":"worker-1"}`},
		{whole + " --node-name \"wor\\\nker-1\"", `"kubelet":{"nodeName":"worker-1"}`},
		{whole + " --discovery-token-ca-cert-hash " + strings.ReplaceAll(hash, "4ba2", "5ba2"), `sha256:5ba2`},
		{whole + "," + strings.ReplaceAll(hash, "4ba2", "5ba2"), `sha256:5ba2`},
	} {
		got := dialect.Decode([]byte(c.line), "")
		contracts.Compare(t, got.Problems, nil)
		form := string(nodeconfig.Encode(got.Config))
		for _, part := range []string{`"server":"https://10.0.0.1:6443"`, `"bootstrapToken":"` + token + `"`, hash, `"kubernetesVersion":"installed"`, c.want} {
			if !strings.Contains(form, part) {
				t.Errorf("%q: %s is not in %s", c.line, part, form)
			}
		}
		if again := dialect.Decode(got.Canonical(), ""); nodeconfig.Digest(again.Config) != nodeconfig.Digest(got.Config) || len(again.Problems) > 0 {
			t.Errorf("%q: the canonical form makes %s, %v", c.line, nodeconfig.Encode(again.Config), again.Problems)
		}
	}
}

var badLines = []struct {
	line string
	want []nodeconfig.Problem
}{
	{"kubeadm join", []nodeconfig.Problem{
		{Path: "$.discovery.bootstrapToken.apiServerEndpoint", Reason: "HOST:PORT", Fatal: true},
		{Path: "$.discovery.bootstrapToken.caCertHashes", Reason: "is missing", Fatal: true},
		{Path: "$.discovery.bootstrapToken.token", Reason: "is missing", Fatal: true},
	}},
	{whole[:strings.Index(whole, " --disc")], []nodeconfig.Problem{{Path: "$.discovery.bootstrapToken.caCertHashes", Reason: "is missing", Fatal: true}}},
	{whole[:len(whole)-8], []nodeconfig.Problem{{Path: "$.discovery.bootstrapToken.caCertHashes[0]", Reason: "64 hexadecimal", Fatal: true, Line: 1, Column: 91}}},
	{whole[:strings.Index(whole, " sha256")], []nodeconfig.Problem{
		{Path: "$.discovery.bootstrapToken.caCertHashes", Reason: "is missing", Fatal: true},
		{Path: `$["--discovery-token-ca-cert-hash"]`, Reason: "has no value: the command line is cut off", Fatal: true, Line: 1, Column: 60},
	}},
	{"kubeadm join 10.0.0.1:6443 --token --discovery-token-ca-cert-hash " + hash, []nodeconfig.Problem{
		{Path: "$.discovery.bootstrapToken.token", Reason: "is missing", Fatal: true},
		{Path: `$["--token"]`, Reason: "has no value", Fatal: true, Line: 1, Column: 28},
	}},
	{whole + " \\", []nodeconfig.Problem{{Path: "$", Reason: "cut off", Fatal: true}}},
	{whole + " \\\n", []nodeconfig.Problem{{Path: "$", Reason: "cut off: it ends with a backslash", Fatal: true, Line: 2, Column: 1}}},
	{whole + " --node-name 'x", []nodeconfig.Problem{{Path: "$", Reason: "a quote begins here", Fatal: true, Line: 1, Column: 175}}},
	{whole + " --node-name \"x", []nodeconfig.Problem{{Path: "$", Reason: "a quote begins here", Fatal: true}}},
	{whole + " --token fedcba.0123456789abcdef", []nodeconfig.Problem{{Path: `$["--token"]`, Reason: "the last one counts"}}},
	{"kubeadm join 10.0.0.1:6443 --tls-bootstrap-token " + token + " --discovery-token-ca-cert-hash " + hash, []nodeconfig.Problem{
		{Path: "$.discovery.bootstrapToken.token", Reason: "is missing", Fatal: true},
	}},
	{whole + " --discovery-token " + token + " --tls-bootstrap-token " + token + " --token=fedcba.0123456789abcdef", []nodeconfig.Problem{{Path: `$["--token"]`, Reason: "the last one counts"}}},
	{"kubeadm join 10.0.0.1:6443 --token " + token + " --discovery-token-unsafe-skip-ca-verification=false", []nodeconfig.Problem{
		{Path: "$.discovery.bootstrapToken.caCertHashes", Reason: "is missing", Fatal: true},
	}},
	{whole + " --discovery-token-unsafe-skip-ca-verification", []nodeconfig.Problem{{Path: "$.discovery.bootstrapToken.unsafeSkipCAVerification", Reason: "has no effect"}}},
	{whole + " 10.0.0.2:6443", []nodeconfig.Problem{{Path: "$", Reason: "second word", Fatal: true}}},
	{whole + " --control-plane --certificate-key 0123", []nodeconfig.Problem{
		{Path: `$["--certificate-key"]`, Reason: "joins worker nodes", Fatal: true}, {Path: `$["--control-plane"]`, Reason: "joins worker nodes", Fatal: true},
	}},
	{whole + " --config=/y --patches /z", []nodeconfig.Problem{
		{Path: "$.patches", Reason: "kubelet.config", Fatal: true}, {Path: `$["--config"]`, Reason: "as the contract", Fatal: true},
	}},
	{whole + " --frobnicate --x=1", []nodeconfig.Problem{{Path: `$["--frobnicate"]`, Reason: "is no flag", Fatal: true}, {Path: `$["--x"]`, Reason: "is no flag", Fatal: true}}},
	{whole + " --0123456789abcdef", []nodeconfig.Problem{{Path: `$["-"]`, Reason: "is no flag", Fatal: true}}},
	{whole + " --ignore-preflight-errors=all --skip-phases preflight", []nodeconfig.Problem{
		{Path: "$.nodeRegistration.ignorePreflightErrors", Reason: "has no effect"}, {Path: "$.skipPhases", Reason: "has no effect"},
	}},
	{whole + " --dry-run", []nodeconfig.Problem{{Path: "$.dryRun", Reason: "nothing be done", Fatal: true}}},
	{whole + " --dry-run=maybe --node-name=", []nodeconfig.Problem{{Path: `$["--dry-run"]`, Reason: "is true or false", Fatal: true}, {Path: `$["--node-name"]`, Reason: "its value is empty"}}},
	{whole + " --cri-socket /run/crio.sock", []nodeconfig.Problem{{Path: "$.nodeRegistration.criSocket", Reason: "containerd", Fatal: true}}},
	{strings.Replace(whole, "10.0.0.1:6443", "https://10.0.0.1:6443", 1), []nodeconfig.Problem{{Path: "$.discovery.bootstrapToken.apiServerEndpoint", Reason: "HOST:PORT", Fatal: true, Line: 1, Column: 14}}},
	{whole + "\nreboot", []nodeconfig.Problem{{Path: "$", Reason: "ends here, and something follows", Fatal: true}}},
	{whole + " --node-name a\x00b", []nodeconfig.Problem{{Path: "$", Reason: "control character", Fatal: true}}},
	{whole + " --node-name 'a\nb'", []nodeconfig.Problem{{Path: "$", Reason: "line break", Fatal: true}}},
	{whole + " --node-name \xff", []nodeconfig.Problem{{Path: "$", Reason: "is not UTF-8", Fatal: true}}},
	{whole + strings.Repeat(" x", 300), []nodeconfig.Problem{{Path: "$", Reason: "is longer than any", Fatal: true}}},
	{whole + " " + strings.Repeat("x", 17<<10), []nodeconfig.Problem{{Path: "$", Reason: "is longer than any", Fatal: true}}},
}

// TestBadLines: each problem of a line has a position and a reason, and shows no secret. No such line makes a node, unless all its
// problems are warnings.
func TestBadLines(t *testing.T) {
	for _, c := range badLines {
		got := dialect.Decode([]byte(c.line), "")
		slices.SortStableFunc(got.Problems, func(a, b nodeconfig.Problem) int { return strings.Compare(a.Path, b.Path) })
		contracts.Compare(t, got.Problems, c.want)
		for _, p := range got.Problems {
			if strings.Contains(fmt.Sprint(p), "0123456789abcdef") {
				t.Errorf("%q: a secret in %s", c.line, p)
			}
			if p.Line == 0 && p.Kind != nodeconfig.Missing {
				t.Errorf("%q: no place: %s", c.line, p)
			}
		}
		if t.Failed() {
			t.Fatalf("%q", c.line)
		}
	}
	for _, c := range "$`;|&<>()*?[]{}~!#" {
		for _, line := range []string{whole + " --node-name a" + string(c) + "b", whole + " a" + string(c)} {
			if got := dialect.Decode([]byte(line), ""); len(nodeconfig.Fatal(got.Problems)) != 1 || !strings.Contains(got.Problems[0].Reason, "a shell would do something") {
				t.Errorf("%q: %v", line, got.Problems)
			}
		}
		got := dialect.Decode([]byte(whole+" --node-name 'a"+string(c)+"b'"), "")
		if got.Config.Kubelet.NodeName != "" && !strings.ContainsRune(got.Config.Kubelet.NodeName, c) {
			t.Errorf("%q became %q", c, got.Config.Kubelet.NodeName)
		}
	}
}

// FuzzLine: every text has a result, always the same one, and a line without a server, a token and a hash makes no node.
func FuzzLine(f *testing.F) {
	example, err := os.ReadFile("../../examples/kubeadm/join.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	for _, more := range []string{"", " --node-name 'a b'", " --x", " \\\n", " \"$x\"", " --dry-run=true", " 'x", " --token x", " --discovery-token-unsafe-skip-ca-verification"} {
		f.Add(whole + more)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := dialect.Decode([]byte(text), dialect.Kubeadm)
		for _, p := range got.Problems {
			if p.Path == "" || p.Path[0] != '$' || p.Reason == "" {
				t.Errorf("%+v says nothing", p)
			}
		}
		if len(nodeconfig.Fatal(got.Problems)) > 0 {
			return
		}
		cluster := &got.Config.Cluster
		if cluster.Server == "" || cluster.CertificateAuthority == "" && (len(cluster.CertificateAuthorityHashes) == 0 || got.Config.Join.BootstrapToken.IsZero()) {
			t.Errorf("%q makes a node: %s", text, nodeconfig.Encode(got.Config))
		}
		again := dialect.Decode(got.Canonical(), "")
		if nodeconfig.Digest(again.Config) != nodeconfig.Digest(got.Config) {
			t.Errorf("the canonical form makes %s, the text %s", nodeconfig.Encode(again.Config), nodeconfig.Encode(got.Config))
		}
	})
}
