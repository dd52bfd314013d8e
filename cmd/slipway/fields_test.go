package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/test/contracts"
)

// injected is the file that a value creates if a shell runs its content.
const injected = "injected"

// hostile are values with a meaning for a shell, for JSON, or for a program that reads a script line by line, and some
// without one.
var hostile = map[string]string{
	"quotes":         "'\"'\"'\\'\\\"'' \\ \\\\ \\n \\\n\\",
	"substitution":   "$(touch " + injected + ")`touch " + injected + "`${HOME}$x",
	"between quotes": `'"; touch ` + injected + `; "'; touch ` + injected + `; '`,
	"lines":          "EOF\n#EOF\n\nEOF\ntouch " + injected + "\r\nSLIPWAY_END\n\n",
	"characters":     "  a,b=c;d & | * ~ ! -n\té\u2028\u202e\u0001\u007f\x1b[31m",
	"zero byte":      "a\x00b",
	"100 KB":         strings.Repeat("a'\"$`\\\n", 100<<10/7),
}

// switchedOn are the settings that other fields need to have an effect.
const switchedOn = `{"version":"v1","local_dns_profile":{"enable_local_dns":true,"enable_hosts_plugin":true},
	"custom_linux_os_config":{"enable_swap_config":true},"custom_cloud_config":{"custom_cloud_env_name":"akscustom"},
	"kubelet_config":{"enable_kubelet_config_file":true}}`

// stringFields calls fn for each field of a message that can have a text, with a function that creates the document
// with a text there: fields, items of lists, and both the keys and the values of maps.
func stringFields(in reflect.Type, path string, within func(*document.Node) *document.Node, fn func(path string, with func(string) *document.Node)) {
	value := func(s string) *document.Node { return within(&document.Node{Kind: document.String, Text: s}) }
	switch in.Kind() {
	case reflect.Pointer:
		stringFields(in.Elem(), path, within, fn)
	case reflect.String:
		fn(path, value)
	case reflect.Slice:
		stringFields(in.Elem(), path+"[0]", func(n *document.Node) *document.Node {
			return within(&document.Node{Kind: document.List, Items: []document.Node{*n}})
		}, fn)
	case reflect.Map:
		of := func(key string, n *document.Node) *document.Node {
			return within(&document.Node{Kind: document.Map, Fields: []document.Field{{Name: key, Value: *n}}})
		}
		stringFields(in.Elem(), path+".*", func(n *document.Node) *document.Node { return of("a", n) }, fn)
		fn(path+".*'s key", func(key string) *document.Node { return of(key, sample(in.Elem())) })
	case reflect.Struct:
		for i := range in.NumField() {
			name, _ := aksnodeconfig.Names(in.Field(i))
			stringFields(in.Field(i).Type, strings.TrimPrefix(path+"."+name, "."), func(n *document.Node) *document.Node {
				return within(&document.Node{Kind: document.Map, Fields: []document.Field{{Name: name, Value: *n}}})
			}, fn)
		}
	}
}

// sample is a value of a map.
func sample(of reflect.Type) *document.Node {
	switch of.Kind() {
	case reflect.Bool:
		return &document.Node{Kind: document.Bool, Text: "true"}
	case reflect.Struct:
		return &document.Node{Kind: document.Map}
	}
	return &document.Node{Kind: document.String, Text: "a"}
}

// rendered is a contract with a hostile value, in the form for the scripts.
type rendered struct {
	path      string
	variables []cse.Variable
	// assignments are those of the script. They are empty if it is refused.
	assignments string
}

// Whatever text is in a field of AKS's contract, both forms have it unchanged, or report an error; and no part of it is
// run.
func TestHostileFields(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for name, value := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var scripts []rendered
			refused := 0
			base := parseTree([]byte(switchedOn))
			top := func(n *document.Node) *document.Node { return n }
			stringFields(reflect.TypeFor[aksnodeconfig.Configuration](), "", top, func(path string, with func(string) *document.Node) {
				r := renderBoth(t, path, contracts.Merge(base, with(value)).AppendJSON(nil))
				if r.assignments == "" {
					refused++
				} else {
					scripts = append(scripts, r)
				}
			})
			if len(scripts)+refused < 130 || len(scripts) < 60 {
				t.Errorf("%d contracts with a script, %d without", len(scripts), refused)
			}
			givenBack(t, bash, scripts)
		})
	}
}

// renderBoth renders both forms of the variables, and compares them with the JSON form.
func renderBoth(t *testing.T, path string, contract []byte) rendered {
	t.Helper()
	variables, problems := cse.Variables(compile.Read([]compile.Document{{Name: "contract", Data: contract}}, "aks"), facts.Facts{})
	r := rendered{path: path, variables: variables}
	asJSON := runHere(string(contract), "render", "-f", "-", "--dialect", "aks", "--force", "--to", "cse", "-o", "json")
	var property struct {
		Variables map[string]string `json:"variables"`
	}
	if asJSON.code != 0 {
		refusedFor(t, path, asJSON, nil)
	} else if err := json.Unmarshal([]byte(asJSON.out), &property); err != nil || !reflect.DeepEqual(property.Variables, cse.Map(variables)) {
		t.Errorf("%s: the JSON form has other variables (%v)", path, err)
	}
	script := runHere(string(contract), "render", "-f", "-", "--dialect", "aks", "--force", "--to", "cse-script", "--raw", "--cloud", "none")
	if script.code != 0 || len(problems) > 0 {
		var reasons []string
		for _, p := range problems {
			reasons = append(reasons, p.Reason)
		}
		refusedFor(t, path, script, reasons)
		return r
	}
	r.assignments = assignments(t, script.out, variables)
	return r
}

// refusedFor requires that a contract is refused, with all reasons.
func refusedFor(t *testing.T, path string, r result, reasons []string) {
	t.Helper()
	if r.code != 1 || r.out != "" || !strings.Contains(r.err, "error: ") {
		t.Errorf("%s: exit code %d, %d bytes of output, %.500s", path, r.code, len(r.out), r.err)
	}
	for _, reason := range reasons {
		if !strings.Contains(reason, "the variable ") && !strings.Contains(reason, "bytes of variables") || !strings.Contains(r.err, reason) {
			t.Errorf("%s: %s is not in %.500s", path, reason, r.err)
		}
	}
}

// assignments removes what a script has before and after its variables, which is the same for each kind of cloud.
func assignments(t *testing.T, script string, variables []cse.Variable) string {
	t.Helper()
	none, err := cse.Script([]cse.Variable{{Name: "IS_CUSTOM_CLOUD", Value: cse.Map(variables)["IS_CUSTOM_CLOUD"]}})
	if err != nil {
		t.Fatal(err)
	}
	const first, last = "CNI_PLUGINS_URL=''\n", "TELEPORT_ENABLED='false'\n"
	head, rest, _ := strings.Cut(string(none), first)
	_, tail, found := strings.Cut(rest, last)
	inner, before := strings.CutPrefix(script, head)
	inner, after := strings.CutSuffix(inner, tail)
	if !found || !before || !after || head == "" || tail == "" {
		t.Fatalf("no assignments in %.300s", script)
	}
	return inner
}

// evaluated are the variables that the scripts' evaluation of PROXY_VARS sets.
var evaluated = []string{"NO_PROXY", "HTTPS_PROXY", "http_proxy"}

// givenBack runs the assignments of all scripts, one after another, in one shell, and compares the shell's variables.
func givenBack(t *testing.T, bash string, scripts []rendered) {
	var all bytes.Buffer
	for _, r := range scripts {
		all.WriteString(r.assignments)
		var names []string
		for _, v := range r.variables {
			names = append(names, v.Name)
		}
		fmt.Fprintf(&all, "for n in %s; do printf '%%s\\0' \"${!n-unset}\"; done\n", strings.Join(names, " "))
		fmt.Fprintf(&all, "eval \"$PROXY_VARS\"\nunset %s\n", strings.Join(append(names, evaluated...), " "))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "script.sh")
	if err := os.WriteFile(file, all.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, file)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v: %.1000s", err, said.String())
	}
	values := strings.Split(string(out), "\x00")
	for _, r := range scripts {
		for _, v := range r.variables {
			if len(values) == 0 || values[0] != v.Value {
				t.Fatalf("%s: %s is another one: %.100q, want %.100q", r.path, v.Name, slices.Concat(values, []string{""})[0], v.Value)
			}
			values = values[1:]
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something of a value was run: %v, %v", entries, err)
	}
}
