package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/slipway-dev/slipway/examples"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/aks"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/schema"
)

// compiled compiles a schema, which holds that it is one.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	data, ok := schema.Get(name)
	if !ok {
		t.Fatalf("no schema %q", name)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name+".json", value); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate validates a document in JSON or YAML.
func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	tree, problems := dialect.Parse([]byte(text), "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

func TestEveryDialectHasASchemaAndAnExample(t *testing.T) {
	for _, name := range dialect.Names() {
		if data, ok := schema.Get(name); !ok || !json.Valid(data) {
			t.Errorf("no schema of %s; run go generate ./schema", name)
		}
		if examples.Contract(name) == nil {
			t.Errorf("package examples has no contract in %s", name)
		}
	}
	for _, name := range []string{"eks", "", "../schema/native"} {
		if _, ok := schema.Get(name); ok {
			t.Errorf("there is a schema of %q", name)
		}
		if examples.Contract(name) != nil {
			t.Errorf("there is an example of %q", name)
		}
	}
}

func TestExamplesAreValid(t *testing.T) {
	for _, name := range dialect.Names() {
		s := compiled(t, name)
		files, err := filepath.Glob("../examples/" + name + "/*")
		if err != nil || len(files) == 0 {
			t.Fatalf("no examples: %v", err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(t, s, string(text)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

const (
	nativeHead  = "apiVersion: slipway.dev/v1\nkind: NodeConfig\n"
	aksHead     = "version: v1\n"
	eksctlHead  = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\n"
	kubeadmHead = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n"
)

// typed are documents with values of right and of wrong types.
var typed = []struct {
	dialect, text string
	valid         bool
}{
	{dialect.Native, "metadata: {name: x, revision: 3}", true},
	{dialect.Native, "metadata: {name: 3}", false},
	{dialect.Native, `metadata: {revision: "3"}`, true},
	{dialect.Native, "metadata: {revision: 3.0}", true},
	{dialect.Native, "metadata: {revision: 3.5}", false},
	{dialect.Native, "metadata: {revision: x}", false},
	{dialect.Native, "metadata: {revision: null}", true},
	{dialect.Native, "metadata:", true},
	{dialect.Native, "metadata: []", false},
	{dialect.Native, "system: {swapMB: 2147483647}", true},
	{dialect.Native, "system: {swapMB: 2147483648}", false},
	{dialect.Native, "system: {unattendedUpgrades: true}", true},
	{dialect.Native, `system: {unattendedUpgrades: "true"}`, false},
	{dialect.Native, "system: {sysctls: {a.b: 1}}", false},
	{dialect.Native, `system: {sysctls: {a.b: "1"}}`, true},
	{dialect.Native, "system: {sysctls: {a.b: null}}", true},
	{dialect.Native, "system: {modules: [a, null]}", true},
	{dialect.Native, "system: {modules: a}", false},
	{dialect.Native, "system: {environment: {s: {A: b}}}", true},
	{dialect.Native, "system: {environment: {s: b}}", false},
	{dialect.Native, "checks: {timeout: 90s}", true},
	{dialect.Native, "checks: {timeout: 1h30m}", true},
	{dialect.Native, `checks: {timeout: "0"}`, true},
	{dialect.Native, "checks: {timeout: -90s}", false},
	{dialect.Native, "checks: {timeout: 90}", false},
	{dialect.Native, `checks: {timeout: "90"}`, false},
	{dialect.Native, "join: {bootstrapToken: abcdef.0123456789abcdef}", true},
	{dialect.Native, "join: {bootstrapToken: 1}", false},
	{dialect.Native, "join: {method: None}", true},
	{dialect.Native, "join: {method: Magic}", false},
	{dialect.Native, "network: {plugin: cilium}", false},
	{dialect.Native, "network: {ipFamilies: [IPv4, IPv6]}", true},
	{dialect.Native, "network: {ipFamilies: [IPv5]}", false},
	{dialect.Native, "kubelet: {config: {anything: [{goes: 1}]}}", true},
	{dialect.Native, "kubelet: {config: x}", false},
	{dialect.Native, "kubelet: {taints: [{key: k, effect: NoExecute}]}", true},
	{dialect.Native, "kubelet: {taints: [{key: k, effect: Maybe}]}", false},
	{dialect.Native, "kubelet: {lables: {}}", false}, // unknown: a warning to the decoder
	{dialect.Native, "cloud: {azure: {rateLimit: {qps: 1.5}}}", true},
	{dialect.Native, `cloud: {azure: {rateLimit: {qps: "1.5"}}}`, true},
	{dialect.Native, "cloud: {azure: {rateLimit: {qps: fast}}}", false},
	{dialect.AKS, "cse_timeout: 900", true},
	{dialect.AKS, `cse_timeout: "900"`, true},
	{dialect.AKS, "cseTimeout: 900", true},
	{dialect.AKS, "cseTimeout: fast", false},
	{dialect.AKS, "cse_timeout: 9000000000", false},
	{dialect.AKS, "cse_timeout: null", true},
	{dialect.AKS, "network_config: {network_plugin: NETWORK_PLUGIN_AZURE}", true},
	{dialect.AKS, "networkConfig: {networkPlugin: NETWORK_PLUGIN_AZURE}", true},
	{dialect.AKS, "network_config: {network_plugin: 2}", true},
	{dialect.AKS, `network_config: {network_plugin: 2}`, true},
	{dialect.AKS, `network_config: {network_plugin: "2"}`, false},
	{dialect.AKS, "network_config: {network_plugin: 17}", false},
	{dialect.AKS, "network_config: {network_plugin: azure}", false},
	{dialect.AKS, "network_config: null", true},
	{dialect.AKS, "network_config: []", false},
	{dialect.AKS, "is_vhd: true", true},
	{dialect.AKS, `is_vhd: "true"`, false},
	{dialect.AKS, "kubelet_config: {kubelet_flags: {--v: '2'}}", true},
	{dialect.AKS, "kubelet_config: {kubelet_flags: {--v: 2}}", false},
	{dialect.AKS, "http_proxy_config: {no_proxy_entries: [a]}", true},
	{dialect.AKS, "http_proxy_config: {no_proxy_entries: [1]}", false},
	{dialect.AKS, "cluster_config: {cloud_provider_config: {rate_limit_qps: '1.5'}}", true},
	{dialect.AKS, "cluster_config: {cloud_provider_config: {rate_limit_qps: fast}}", false},
	{dialect.AKS, "what_comes_next: {a: 1}", true}, // newer producers know more
	{dialect.EKSCTL, "metadata: {name: a, region: eu-west-1, version: 1.30}", false},
	{dialect.EKSCTL, `metadata: {name: a, region: eu-west-1, version: "1.30"}`, true},
	{dialect.EKSCTL, "nodeGroups: [{name: a, amiFamily: Ubuntu2404, taints: {a: 'b:NoSchedule'}, labels: {a: b}, volumeSize: 80}]", true},
	{dialect.EKSCTL, "nodeGroups: [{name: a, amiFamily: Ubuntu2404, taints: [{key: a, effect: NoSchedule}], preBootstrapCommands: [a]}]", true},
	{dialect.EKSCTL, "nodeGroups: [{name: a, amiFamily: Ubuntu2404, taints: {a: 5}}]", false},
	{dialect.EKSCTL, "nodeGroups: [{name: a, amiFamily: Ubuntu2404, maxPodsPerNode: many}]", false},
	{dialect.EKSCTL, "nodeGroups: [{name: a, amiFamily: Ubuntu2404, kubeletExtraConfig: []}]", false},
	{dialect.EKSCTL, "iam: {withOIDC: true}", true},
	{dialect.Kubeadm, "discovery: {bootstrapToken: {token: abcdef.0123456789abcdef}}", true},
	{dialect.Kubeadm, "discovery: {bootstrapToken: {token: 1}}", false},
	{dialect.Kubeadm, "discovery: {bootstrapToken: {caCertHashes: x}}", false},
	{dialect.Kubeadm, "nodeRegistration: {taints: [{key: a, effect: NoSchedule}]}", true},
	{dialect.Kubeadm, "nodeRegistration: {taints: {}}", false},
	{dialect.Kubeadm, "nodeRegistration: {kubeletExtraArgs: {v: \"3\"}}", true},
	{dialect.Kubeadm, "what_comes_next: {a: 1}", true},
}

// TestTypesAreTheDecoders holds that a schema takes a value where the decoder takes it, and refuses
// it where the decoder reports it.
func TestTypesAreTheDecoders(t *testing.T) {
	schemas := make(map[string]*jsonschema.Schema)
	for _, name := range dialect.Names() {
		schemas[name] = compiled(t, name)
	}
	heads := map[string]string{dialect.Native: nativeHead, dialect.AKS: aksHead, dialect.EKSCTL: eksctlHead, dialect.Kubeadm: kubeadmHead}
	for _, tt := range typed {
		text := heads[tt.dialect] + tt.text + "\n"
		err := validate(t, schemas[tt.dialect], text)
		if (err == nil) != tt.valid {
			t.Errorf("%s: %q is valid: %t, want %t: %v", tt.dialect, tt.text, err == nil, tt.valid, err)
		}
		if decoded := objections(t, tt.dialect, text); (len(decoded) == 0) != tt.valid && !strings.Contains(tt.text, "what_comes_next") {
			t.Errorf("%s: the decoder's result for %q is %v", tt.dialect, tt.text, decoded)
		}
	}
}

// objections are what decoder and validation say of values, not of their absence, nor of a null, which
// is as good as absent: that the decoder warns of one in a list or map is no matter of its type.
func objections(t *testing.T, name, text string) []nodeconfig.Problem {
	t.Helper()
	var problems []nodeconfig.Problem
	for _, p := range dialect.Decode([]byte(text), name).Problems {
		if !strings.HasPrefix(p.Reason, "is missing") && !strings.HasPrefix(p.Reason, "is not applied") && !strings.HasPrefix(p.Reason, "is null") {
			problems = append(problems, p)
		}
	}
	return problems
}

// enumerated are the native fields whose values are a closed set, as documents with a value to fill in.
var enumerated = map[string]string{
	"method":           "join: {method: %, bootstrapToken: t, exec: {command: /bin/true}}",
	"rule":             "kubelet: {capacity: {rule: %}}",
	"dataDisk":         "kubelet: {dataDisk: %}",
	"effect":           "kubelet: {taints: [{key: k, effect: %}]}",
	"cgroupDriver":     "runtime: {cgroupDriver: %}",
	"lazyPull":         "runtime: {lazyPull: %}",
	"capabilities":     "runtime: {registries: {a: {mirrors: [{url: 'https://b', capabilities: [%]}]}}}",
	"plugin":           "network: {plugin: %}",
	"policy":           "network: {policy: %}",
	"ipFamilies":       "network: {ipFamilies: [%]}",
	"table":            "network: {metadataRestriction: {table: %}}",
	"queryLogging":     "network: {localDNS: {pods: {a: {queryLogging: %}}}}",
	"protocol":         "network: {localDNS: {pods: {a: {protocol: %}}}}",
	"forwardTo":        "network: {localDNS: {pods: {a: {forwardTo: %}}}}",
	"forwardPolicy":    "network: {localDNS: {pods: {a: {forwardPolicy: %}}}}",
	"serveStale":       "network: {localDNS: {pods: {a: {serveStale: %}}}}",
	"serveStalePolicy": "network: {localDNS: {pods: {a: {serveStalePolicy: %}}}}",
	"provider":         "cloud: {provider: %}",
	"vmType":           "cloud: {azure: {vmType: %}}",
	"sku":              "cloud: {azure: {loadBalancer: {sku: %}}}",
	"layout":           "components: {layout: %}",
	"swapDisk":         "system: {swapMB: 1024, swapDisk: %}",
	"vendor":           "system: {gpu: {vendor: %}}",
	"strategy":         "system: {gpu: {vendor: nvidia, strategy: %}}",
	"state":            "units: [{name: a.service, state: %}]",
}

// TestEnumerationsAreTheValidators holds that the validation takes each value of an enumeration, and
// no other.
func TestEnumerationsAreTheValidators(t *testing.T) {
	type node struct {
		Enum       []any            `json:"enum"`
		Items      *node            `json:"items"`
		Properties map[string]*node `json:"properties"`
		Defs       map[string]*node `json:"$defs"`
	}
	data, _ := schema.Get(dialect.Native)
	root := new(node)
	if err := json.Unmarshal(data, root); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, def := range root.Defs {
		for name, field := range def.Properties {
			values := field.Enum
			if field.Items != nil {
				values = field.Items.Enum
			}
			if len(values) == 0 {
				continue
			}
			found++
			for _, value := range append(values, "something-else") {
				if value == nil {
					continue
				}
				text := nativeHead + strings.ReplaceAll(enumerated[name], "%", value.(string))
				wrong := slices.ContainsFunc(objections(t, dialect.Native, text), func(p nodeconfig.Problem) bool {
					return strings.Contains(p.Path, name) || strings.Contains(p.Reason, name)
				})
				if wrong != (value == "something-else") {
					t.Errorf("%s: %q is refused: %t", name, value, wrong)
				}
			}
		}
	}
	if found != len(enumerated) {
		t.Errorf("the schema has %d enumerations, this test knows %d", found, len(enumerated))
	}
}

// TestBrokenDocumentsAreNot holds that the schemas refuse what is not a contract.
func TestBrokenDocumentsAreNot(t *testing.T) {
	native, aks := compiled(t, dialect.Native), compiled(t, dialect.AKS)
	for _, text := range []string{"{}", "kind: NodeConfig", "apiVersion: slipway.dev/v9\nkind: NodeConfig", "apiVersion: slipway.dev/v1\nkind: Pod", nativeHead + "version: v1"} {
		if validate(t, native, text) == nil {
			t.Errorf("native: %q is valid", text)
		}
	}
	for _, text := range []string{"{}", "version: v2", "version: 1", "version: null"} {
		if validate(t, aks, text) == nil {
			t.Errorf("AKS: %q is valid", text)
		}
	}
}

// TestSecretsAreMarked puts a word into each text field of an AKS contract: a field that becomes a
// Secret must be marked as one.
func TestSecretsAreMarked(t *testing.T) {
	const word = "ZXhwbGFpbg==" // base64, for the fields that are read so
	var marked, secret int
	for _, path := range leaves(t, dialect.AKS) {
		tree, err := document.Parse([]byte(nest(path.names, word)))
		if err != nil {
			t.Fatal(err)
		}
		c := aks.FromTree(tree).NodeConfig
		nodeconfig.Default(c)
		revealed := strings.Contains(string(nodeconfig.Encode(c)), `"`+word+`"`) || strings.Contains(string(nodeconfig.Encode(c)), `"explain"`)
		c.Runtime.Containerd.RegistryHeaders = nil // the translation's own
		c.Components.ScriptVariables = nil         // each is kept as a secret there, as any may be one
		_, err = json.Marshal(c)                   // refuses a config that holds a secret
		isSecret := revealed && err != nil
		if isSecret && !path.secret {
			t.Errorf("%s is a secret and not marked", strings.Join(path.names, "."))
		}
		if isSecret {
			secret++
		}
		if path.secret {
			marked++
		}
	}
	if secret < 3 || marked < secret {
		t.Errorf("%d fields are marked and %d are secrets", marked, secret)
	}
}

// leaf is a text field.
type leaf struct {
	names  []string
	secret bool
}

// leaves returns the text fields of a schema.
func leaves(t *testing.T, name string) []leaf {
	t.Helper()
	type node struct {
		Ref        string           `json:"$ref"`
		Type       any              `json:"type"`
		WriteOnly  bool             `json:"writeOnly"`
		Properties map[string]*node `json:"properties"`
		Defs       map[string]*node `json:"$defs"`
	}
	data, _ := schema.Get(name)
	root := new(node)
	if err := json.Unmarshal(data, root); err != nil {
		t.Fatal(err)
	}
	var all []leaf
	var walk func(n *node, names []string)
	walk = func(n *node, names []string) {
		if def, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok && !strings.Contains(def, "/") {
			n = root.Defs[def]
		}
		if types, ok := n.Type.([]any); ok && types[0] == "string" {
			all = append(all, leaf{names, n.WriteOnly})
		}
		for name, below := range n.Properties {
			walk(below, append(names[:len(names):len(names)], name))
		}
	}
	walk(root, nil)
	return all
}

// nest is a document with a value in one place.
func nest(names []string, value string) string {
	if len(names) == 0 {
		return `"` + value + `"`
	}
	return `{"` + names[0] + `":` + nest(names[1:], value) + `}`
}
