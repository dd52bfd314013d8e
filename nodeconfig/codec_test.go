package nodeconfig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/nodeconfig"
)

func TestCanonical(t *testing.T) {
	no, zero := false, int32(0)
	for _, c := range []struct {
		name   string
		change func(*nodeconfig.NodeConfig)
		want   string
	}{
		{"nothing", func(*nodeconfig.NodeConfig) {}, `{}`},
		{"names are sorted", func(c *nodeconfig.NodeConfig) {
			c.Kind, c.APIVersion, c.Cluster.Server, c.Cluster.Name = "K", "A", "S", "N"
		}, `{"apiVersion":"A","cluster":{"name":"N","server":"S"},"kind":"K"}`},
		{"keys are sorted", func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Labels = map[string]string{"b": "2", "a/b": "3", "a": "1", "A": "0"}
		}, `{"kubelet":{"labels":{"A":"0","a":"1","a/b":"3","b":"2"}}}`},
		{"lists keep their order", func(c *nodeconfig.NodeConfig) { c.Network.Nameservers = []string{"b", "a"} }, `{"network":{"nameservers":["b","a"]}}`},
		{"empty lists and maps say nothing", func(c *nodeconfig.NodeConfig) {
			c.Network.Nameservers, c.Kubelet.Labels, c.Kubelet.Config = []string{}, map[string]string{}, map[string]any{}
		}, `{}`},
		{"elements count though empty", func(c *nodeconfig.NodeConfig) {
			c.Network.Nameservers, c.Kubelet.Labels = []string{""}, map[string]string{"a": ""}
			c.Kubelet.Taints = []nodeconfig.Taint{{}}
			c.System.Environment = map[string]map[string]nodeconfig.Secret{"a": nil}
			c.Join.Attested = &nodeconfig.AttestedBootstrap{Timeouts: map[string]nodeconfig.Duration{"nonce": 0}}
		}, `{"join":{"attested":{"timeouts":{"nonce":"0s"}}},"kubelet":{"labels":{"a":""},"taints":[{}]},"network":{"nameservers":[""]},"system":{"environment":{"a":{}}}}`},
		{"a pointer counts though false", func(c *nodeconfig.NodeConfig) {
			c.Components.Preinstalled = &no
			c.Cloud.Azure = &nodeconfig.Azure{LoadBalancer: nodeconfig.AzureLoadBalancer{MaxRules: &zero}}
			c.Join.Exec = &nodeconfig.ExecCredential{}
		}, `{"cloud":{"azure":{"loadBalancer":{"maxRules":0}}},"components":{"preinstalled":false},"join":{"exec":{}}}`},
		{"a value that is false says nothing", func(c *nodeconfig.NodeConfig) { c.Network.HostsAgent = no }, `{}`},
		{"secrets are revealed", func(c *nodeconfig.NodeConfig) { c.Join.BootstrapToken = nodeconfig.NewSecret("x") }, `{"join":{"bootstrapToken":"x"}}`},
		{"durations are text", func(c *nodeconfig.NodeConfig) { c.Checks.Timeout = 90_000_000_000 }, `{"checks":{"timeout":"1m30s"}}`},
		{"only what JSON needs is escaped", func(c *nodeconfig.NodeConfig) { c.Metadata.Name = "\"\\\n\r\t\x01<é>\u2028" }, "{\"metadata\":{\"name\":\"\\\"\\\\\\n\\r\\t\\u0001<é>\u2028\"}}"},
		{"data of all kinds", func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Config = map[string]any{
				"n": nil, "f": false, "t": true, "i": int64(7), "j": json.Number("1.30"), "z": json.Number("0"), "d": 0.5, "s": "", "l": []any{}, "m": map[string]any{},
				"ls": []string{"b", "a"}, "ms": map[string]string{"b": "", "a": ""}, "nl": []any(nil), "p": &no,
			}
		}, `{"kubelet":{"config":{"d":0.5,"f":false,"i":7,"j":1.30,"l":[],"ls":["b","a"],"m":{},"ms":{"a":"","b":""},"n":null,"nl":[],"p":false,"s":"","t":true,"z":0}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := new(nodeconfig.NodeConfig)
			c.change(config)
			if got := string(nodeconfig.Encode(config)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestCanonicalIsStable encodes one config many times, with new maps each time.
func TestCanonicalIsStable(t *testing.T) {
	t.Parallel()
	config := new(nodeconfig.NodeConfig)
	config.Kubelet = nodeconfig.Kubelet{Labels: make(map[string]string), Config: make(map[string]any)}
	for i := range 10 {
		key := fmt.Sprint("key", i)
		config.Kubelet.Labels[key] = "x"
		config.Kubelet.Config[key] = map[string]any{"b": key, "a": []any{map[string]any{"d": 1.0, "c": nil}}}
	}
	want := nodeconfig.Encode(config)
	if !json.Valid(want) {
		t.Fatalf("not JSON: %s", want)
	}
	for range 10_000 {
		config.Kubelet.Labels = maps.Clone(config.Kubelet.Labels)
		if got := nodeconfig.Encode(config); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// TestDigest: each scalar of the schema changes the digest, each to a different one.
func TestDigest(t *testing.T) {
	seen := map[string]string{nodeconfig.Digest(new(nodeconfig.NodeConfig)): "nothing"}
	for _, l := range new(filler).leaves(configType, "$") {
		digest := nodeconfig.Digest(l.config())
		if other, twice := seen[digest]; twice {
			t.Errorf("%s has the digest of %s", l.path, other)
		}
		seen[digest] = l.path
	}
	if len(seen) < 150 {
		t.Errorf("only %d fields were tried", len(seen))
	}
	if got := nodeconfig.Digest(&nodeconfig.NodeConfig{Kind: "x"}); got != "d8954039f5400e6446be22f214ca42837da7f194dc6262234c659c7cdd6ff891" {
		t.Errorf("got %s for {\"kind\":\"x\"}", got)
	}
}

// TestDigestOfAFullConfig: in a config with every field set, each value that is changed or removed
// changes the digest.
func TestDigestOfAFullConfig(t *testing.T) {
	full := fullConfig()
	want := nodeconfig.Digest(full)
	others := filler{n: 1_000_000}
	for _, l := range others.leaves(configType, "$") {
		changed := *full
		overlay(reflect.ValueOf(&changed).Elem(), l.value)
		if nodeconfig.Digest(&changed) == want {
			t.Errorf("%s: another value has the same digest", l.path)
		}
	}
}

// overlay copies the set field of another struct, at any depth.
func overlay(dst, src reflect.Value) {
	for i := range src.NumField() {
		field := src.Field(i)
		if field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[nodeconfig.Secret]() {
			overlay(dst.Field(i), field)
			continue
		}
		if value := reflect.Indirect(field); value.Kind() == reflect.Bool {
			value.SetBool(!value.Bool()) // a full config has all booleans true
		}
		dst.Field(i).Set(field)
	}
}

// TestRoundTrip: a config's canonical form is a document with the same meaning, also as YAML.
func TestRoundTrip(t *testing.T) {
	configs := map[string]*nodeconfig.NodeConfig{"full": fullConfig()}
	for _, l := range new(filler).leaves(configType, "$") {
		configs[l.path] = l.config()
	}
	for name, config := range configs {
		form := nodeconfig.Encode(config)
		for _, doc := range [][]byte{form, asYAML(t, form)} {
			got, problems := decode(doc)
			if len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
			if !reflect.DeepEqual(got, config) {
				t.Errorf("%s: got\n%s\nwant\n%s\nfrom\n%s", name, nodeconfig.Encode(got), form, doc)
			}
		}
	}
}

// asYAML writes JSON in the YAML style of a person: in blocks, with quotes only if needed.
func asYAML(t *testing.T, form []byte) []byte {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal(form, &n); err != nil {
		t.Fatal(err)
	}
	var plain func(*yaml.Node)
	plain = func(n *yaml.Node) {
		n.Style = 0
		for _, c := range n.Content {
			plain(c)
		}
	}
	plain(&n)
	out, err := yaml.Marshal(&n)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(out, []byte("{")) || !strings.Contains(string(out), ":") {
		t.Fatalf("not in blocks: %s", out)
	}
	return out
}
