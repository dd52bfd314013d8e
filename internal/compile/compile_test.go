package compile_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

const minimal = "../../examples/native/minimal.yaml"

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The planner's problems are reported together with the errors of the validation.
func TestAllProblemsAtOnce(t *testing.T) {
	document := strings.Replace(read(t, minimal), "1.36.3", "1.36", 1) + "cloud: {provider: aws}\nkubelet: {nodeName: BAD, flags: [{name: kubeconfig, value: /x}]}\n"
	for name, c := range map[string]struct {
		document string
		code     int
		want     []string
	}{
		"good": {document: read(t, minimal)},
		"bad": {document: document, code: exitcode.ContractInvalid, want: []string{
			"$.cluster.kubernetesVersion", "$.kubelet.flags[0]", "$.kubelet.nodeName", "$.cloud.provider",
		}},
		"another machine's": {document: strings.Replace(read(t, minimal), "1.36.3", "1.37.0", 1), code: exitcode.KubeletInstallFailed, want: []string{"$.cluster.kubernetesVersion"}},
		"no document":       {document: "{", code: exitcode.ContractInvalid, want: []string{"$"}},
		"no contract":       {document: "a: b", code: exitcode.ContractInvalid, want: []string{"$"}},
	} {
		known, err := facts.Parse([]byte(read(t, "../../examples/facts/ubuntu.json")))
		if err != nil {
			t.Fatal(err)
		}
		decoded := compile.ReadOne(name, []byte(c.document))
		before := slices.Clone(decoded.Problems)
		result := planned(decoded, known)
		var paths []string
		for _, p := range result.Problems {
			paths = append(paths, p.Path)
			if p.Kind == "" {
				t.Errorf("%s: %s is of no kind", name, p)
			}
		}
		if result.ExitCode != c.code || !slices.Equal(paths, c.want) {
			t.Errorf("%s: exit code %d, %v", name, result.ExitCode, result.Problems)
		}
		if !slices.Equal(before, decoded.Problems) {
			t.Errorf("%s: the dialect's own problems are changed", name)
		}
		if c.code == 0 && (len(result.Plan.Resources) == 0 || result.Plan.Dialect != dialect.Native) {
			t.Errorf("%s: no plan", name)
		}
	}
}

// A dialect's warning does not hide the planner's problem at the same path.
func TestAWarningHidesNothing(t *testing.T) {
	var many strings.Builder
	for i := range 205 {
		fmt.Fprintf(&many, `"unknown%d": 1, `, i)
	}
	decoded := compile.ReadOne("", []byte(strings.Replace(read(t, "../../examples/aks/minimal.json"), "{", "{"+many.String(), 1)))
	known, err := facts.Parse([]byte(read(t, "../../examples/facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	known.NodeIPs = []string{"10.0.0.1\ufdd0"} // systemd would not read it
	result := planned(decoded, known)
	fatal := nodeconfig.Fatal(result.Problems)
	if result.ExitCode != exitcode.ContractInvalid || len(fatal) != 1 || fatal[0].Path != "$" {
		t.Errorf("exit code %d with %v", result.ExitCode, fatal)
	}
	if !slices.ContainsFunc(result.Problems, func(p nodeconfig.Problem) bool { return p.Path == "$" && p.Kind == nodeconfig.Unknown }) {
		t.Error("the warning is lost")
	}
}

// The tests that read all examples know the directory of each dialect.
func TestExamplesOfEachDialect(t *testing.T) {
	if names := slices.Sorted(slices.Values(dialect.Names())); !slices.Equal(names, contracts.Dialects) {
		t.Errorf("the dialects are %q, and those of the examples %q", names, contracts.Dialects)
	}
}

// FuzzPlan: for every document, planning ends and reports no problem twice.
func FuzzPlan(f *testing.F) {
	ubuntu := read(f, "../../examples/facts/ubuntu.json")
	for _, name := range contracts.Examples(f, "../..") {
		f.Add(read(f, name), ubuntu)
	}
	head := "apiVersion: slipway.dev/v1\nkind: NodeConfig\n"
	for _, half := range []string{
		"join: {method: ClientCertificate}", "join: {method: Exec}", "join: {method: Nothing}", "components: {layout: other}", "join: {method: Attested}",
		"cloud: {azure: {custom: {}}}", "kubelet: {imageCredentialProvider: {config: {}}}", "kubelet: {config: [1], flags: [{name: '', value: ''}]}",
		"cluster: {kubernetesVersion: '1.'}", "cluster: {kubernetesVersion: 1.36.3}\nkubelet: {config: {featureGates: 1}, taints: [{}]}",
		"runtime: {containerd: {dataDir: /, registryHeaders: {'': ''}}}", "system: {sysctls: {'': '', '*': ''}}", "components: {artifacts: {'': {version: v}}}",
	} {
		f.Add(head+half+"\n", ubuntu)
		f.Add(head+half+"\n", "{}")
	}
	f.Add(`{"version":"v1","kubelet_config":{"kubelet_flags":{"":"","--kubeconfig":"/x"}}}`, ubuntu)
	f.Fuzz(func(t *testing.T, document, known string) {
		machine, _ := facts.Parse([]byte(known))
		decoded := compile.ReadOne("", []byte(document))
		result := planned(decoded, machine)
		if (result.ExitCode == 0) != (len(nodeconfig.Fatal(result.Problems)) == 0) {
			t.Errorf("exit code %d with %v", result.ExitCode, result.Problems)
		}
		seen := make(map[nodeconfig.Problem]bool)
		for _, p := range result.Problems {
			if seen[p] {
				t.Errorf("%v is there twice", p)
			}
			seen[p] = true
		}
		if len(result.Problems) < len(decoded.Problems) {
			t.Error("problems are lost")
		}
	})
}

// A setting of AKS that the planner does not apply is warned of under AKS's name.
func TestUnreadOfAKS(t *testing.T) {
	known, err := facts.Parse([]byte(read(t, "../../examples/facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range contracts.Load(t, "testdata/aks-minimal.json", "testdata/aks.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			_, problems := compile.ReadOne("", c.Document).Plan(known)
			contracts.Compare(t, problems, c.Want)
		})
	}
}
