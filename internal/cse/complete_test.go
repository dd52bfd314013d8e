package cse_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

// changes reports whether two documents give different variables.
func changes(t testing.TB, dialectName string, a, b *document.Node) bool {
	t.Helper()
	made := func(n *document.Node) []cse.Variable {
		c := compile.Read([]compile.Document{{Name: "contract", Data: n.AppendJSON(nil)}}, dialectName)
		variables, _ := cse.Variables(c, facts.Facts{})
		return variables
	}
	return !reflect.DeepEqual(made(a), made(b))
}

func parse(t testing.TB, text string) *document.Node {
	t.Helper()
	n, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// words are values of enumerations, by the ends of their paths.
var words = map[string]string{
	"$.system.gpu.vendor":                 "nvidia",
	"$.kubelet.dataDisk":                  "Temporary",
	"$.runtime.lazyPull":                  "overlaybd",
	"$.runtime.sandboxes[0]":              "kata",
	"$.runtime.cgroupDriver":              "systemd",
	"$.network.metadataRestriction.table": "mangle",
	"$.join.method":                       "None",
	"$.network.ipFamilies[0]":             "IPv6",
}

// unused are the settings of a NodeConfig that neither a variable nor a resource uses, with the reason.
var unused = map[string]string{
	"$.kubelet.maxPodsExpression":              "EKS's; not applied by this version",
	"$.system.localStorage":                    "EKS's; not applied by this version",
	"$.cloud.aws":                              "EKS's; not applied by this version",
	"$.network.nameservers":                    "not applied by this version; AKS's images take those of the network",
	"$.network.searchDomains":                  "not applied by this version; AKS's scripts join the domain of access.realm",
	"$.components.artifacts.kubernetes.sha256": "not applied by this version; AKS's scripts check none",
}

// Each setting of a NodeConfig changes a variable, or a concern of the planner reads it, or a table has the reason why not. So a
// new setting cannot be forgotten for images whose scripts make the node.
func TestEverySettingIsKnown(t *testing.T) {
	base := parse(t, `{"apiVersion":"slipway.dev/v1","kind":"NodeConfig","components":{"layout":"aks"}}`)
	known := 0
	leaves(reflect.TypeFor[nodeconfig.NodeConfig](), "$", func(path string, value *document.Node) {
		if _, ok := dialect.ReaderOf(dialect.Native, path); ok || len(plan.ReadBy(path)) > 0 {
			known++
			return
		}
		if changes(t, dialect.Native, base, contracts.Merge(base, nested(path, value))) {
			known++
			return
		}
		for name := range unused {
			if document.Within(path, name) {
				return
			}
		}
		t.Errorf("%s is known to no variable and to no resource", path)
	})
	if known < 150 {
		t.Errorf("only %d settings are known", known)
	}
}

// leaves calls fn for each setting within a type, with a value that is not empty.
func leaves(in reflect.Type, path string, fn func(path string, value *document.Node)) {
	if word, ok := words[path]; ok {
		fn(path, text(word))
		return
	}
	switch in {
	case reflect.TypeFor[nodeconfig.Secret]():
		fn(path, text("text"))
		return
	case reflect.TypeFor[nodeconfig.Duration]():
		fn(path, text("91s"))
		return
	}
	switch in.Kind() {
	case reflect.Pointer:
		if in.Elem().Kind() == reflect.Bool && path != "$.system.unattendedUpgrades" {
			fn(path, &document.Node{Kind: document.Bool, Text: "false"})
			return
		}
		leaves(in.Elem(), path, fn)
	case reflect.Slice:
		leaves(in.Elem(), document.IndexPath(path, 0), fn)
	case reflect.Map:
		key := "a"
		if path == "$.components.artifacts" {
			key = "kubernetes"
		}
		leaves(in.Elem(), document.FieldPath(path, key), fn)
	case reflect.Struct:
		for i := range in.NumField() {
			leaves(in.Field(i).Type, document.FieldPath(path, document.JSONNames(in.Field(i))[0]), fn)
		}
	case reflect.Bool:
		fn(path, &document.Node{Kind: document.Bool, Text: "true"})
	case reflect.Int32, reflect.Int64, reflect.Float64:
		fn(path, &document.Node{Kind: document.Number, Text: "3"})
	default:
		fn(path, text("text"))
	}
}

func text(s string) *document.Node { return &document.Node{Kind: document.String, Text: s} }

// nested is a document with a value at a path.
func nested(path string, value *document.Node) *document.Node {
	for path != "$" {
		above, name := document.CutPath(path)
		if name == "" {
			value = &document.Node{Kind: document.List, Items: []document.Node{*value}}
		} else {
			value = &document.Node{Kind: document.Map, Fields: []document.Field{{Name: name, Value: *value}}}
		}
		path = above
	}
	return value
}

// unread are the fields of AKS's contract that AKS's own program passes to the scripts in no variable (AKS node contract, field
// tables).
var unread = []string{
	"version", "disable_custom_data", "provision_output", "workload_runtime", "enabled_features", "bootstrapping_config.cluster_join_method",
	"gpu_config.enable_amd_gpu", "network_config.cni_plugins_url",
}

// switches are the settings that a field depends on.
var switches = map[string]string{
	"cluster_config.cluster_network_config.core_dns_service_ip": `{"local_dns_profile":{"enable_local_dns":true,"kube_dns_overrides":{"cluster.local":{}}}}`,
	"local_dns_profile":                         `{"local_dns_profile":{"enable_local_dns":true}}`,
	"custom_linux_os_config":                    `{"custom_linux_os_config":{"enable_swap_config":true,"ulimit_config":{}}}`,
	"local_dns_profile.enable_local_dns":        `{}`,
	"custom_linux_os_config.enable_swap_config": `{"custom_linux_os_config":{"swap_file_size":3}}`,
	"custom_cloud_config":                       `{"custom_cloud_config":{"custom_cloud_env_name":"akscustom"}}`,
	"custom_cloud_config.custom_cloud_env_name": `{}`,
}

// samples are values of enumerations and other restricted fields of AKS's contract.
var samples = map[string]string{
	"custom_cloud_config.custom_cloud_env_name":      `"akscustom"`,
	"bootstrapping_config.bootstrapping_auth_method": `"BOOTSTRAPPING_AUTH_METHOD_SECURE_TLS_BOOTSTRAPPING"`,
	"is_vhd":     "false",
	"enable_ssh": "false",
	"cluster_config.load_balancer_config.exclude_master_from_standard_load_balancer": "false",
	"cluster_config.cloud_provider_config.backoff":                                   "false",
	"cluster_config.cloud_provider_config.rate_limit":                                "false",
	"kubelet_config.kubelet_disk_type":                                               `"KUBELET_DISK_TEMP_DISK"`,
	"vm_size":                                                                        `"Standard_DC2s"`,
	"local_dns_profile.vnet_dns_overrides":                                           `{"a":{}}`,
	"local_dns_profile.kube_dns_overrides":                                           `{"a":{}}`,
}

// Each field of AKS's contract changes a variable, except those that AKS's own program does not read.
func TestEveryFieldOfAKS(t *testing.T) {
	tried := 0
	each(reflect.TypeFor[aksnodeconfig.Configuration](), "", func(name, value string) {
		if given, ok := samples[name]; ok {
			value = given
		}
		base := parse(t, `{"version":"v1"}`)
		longest := ""
		for prefix := range switches {
			if (name == prefix || strings.HasPrefix(name, prefix+".")) && len(prefix) > len(longest) {
				longest = prefix
			}
		}
		if longest != "" {
			base = contracts.Merge(base, parse(t, switches[longest]))
		}
		changed := contracts.Merge(base, nested("$."+name, valueOf(t, value)))
		if does, should := changes(t, dialect.AKS, base, changed), !slices.Contains(unread, name); does != should {
			t.Errorf("%s: %s changes a variable: %t, want %t", name, value, does, should)
		}
		tried++
	})
	if tried < 200 {
		t.Errorf("only %d fields", tried)
	}
}

// valueOf parses a value that is not a document.
func valueOf(t testing.TB, json string) *document.Node {
	t.Helper()
	n, _ := parse(t, `{"x":`+json+`}`).Get("x")
	return n
}

// each calls fn for each field of a message that is not itself a message, with a value of its type.
func each(message reflect.Type, path string, fn func(name, value string)) {
	for i := range message.NumField() {
		own, _ := aksnodeconfig.Names(message.Field(i))
		name, in := strings.TrimPrefix(path+"."+own, "."), message.Field(i).Type
		if in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
		switch {
		case in.Kind() == reflect.Struct:
			each(in, name, fn)
		case in.Kind() == reflect.Map && in.Elem().Kind() == reflect.Bool:
			fn(name, `{"a":true}`)
		case in.Kind() == reflect.Map:
			fn(name, `{"a":"text"}`)
		case in.Kind() == reflect.Slice:
			fn(name, `["text"]`)
		case in.Kind() == reflect.Bool:
			fn(name, "true")
		case in.Kind() == reflect.String:
			fn(name, `"text"`)
		case in.Kind() == reflect.Float64, in == reflect.TypeFor[int32]():
			fn(name, "3")
		default:
			fn(name, "1") // an enumeration's first value
		}
	}
}

// The same contract always gives the same bytes.
func TestSameBytes(t *testing.T) {
	for _, e := range examples(t) {
		var first []byte
		for i := range 100 {
			variables, _ := cse.Variables(e.contract, e.facts)
			script, err := cse.Script(variables)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range variables {
				script = fmt.Appendf(script, "%s\x00%s\x00", v.Name, v.Value)
			}
			if i == 0 {
				first = script
			} else if !bytes.Equal(first, script) {
				t.Fatalf("%s differs at the %d. time", e.name, i)
			}
		}
	}
}
