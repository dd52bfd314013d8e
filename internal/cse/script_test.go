package cse_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/test/contracts"
)

// The whole script, and the one for a custom cloud.
func TestScript(t *testing.T) {
	for _, e := range examples(t) {
		if e.name != "hostile" && e.name != "cloud-custom" {
			continue
		}
		variables, _ := cse.Variables(e.contract, e.facts)
		script, err := cse.Script(variables)
		if err != nil {
			t.Fatal(err)
		}
		contracts.GoldenText(t, "testdata/script/"+e.name+".sh", script)
	}
}

// run runs a script in a directory that represents the machine, and returns the environment of the image's script.
func run(t testing.TB, variables []cse.Variable) map[string]string {
	t.Helper()
	script, err := cse.Script(variables)
	if err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	root := t.TempDir()
	for _, path := range []string{"opt/azure/containers", "var/log/azure"} {
		if err := os.MkdirAll(filepath.Join(root, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	containers := filepath.Join(root, "opt/azure/containers")
	for name, content := range map[string]string{
		"provision.sh":       "#EOF\n",
		"provision_start.sh": "/usr/bin/env -0 > " + filepath.Join(root, "environment") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(containers, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The assignments stay as they are; the lines before and after them are for the machine.
	head, rest, _ := bytes.Cut(script, []byte("\ndone\n"))
	assignments, tail := rest, []byte(nil)
	if at := bytes.LastIndex(rest, []byte("/usr/bin/nohup ")); at >= 0 {
		assignments, tail = rest[:at], rest[at:]
	}
	if at := bytes.LastIndex(assignments, []byte("for init in ")); at >= 0 && variablesHave(variables, "IS_CUSTOM_CLOUD", "true") {
		assignments, tail = assignments[:at], append([]byte(nil), rest[at:]...)
	}
	moved := func(b []byte) string {
		return strings.NewReplacer("/opt/azure/", root+"/opt/azure/", "/var/log/azure/", root+"/var/log/azure/").Replace(string(b))
	}
	file := filepath.Join(root, "script.sh")
	if err := os.WriteFile(file, []byte(moved(head)+"\ndone\n"+string(assignments)+moved(tail)), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, file)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	environment, err := os.ReadFile(filepath.Join(root, "environment"))
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]string)
	for entry := range strings.SplitSeq(string(environment), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return values
}

func variablesHave(variables []cse.Variable, name, value string) bool {
	return cse.Map(variables)[name] == value
}

// A shell reads every variable of every contract back unchanged.
func TestScriptGivesBack(t *testing.T) {
	for _, e := range examples(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			variables, _ := cse.Variables(e.contract, e.facts)
			got := run(t, variables)
			for _, v := range variables {
				if value, ok := got[v.Name]; !ok || value != v.Value {
					t.Errorf("%s is %q, want %q", v.Name, value, v.Value)
				}
			}
		})
	}
}

// hostile are values with a special meaning for a shell, for readers of a script, or without a meaning.
var hostile = []string{
	"", "'", "''", "'\"'\"'", "\\", "\\\\'", "\\\n", "$HOME", "${x}", "$(exit 3)", "`exit 3`", "a\nEOF\nb", "#EOF\n", "\n", "\n\n", " a ", "\t",
	"a\r\nb", "!x", "~", "*", "a;exit 3", "&", "| cat", "<(x)", "\xff\xfe\x80", "é\u2028\u202e", "\x01\x7f\x1b[31m", "-n", "=", "a=b", "'\n'",
	strings.Repeat("a'\"$`\\\n", 100<<10/7),
}

// No value in any string field changes another variable, and each arrives unchanged.
func TestHostileValues(t *testing.T) {
	for i, value := range hostile {
		variables := []cse.Variable{{Name: "A", Value: value}, {Name: "B", Value: "b"}, {Name: "C_1", Value: value + "'"}}
		got := run(t, variables)
		for _, v := range variables {
			if got[v.Name] != v.Value {
				t.Errorf("%d: %s is %.100q, want %.100q", i, v.Name, got[v.Name], v.Value)
			}
		}
	}
	// In the contract's own fields, all at once.
	for i, value := range hostile {
		text := fullContract(t, strings.ToValidUTF8(value, "?"))
		variables, problems := cse.Variables(compile.Read([]compile.Document{{Name: "contract", Data: text}}, "aks"), facts.Facts{})
		if problems != nil {
			if len(value) < 1000 {
				t.Errorf("%d: %v", i, problems)
			}
			continue
		}
		got := run(t, variables)
		for _, v := range variables {
			if got[v.Name] != v.Value {
				t.Errorf("%d: %s is %.100q, want %.100q", i, v.Name, got[v.Name], v.Value)
			}
		}
	}
}

// fullContract is a contract with a value in each free text field.
func fullContract(t testing.TB, value string) []byte {
	t.Helper()
	tree := contracts.Parse(t, "testdata/contracts.yaml")
	merged := &document.Node{Kind: document.Map, Fields: []document.Field{{Name: "version", Value: document.Node{Kind: document.String, Text: "v1"}}}}
	for i := range tree.Fields {
		if contract, ok := tree.Fields[i].Value.Get("contract"); ok && tree.Fields[i].Name != "local-dns-off" {
			merged = contracts.Merge(merged, contract)
		}
	}
	contracts.Walk(merged, func(path string, n *document.Node) {
		_, name := document.CutPath(path)
		enumeration := strings.ToUpper(n.Text) == n.Text && strings.Contains(n.Text, "_")
		if n.Kind == document.String && name != "version" && !enumeration {
			n.Text = value
		}
	})
	return merged.AppendJSON(nil)
}

// A value that no shell can hold is an error that names the variable.
func TestScriptRefuses(t *testing.T) {
	_, err := cse.Script([]cse.Variable{{Name: "A", Value: "secret\x00"}})
	if err == nil || !strings.Contains(err.Error(), "the variable A") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	var many []cse.Variable
	for i := range 20 {
		many = append(many, cse.Variable{Name: fmt.Sprintf("A%d", i), Value: strings.Repeat("a", 100<<10)})
	}
	if _, err := cse.Script(many); err == nil || !strings.Contains(err.Error(), "bytes of variables") {
		t.Error(err)
	}
	many = many[:18]
	for name := range run(t, many) { // a program can get them
		if name == "A17" {
			return
		}
	}
	t.Error("A17 is missing")
}

// FuzzScript passes any value to a shell.
func FuzzScript(f *testing.F) {
	for _, value := range hostile {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if strings.Contains(value, "\x00") || len(value) > 100<<10 {
			t.Skip("no variable holds it")
		}
		if got := run(t, []cse.Variable{{Name: "A", Value: value}})["A"]; got != value {
			t.Errorf("is %q, want %q", got, value)
		}
	})
}
