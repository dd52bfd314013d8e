package contracts

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/schema"
)

// Secrets are the parts of a contract that can contain a secret, each with a canary, and their paths. They are found by walking the
// types and the tables, so that no test forgets a new one.
type Secrets struct {
	// Document has all of them, to be merged into a contract.
	Document *document.Node
	// Paths are those of the canaries.
	Paths []string

	canary func(path string) string
}

func (s *Secrets) text(at string) *document.Node {
	s.Paths = append(s.Paths, at)
	return &document.Node{Kind: document.String, Text: s.canary(at)}
}

func (s *Secrets) merge(n *document.Node) { s.Document = Merge(s.Document, n) }

// shapes are the values at a path of nodeconfig.SecretPlaces that needs more than a string. C represents the canary.
var shapes = map[string]string{
	"$.kubelet.config.staticPodURLHeader":                        `{"Authorization":["C"]}`,
	"$.kubelet.imageCredentialProvider.config.providers[*].args": `["C"]`,
	"$.kubelet.imageCredentialProvider.config.providers[*].env":  `[{"name":"A","value":"C"}]`,
	"$.runtime.containerd.baseRuntimeSpec.process.args":          `["C"]`,
	"$.runtime.containerd.baseRuntimeSpec.process.env":           `["C"]`,
}

// NativeSecrets are those of a native contract; canary returns the secret at a path.
func NativeSecrets(t testing.TB, canary func(path string) string) *Secrets {
	t.Helper()
	s := &Secrets{Document: &document.Node{Kind: document.Map}, canary: canary}
	s.merge(s.ofType(reflect.TypeFor[nodeconfig.NodeConfig](), "$"))
	for place := range shapes {
		if !slices.Contains(nodeconfig.SecretPlaces(), place) {
			t.Errorf("%s is no place of secrets", place)
		}
	}
	data := &document.Node{Kind: document.Map}
	for _, place := range nodeconfig.SecretPlaces() {
		shape, ok := shapes[place]
		if !ok {
			shape = `"C"`
		}
		at := strings.ReplaceAll(place, "[*]", "[0]")
		value, _ := Edit(parse(t, `{"x":`+shape+`}`), func(path string, n *document.Node) *document.Node {
			if n.Text != "C" {
				return n
			}
			return s.text(at + strings.TrimPrefix(path, "$.x"))
		}).Get("x")
		data = Put(data, at, value)
	}
	for i, flag := range nodeconfig.SecretFlags() {
		at := document.IndexPath("$.kubelet.flags", i)
		data = Put(data, at+".name", &document.Node{Kind: document.String, Text: flag})
		data = Put(data, at+".value", s.flag(flag, at+".value"))
	}
	for at, value := range provider {
		data = Put(data, "$.kubelet.imageCredentialProvider.config."+at, &document.Node{Kind: document.String, Text: value})
	}
	s.merge(data)
	return s
}

// provider has the fields that a kubelet requires in the configuration of its credential providers.
var provider = map[string]string{
	"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig", "providers[0].name": "own",
	"providers[0].apiVersion": "credentialprovider.kubelet.k8s.io/v1", "providers[0].matchImages[0]": "registry.example", "providers[0].defaultCacheDuration": "10m",
}

// flag is the value of a kubelet flag with a secret: a header also has a name, unless the secret was redacted.
func (s *Secrets) flag(name, at string) *document.Node {
	value := s.text(at)
	if strings.HasSuffix(name, "-header") && !strings.Contains(value.Text, nodeconfig.Redacted) {
		value.Text = "A:" + value.Text
	}
	return value
}

// ofType returns a value of a type with a canary in each Secret, or nil if the type has none.
func (s *Secrets) ofType(t reflect.Type, at string) *document.Node {
	switch {
	case t == reflect.TypeFor[nodeconfig.Secret]():
		return s.text(at)
	case t.Kind() == reflect.Pointer:
		return s.ofType(t.Elem(), at)
	case t.Kind() == reflect.Slice:
		if item := s.ofType(t.Elem(), document.IndexPath(at, 0)); item != nil {
			return &document.Node{Kind: document.List, Items: []document.Node{*item}}
		}
	case t.Kind() == reflect.Map:
		if value := s.ofType(t.Elem(), document.FieldPath(at, "a")); value != nil {
			return &document.Node{Kind: document.Map, Fields: []document.Field{{Name: "a", Value: *value}}}
		}
	case t.Kind() == reflect.Struct:
		n := &document.Node{Kind: document.Map}
		for i := range t.NumField() {
			names := document.JSONNames(t.Field(i))
			if len(names) == 0 {
				continue
			}
			if value := s.ofType(t.Field(i).Type, document.FieldPath(at, names[0])); value != nil {
				n.Fields = append(n.Fields, document.Field{Name: names[0], Value: *value})
			}
		}
		if len(n.Fields) == 0 {
			return nil
		}
		if _, named := t.FieldByName("Name"); named { // a variable without a name is invalid
			n.Fields = append(n.Fields, document.Field{Name: "name", Value: document.Node{Kind: document.String, Text: "A"}})
		}
		if t == reflect.TypeFor[nodeconfig.RegistryHost]() { // so is a server without a URL
			n.Fields = append(n.Fields, document.Field{Name: "url", Value: document.Node{Kind: document.String, Text: "https://registry.example"}})
		}
		if t == reflect.TypeFor[nodeconfig.File]() { // so is a file without a path
			n.Fields = append(n.Fields, document.Field{Name: "path", Value: document.Node{Kind: document.String, Text: "/etc/secret"}})
		}
		return n
	}
	return nil
}

// AKSSecrets are those of an AKS contract: the fields that are marked in its schema, and the kubelet's flags.
func AKSSecrets(t testing.TB, canary func(path string) string) *Secrets {
	t.Helper()
	type node struct {
		Ref        string           `json:"$ref"`
		WriteOnly  bool             `json:"writeOnly"`
		Properties map[string]*node `json:"properties"`
		Defs       map[string]*node `json:"$defs"`
	}
	data, _ := schema.Get("aks")
	root := new(node)
	if err := json.Unmarshal(data, root); err != nil {
		t.Fatal(err)
	}
	s := &Secrets{Document: &document.Node{Kind: document.Map}, canary: canary}
	var walk func(n *node, at string)
	walk = func(n *node, at string) {
		if def, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
			if strings.Contains(def, "/") {
				return // another spelling of a field's name
			}
			n = root.Defs[def]
		}
		if n.WriteOnly {
			s.Document = Put(s.Document, at, s.text(at))
		}
		for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
			walk(n.Properties[name], document.FieldPath(at, name))
		}
	}
	walk(root, "$")
	for _, flag := range nodeconfig.SecretFlags() {
		at := document.FieldPath("$.kubelet_config.kubelet_flags", "--"+flag)
		s.Document = Put(s.Document, at, s.flag(flag, at))
	}
	return s
}

func parse(t testing.TB, text string) *document.Node {
	t.Helper()
	n, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
