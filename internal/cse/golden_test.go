package cse_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

// example is a contract of testdata/contracts.yaml.
type example struct {
	name     string
	contract *compile.Contract
	facts    facts.Facts
}

func examples(t testing.TB) []example {
	t.Helper()
	list := contracts.Parse(t, "testdata/contracts.yaml")
	var all []example
	for i := range list.Fields {
		body := &list.Fields[i].Value
		e := example{name: list.Fields[i].Name, contract: read(t, body)}
		if known, ok := body.Get("facts"); ok {
			parsed, err := facts.Parse(known.AppendJSON(nil))
			if err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			e.facts = parsed
		}
		all = append(all, e)
	}
	return all
}

// read reads the contract of an example.
func read(t testing.TB, body *document.Node) *compile.Contract {
	t.Helper()
	name := dialect.AKS
	in, ok := body.Get("contract")
	if native, is := body.Get("native"); is {
		name, in, ok = dialect.Native, native, true
	}
	text := []byte(`{"version":"v1"}`)
	if ok {
		version, err := document.Parse([]byte(`{"version":"v1"}`))
		if err != nil {
			t.Fatal(err)
		}
		if name == dialect.Native {
			version = &document.Node{Kind: document.Map}
		}
		text = contracts.Merge(version, in).AppendJSON(nil)
	}
	return compile.Read([]compile.Document{{Name: "contract", Data: text}}, name)
}

// variables are those of an example, by name.
func variables(t testing.TB, e example) map[string]string {
	t.Helper()
	list, problems := cse.Variables(e.contract, e.facts)
	if problems != nil {
		t.Errorf("%s: %v", e.name, problems)
	}
	values := make(map[string]string, len(list))
	for _, v := range list {
		values[v.Name] = v.Value
	}
	if len(values) != len(list) {
		t.Errorf("%s: a name is there twice", e.name)
	}
	return values
}

// asBase64 matches variables whose value is the base64 of a text.
var asBase64 = regexp.MustCompile(`_CONTENT$|_TEMPLATE$|_COREFILE|^CUSTOM_ENV_JSON$|^MESSAGE_OF_THE_DAY$`)

// shown is a variable in the format of the golden files, with its decoded value.
func shown(name, value string) string {
	decoded, err := base64.StdEncoding.DecodeString(value)
	if value == "" || !asBase64.MatchString(name) || err != nil || !utf8.Valid(decoded) {
		return fmt.Sprintf("%s=%q\n", name, value)
	}
	text := strings.ReplaceAll("\n"+string(decoded), "\n", "\n\t| ")
	return name + " is the base64 of" + text + "\n"
}

// The variables of each contract are those of AKS's program, by the rules of the table. A golden file has the variables that differ
// from those of the empty contract, whose file has all.
func TestVariables(t *testing.T) {
	all := examples(t)
	base := variables(t, all[0])
	for i, e := range all {
		list, _ := cse.Variables(e.contract, e.facts)
		var got strings.Builder
		for _, v := range list {
			if was, ok := base[v.Name]; i == 0 || !ok || was != v.Value {
				got.WriteString(shown(v.Name, v.Value))
			}
		}
		contracts.GoldenText(t, "testdata/golden/"+e.name+".txt", []byte(got.String()))
	}
}

// A variable's value does not show in any format.
func TestVariableIsSecret(t *testing.T) {
	v := cse.Variable{Name: "TLS_BOOTSTRAP_TOKEN", Value: "abcdef.0123456789abcdef"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		for _, value := range []any{v, &v, []cse.Variable{v}, map[string]cse.Variable{"a": v}} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, "0123456789") {
				t.Errorf("%s: %s", format, text)
			}
		}
	}
	if v.String() != "TLS_BOOTSTRAP_TOKEN="+nodeconfig.Redacted {
		t.Error(v.String())
	}
}

// A variable that no program can get is a problem, which names the variable and not its value.
func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":"v1","vm_size":"x","outbound_command":"a\u0000b"}`:                         "OUTBOUND_COMMAND a zero byte",
		`{"version":"v1","outbound_command":"` + strings.Repeat("a", 32*4096) + `"}`:           "OUTBOUND_COMMAND 131089 bytes",
		`{"version":"v1","outbound_command":"` + strings.Repeat("a", 32*4096-1-17) + `"}`:      "",
		`{"version":"v1","outbound_command":"` + strings.Repeat("a", 32*4096-17) + `"}`:        "OUTBOUND_COMMAND 131072 bytes",
		`{"version":"v1","custom_ca_certs":["` + strings.Repeat("YQ==", 100_000/4) + `","b"]}`: "",
	} {
		_, problems := cse.Variables(compile.ReadOne("contract", []byte(text)), facts.Facts{})
		switch {
		case want == "" && problems != nil, want != "" && len(problems) != 1:
			t.Errorf("%.60s: %v", text, problems)
		case want != "" && !strings.Contains(problems[0].Reason, want):
			t.Errorf("%.60s: %v, want %s", text, problems, want)
		}
	}
}
