package cases

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/contracts"
	"github.com/slipway-dev/slipway/test/hosttest"
	"github.com/slipway-dev/slipway/test/nodetest"
)

const examples = "../../examples"

// spec is a case.json.
type spec struct {
	// Description is the case's subject.
	Description string `json:"description"`
	// Example is the base contract, below examples/.
	Example string `json:"example"`
	// Merge is merged over the example (RFC 7396).
	Merge map[string]any `json:"merge"`
	// Document is the contract's text, if there is no example.
	Document *string `json:"document"`
	// Image is the file below testdata/images with the machine's facts. Empty means examples/facts/ubuntu.json. Facts are merged
	// over them.
	Image string         `json:"image"`
	Facts map[string]any `json:"facts"`
	// Before are files that exist before the run, by path.
	Before map[string]string `json:"before"`
	// Agentless also compares the node without an agent: want.cloud-config.yaml, want.config.ign, want.manifest.json.
	Agentless bool `json:"agentless"`
}

func TestCases(t *testing.T) {
	found, err := filepath.Glob("*/case.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range found {
		dir := filepath.Dir(path)
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			runCase(t, dir)
		})
	}
}

func runCase(t *testing.T, dir string) {
	var c spec
	readJSON(t, filepath.Join(dir, "case.json"), &c)
	root := hosttest.TempDir(t)
	c.prepare(t, root)
	first := provision(t, root, c.facts(t))
	document, err := first.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, dir, "want.status.json", document)
	golden(t, dir, "want.tree", tree(t, root))
	golden(t, dir, "want.actions", actions(t, root))
	if first.Outcome != status.OutcomeSuccess {
		return
	}
	c.withoutAgent(t, dir, root)
	node(root, c.facts(t)).Again(t)
}

// TestConvert: the native document of every contract, of the cases and of the examples, gives the same plan, and so does the native
// document of that.
func TestConvert(t *testing.T) {
	found, err := filepath.Glob("*/case.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range found {
		var c spec
		readJSON(t, path, &c)
		if _, document := c.contract(t); document != nil {
			convert(t, path, document, c.facts(t))
		}
	}
	for _, path := range contracts.Examples(t, "../..") {
		convert(t, path, read(t, path), (&spec{}).facts(t))
	}
}

func convert(t *testing.T, name string, document []byte, known facts.Facts) {
	t.Helper()
	contract := compile.ReadOne(name, document)
	if !contract.Readable() || len(contract.Fatal()) > 0 {
		return
	}
	converted := compile.ReadOne(name, compile.NativeOf(contract.Written()))
	for _, p := range converted.Problems {
		if p.Fatal || p.Kind == nodeconfig.Unknown || p.Kind == nodeconfig.Deprecated {
			t.Errorf("%s: the native document has a problem: %s", name, p)
		}
	}
	want, _ := contract.Plan(known)
	got, _ := converted.Plan(known)
	got.Dialect = want.Dialect
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b nodeconfig.Secret) bool { return a.Reveal() == b.Reveal() })); diff != "" {
		t.Errorf("%s: the native document makes another plan:\n%s", name, diff)
	}
	if again := compile.ReadOne(name, compile.NativeOf(converted.Written())); !bytes.Equal(compile.NativeOf(again.Written()), compile.NativeOf(converted.Written())) {
		t.Errorf("%s: converted twice it is another document", name)
	}
}

// prepare writes the contract where user data would write it, and the files of before.
func (c *spec) prepare(t *testing.T, root string) {
	for path, content := range c.Before {
		write(t, filepath.Join(root, path), []byte(content))
	}
	if path, document := c.contract(t); document != nil {
		write(t, filepath.Join(root, path), document)
	}
}

// contract returns the contract and its path; a node may have no contract.
func (c *spec) contract(t *testing.T) (path string, document []byte) {
	const aks, native = "opt/azure/containers/aks-node-controller-config.json", "etc/slipway/config.yaml"
	switch {
	case c.Document != nil:
		return aks, []byte(*c.Document)
	case c.Example == "":
		return "", nil
	case filepath.Ext(c.Example) != ".json" && c.Merge == nil:
		return native, read(t, filepath.Join(examples, c.Example))
	case filepath.Ext(c.Example) == ".yaml":
		var contract map[string]any
		if err := yaml.Unmarshal(read(t, filepath.Join(examples, c.Example)), &contract); err != nil {
			t.Fatal(err)
		}
		return native, marshal(t, merge(contract, c.Merge)) // JSON is also YAML
	}
	var contract map[string]any
	readJSON(t, filepath.Join(examples, c.Example), &contract)
	return aks, marshal(t, merge(contract, c.Merge))
}

func (c *spec) facts(t *testing.T) facts.Facts {
	var known map[string]any
	image := filepath.Join(examples, "facts/ubuntu.json")
	if c.Image != "" {
		image = filepath.Join("testdata/images", c.Image+".json")
	}
	readJSON(t, image, &known)
	parsed, err := facts.Parse(marshal(t, merge(known, c.Facts)))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// provision runs the agent on a directory, as AKS's own images call it.
func provision(t *testing.T, root string, known facts.Facts) *status.Status {
	t.Helper()
	return node(root, known).Provision(t)
}

// node is a node in a directory, whose agent has the name of AKS's own images.
func node(root string, known facts.Facts) nodetest.Node {
	return nodetest.Node{Root: root, Facts: known, Called: "aks-node-controller"}
}

// merge merges over into base: null removes, maps are merged, every other value is replaced.
func merge(base, over map[string]any) map[string]any {
	for name, value := range over {
		below, isMap := base[name].(map[string]any)
		above, isMapToo := value.(map[string]any)
		switch {
		case value == nil:
			delete(base, name)
		case isMap && isMapToo:
			base[name] = merge(below, above)
		default:
			base[name] = value
		}
	}
	return base
}

// golden compares with a golden file, or rewrites it.
func golden(t *testing.T, dir, name string, got []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if *contracts.Update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run make golden", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s differs (make golden rewrites it):\n%s", path, diff)
	}
}

func actions(t *testing.T, root string) []byte {
	content, err := os.ReadFile(filepath.Join(root, "run/slipway/actions.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return content
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(read(t, path)))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	document, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return document
}
