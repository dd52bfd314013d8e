package aks

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// bases are the documents for fields that have an effect only together with others, by the prefix of the fields' names.
var bases = []struct{ field, document string }{
	{"custom_cloud_config.custom_cloud_env_name", `{"version":"v1"}`},
	{"custom_cloud_config.", `{"version":"v1","custom_cloud_config":{"custom_cloud_env_name":"akscustom"}}`},
	{"kubelet_config.kubelet_config_file_config", `{"version":"v1","kubelet_config":{"enable_kubelet_config_file":true}}`},
	{"kubelet_config.enable_kubelet_config_file", `{"version":"v1","kubelet_config":{"kubelet_config_file_config":{"max_pods":30}}}`},
	{"bootstrapping_config.secure_tls_bootstrapping_custom", `{"version":"v1"}`},
	{"bootstrapping_config.secure_tls", `{"version":"v1","bootstrapping_config":{"bootstrapping_auth_method":2}}`},
	{"custom_search_domain_config.", `{"version":"v1","custom_search_domain_config":{"domain_name":"a","realm_user":"b","realm_password":"c"}}`},
	{"custom_linux_os_config.enable_swap_config", `{"version":"v1","custom_linux_os_config":{"swap_file_size":7}}`},
	{"custom_linux_os_config.swap_file_size", `{"version":"v1","custom_linux_os_config":{"enable_swap_config":true}}`},
	{"imds_restriction_config.insert", `{"version":"v1","imds_restriction_config":{"enable_imds_restriction":true}}`},
	{"local_dns_profile.enable_local_dns", `{"version":"v1"}`},
	{"local_dns_profile.enable_hosts_plugin", `{"version":"v1","local_dns_profile":{"enable_local_dns":true}}`},
	{"local_dns_profile.", `{"version":"v1","local_dns_profile":{"enable_local_dns":true,"enable_hosts_plugin":true}}`},
	{"service_account_image_pull_profile.enabled", `{"version":"v1",` + bothFlags + `,"service_account_image_pull_profile":{"local_authority_sni":"a"}}`},
	{"service_account_image_pull_profile.", `{"version":"v1",` + bothFlags + `,"service_account_image_pull_profile":{"enabled":true,"local_authority_sni":"a"}}`},
	{"", `{"version":"v1"}`},
}

// bothFlags ask for a credential provider.
const bothFlags = `"kubelet_config":{"kubelet_flags":{"--image-credential-provider-bin-dir":"/b","--image-credential-provider-config":"/c"}}`

// values are those of fields that are enumerations, or whose default is what a filler would set.
var values = map[string]string{
	"version":                              `"v0"`,
	"is_vhd":                               `false`,
	"cse_timeout":                          `100`,
	"message_of_the_day":                   `"aGVsbG8="`,
	"auth_config.service_principal_secret": `"c2VjcmV0"`,
	"bootstrapping_config.bootstrapping_auth_method":                            `2`,
	"bootstrapping_config.secure_tls_bootstrapping_custom_client_download_url":  `"https://x.example/c"`,
	"bootstrapping_config.secure_tls_bootstrapping_validate_kubeconfig_timeout": `"10s"`,
	"bootstrapping_config.secure_tls_bootstrapping_get_access_token_timeout":    `"10s"`,
	"bootstrapping_config.secure_tls_bootstrapping_get_instance_data_timeout":   `"10s"`,
	"bootstrapping_config.secure_tls_bootstrapping_get_nonce_timeout":           `"10s"`,
	"bootstrapping_config.secure_tls_bootstrapping_get_attested_data_timeout":   `"10s"`,
	"bootstrapping_config.secure_tls_bootstrapping_get_credential_timeout":      `"10s"`,
	"containerd_config.containerd_package_url":                                  `"https://x.example/c"`,
	"custom_cloud_config.custom_cloud_env_name":                                 `"AKSCustom"`,
	"custom_linux_os_config.sysctl_config.net_ipv4_ip_local_port_range":         `"1024 2048"`,
	"kube_binary_config.custom_kube_binary_url":                                 `"https://x.example/c"`,
	"kube_binary_config.kube_binary_url":                                        `"https://x.example/c"`,
	"kube_binary_config.linux_credential_provider_url":                          `"https://x.example/c"`,
	"kube_binary_config.private_kube_binary_url":                                `"https://x.example/c"`,
	"local_dns_profile.kube_dns_overrides":                                      `{"a":{"health_check":{"duration":"10s"}}}`,
	"local_dns_profile.vnet_dns_overrides":                                      `{"a":{"health_check":{"duration":"10s"}}}`,
	"network_config.vnet_cni_plugins_url":                                       `"https://x.example/c"`,
	"runc_config.runc_package_url":                                              `"https://x.example/c"`,
}

// elsewhere are the paths whose values come from another field than the one that creates them: a file's content comes from the
// file's settings, and not from the switch that asks for the file. A custom cloud exists by its name, without settings. An argument
// of the credential provider follows others.
var elsewhere = []string{"$.kubelet.config.maxPods", `$.system.sysctls["net.ipv4.ip_local_reserved_ports"]`, "$.cloud.azure.custom",
	providerPath + ".args[1]", providerPath + ".args[2]", providerPath + ".args[3]"}

// TestFields sets each field alone. A field with a path in NodeConfig changes the result there, without a warning. Any other field
// changes nothing, and one warning names it. The version is an exception: the result is the same for every version.
func TestFields(t *testing.T) {
	each(contract, "$", func(path string, field protoreflect.FieldDescriptor) {
		name := strings.TrimPrefix(path, "$.")
		if field.Message() != nil && !field.IsMap() && !field.IsList() || strings.Contains(name, ".k.") {
			return // its fields are tried; a map's values are part of the map
		}
		i := slices.IndexFunc(bases, func(b struct{ field, document string }) bool { return strings.HasPrefix(name, b.field) })
		base := parse(t, bases[i].document)
		changed := contracts.Merge(base, nest(name, sample(t, name, field)))
		before, after := FromTree(base), FromTree(changed)
		differences := slices.DeleteFunc(differ(t, before.NodeConfig, after.NodeConfig), func(d string) bool {
			return document.Within(d, "$.components.scriptVariables") // testdata/translate/scripts.yaml
		})
		warnings := after.Problems[min(len(before.Problems), len(after.Problems)):]

		r := rowOf(name)
		switch {
		case r == nil:
			t.Errorf("%s has no row in the table", name)
		case name == "version":
			if len(differences) > 0 || len(warnings) != 1 {
				t.Errorf("%s changes %q: %v", name, differences, warnings)
			}
		case len(r.to) == 0:
			want := []nodeconfig.Problem{{Path: path, Kind: r.kind, Reason: r.why}}
			if r.under != "" || r.quiet(after.config) { // there is no warning for it
				want = nil
			}
			contracts.Compare(t, warnings, want)
			if len(differences) > 0 {
				t.Errorf("%s has no place, and changes %q", name, differences)
			}
		default:
			contracts.Compare(t, warnings, nil)
			for _, to := range r.to {
				if !slices.ContainsFunc(differences, func(d string) bool { return document.Within(d, to) }) {
					t.Errorf("%s goes to %s, and changes %q", name, to, differences)
				}
				if r.quiet(after.config) {
					if from := after.Origins(to); slices.Contains(from, path) {
						t.Errorf("%s has the origin %q, and needs no warning", to, from)
					}
					continue
				}
				if !slices.Contains(after.Origins(to), path) && !slices.Contains(after.Origins(to), "$."+r.field) {
					t.Errorf("%s comes from %q, and not from %s", to, after.Origins(to), path)
				}
			}
			for _, d := range differences {
				if !slices.ContainsFunc(r.to, func(to string) bool { return document.Within(d, to) }) && !slices.Contains(elsewhere, d) {
					t.Errorf("%s changes %s, want %s", name, d, r.to)
				}
				from := append(after.Origins(d), after.Origin(d))
				if !slices.ContainsFunc(from, func(from string) bool { return document.Within(from, path) }) && !slices.Contains(elsewhere, d) {
					t.Errorf("%s comes from %q, and not from %s", d, from, path)
				}
			}
		}
	})
}

// rowOf is the row of a field, or of a message that contains it.
func rowOf(name string) *row {
	for {
		if r, ok := indexed().rows[name]; ok {
			return r
		}
		cut := strings.LastIndexByte(name, '.')
		if cut < 0 {
			return nil
		}
		name = name[:cut]
	}
}

func parse(t *testing.T, doc string) *document.Node {
	t.Helper()
	n, err := document.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sample is a value for a field.
func sample(t *testing.T, name string, field protoreflect.FieldDescriptor) *document.Node {
	t.Helper()
	if value, ok := values[name]; ok {
		return &parse(t, `{"x":`+value+`}`).Fields[0].Value
	}
	config := new(Config)
	(&filler{n: 100}).fill(config.ProtoReflect())
	n := asDocument(t, config)
	for element := range strings.SplitSeq(name, ".") {
		var ok bool
		if n, ok = n.Get(element); !ok {
			t.Fatalf("%s is not set", name)
		}
	}
	return n
}

// nest is a document with one field.
func nest(name string, value *document.Node) *document.Node {
	first, rest, more := strings.Cut(name, ".")
	if more {
		value = nest(rest, value)
	}
	return &document.Node{Kind: document.Map, Fields: []document.Field{{Name: first, Value: *value}}}
}

// differ lists the paths of the scalars, and of the empty values, in which two configs differ.
func differ(t *testing.T, a, b *nodeconfig.NodeConfig) []string {
	t.Helper()
	texts := make([]map[string]string, 2)
	for i, config := range []*nodeconfig.NodeConfig{a, b} {
		texts[i] = make(map[string]string)
		contracts.Walk(parse(t, string(nodeconfig.Encode(config))), func(path string, n *document.Node) {
			if len(n.Items)+len(n.Fields) == 0 {
				texts[i][path] = string(n.AppendJSON(nil))
			}
		})
	}
	paths := make(map[string]bool)
	for i, text := range texts {
		for path, value := range text {
			if other, ok := texts[1-i][path]; !ok || other != value {
				paths[path] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(paths)), func(path string) bool { // without those that were empty before
		for below := range paths {
			if below != path && document.Within(below, path) {
				return true
			}
		}
		return false
	})
}

// TestTable: the table names existing paths, in the contract and in NodeConfig, each field once. A field without a path has a
// reason, and no other field has one.
func TestTable(t *testing.T) {
	known := make(map[string]bool)
	each(contract, "$", func(path string, _ protoreflect.FieldDescriptor) { known[strings.TrimPrefix(path, "$.")] = true })
	for _, name := range slices.Collect(maps.Keys(values)) {
		if !known[name] {
			t.Errorf("%s is no field of the contract", name)
		}
	}
	if len(indexed().rows) != len(fields) {
		t.Error("a field has two rows")
	}
	for _, r := range fields {
		if !known[r.field] {
			t.Errorf("%s is no field of the contract", r.field)
		}
		if on := indexed().rows[r.under]; r.under != "" && (on == nil || on.under != "") {
			t.Errorf("%s is under %s, which has no warning", r.field, r.under)
		}
		if none := len(r.to) == 0; none == (r.why == "") || none != (r.kind == nodeconfig.NoEffect || r.kind == nodeconfig.NotApplied) {
			t.Errorf("%s goes to %q, and the reason why it goes nowhere is %s %q", r.field, r.to, r.kind, r.why)
		}
		for _, to := range r.to {
			if !hasPlace(reflect.TypeFor[nodeconfig.NodeConfig](), to) {
				t.Errorf("%s goes to %s, which is not there", r.field, to)
			}
		}
	}
	parameters := reflect.TypeFor[aksnodeconfig.SysctlConfig]()
	for i := range parameters.NumField() {
		if name := aksnodeconfig.FieldNames(parameters.Field(i))[0]; sysctlNames[name] == "" {
			t.Errorf("%s has no kernel parameter", name)
		}
	}
	if len(sysctlNames) != parameters.NumField() || len(sysctlNames) != 28 {
		t.Errorf("%d kernel parameters for %d fields", len(sysctlNames), parameters.NumField())
	}
}

// hasPlace reports whether a type has a path, which may be an entry of a map.
func hasPlace(v reflect.Type, path string) bool {
	if path == "$" {
		return true
	}
	above, name := document.CutPath(path)
	if !hasPlace(v, above) {
		return false
	}
	if v = typeAt(v, above); v.Kind() == reflect.Map {
		return true
	}
	_, ok := fieldNamed(v, name)
	return ok
}

// typeAt is the type at a path.
func typeAt(v reflect.Type, path string) reflect.Type {
	if path == "$" {
		return v
	}
	above, name := document.CutPath(path)
	v = typeAt(v, above)
	if v.Kind() == reflect.Map {
		return v.Elem()
	}
	field, _ := fieldNamed(v, name)
	if field.Type.Kind() == reflect.Pointer {
		return field.Type.Elem()
	}
	return field.Type
}

func fieldNamed(v reflect.Type, name string) (reflect.StructField, bool) {
	return v.FieldByNameFunc(func(field string) bool {
		f, _ := v.FieldByName(field)
		return slices.Contains(document.JSONNames(f), name)
	})
}

// A setting of the kubelet's file that the contract does not set has the path that would set it.
func TestOriginOfUnsetSetting(t *testing.T) {
	r := translate(new(aksnodeconfig.Configuration))
	for setting, want := range map[string]string{
		"clusterDNS":                         "cluster_dns",
		"authentication.x509.clientCAFile":   "authentication.x509.client_ca_file",
		"evictionHard[\"memory.available\"]": "eviction_hard[\"memory.available\"]",
		"failSwapOn":                         "fail_swap_on",
		"noSuchSetting":                      "noSuchSetting",
	} {
		if got := r.Origin("$.kubelet.config." + setting); got != configPath+"."+want {
			t.Errorf("%s: got %s", setting, got)
		}
	}
}
