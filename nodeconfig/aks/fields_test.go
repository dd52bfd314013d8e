package aks

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// silent are the fields that are translated and change nothing by themselves.
var silent = map[string]string{
	"version": "the result is a NodeConfig of one version, whichever this is",
	"bootstrapping_config.bootstrapping_auth_method": "the credential that is given decides; what cannot be done is warned of",
}

// bases are the documents on which fields act that act together with others, by the beginning of
// their names.
var bases = []struct{ field, document string }{
	{"custom_cloud_config.custom_cloud_env_name", `{"version":"v1"}`},
	{"custom_cloud_config.", `{"version":"v1","custom_cloud_config":{"custom_cloud_env_name":"akscustom"}}`},
	{"kubelet_config.kubelet_config_file_config", `{"version":"v1","kubelet_config":{"enable_kubelet_config_file":true}}`},
	{"kubelet_config.enable_kubelet_config_file", `{"version":"v1","kubelet_config":{"kubelet_config_file_config":{"max_pods":30}}}`},
	{"", `{"version":"v1"}`},
}

// values are those of fields that take only some, or whose default is what a filler would set.
var values = map[string]string{
	"version":                              `"v0"`,
	"is_vhd":                               `false`,
	"cse_timeout":                          `100`,
	"auth_config.service_principal_secret": `"c2VjcmV0"`,
	"custom_cloud_config.custom_cloud_env_name":                         `"AKSCustom"`,
	"custom_linux_os_config.sysctl_config.net_ipv4_ip_local_port_range": `"1024 2048"`,
}

// TestTranslatedFields sets each field alone. A field that is listed as translated changes the
// result, at the place that is listed, without a warning; any other changes nothing, and one warning
// names it.
func TestTranslatedFields(t *testing.T) {
	each(contract, "$", func(path string, field protoreflect.FieldDescriptor) {
		name := strings.TrimPrefix(path, "$.")
		if field.Message() != nil && !field.IsMap() && !field.IsList() || strings.Contains(name, ".k.") {
			return // its fields are tried; a map's values are part of the map
		}
		i := slices.IndexFunc(bases, func(b struct{ field, document string }) bool { return strings.HasPrefix(name, b.field) })
		base := parse(t, bases[i].document)
		changed := contracts.Merge(base, nest(name, sample(t, name, field)))
		before, after := FromTree(base), FromTree(changed)
		differences := differ(t, before.NodeConfig, after.NodeConfig)
		warnings := after.Problems[min(len(before.Problems), len(after.Problems)):]

		to := target(name)
		switch {
		case silent[name] != "":
			if len(differences) > 0 {
				t.Errorf("%s is listed as silent, and changes %q", name, differences)
			}
		case to == "":
			contracts.Compare(t, warnings, []nodeconfig.Problem{{Path: path}})
			if len(differences) > 0 {
				t.Errorf("%s is not listed as translated, and changes %q", name, differences)
			}
			if says := warnings[0].Kind == nodeconfig.NoEffect; says != inert[name] {
				t.Errorf("%s is inert: %v; its warning is %s %q", name, inert[name], warnings[0].Kind, warnings[0].Reason)
			}
		default:
			contracts.Compare(t, warnings, nil)
			if len(differences) == 0 {
				t.Errorf("%s is listed as translated, and changes nothing", name)
			}
			for _, difference := range differences {
				if !strings.HasPrefix(difference, to) {
					t.Errorf("%s changes %s, want %s", name, difference, to)
				}
			}
		}
	})
}

// target is the place that a field, or a message that it is in, is listed to be translated to.
func target(name string) string {
	for {
		if to, ok := translated[name]; ok {
			return to
		}
		cut := strings.LastIndexByte(name, '.')
		if cut < 0 {
			return ""
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

// differ lists the paths of the scalars in which two configs differ.
func differ(t *testing.T, a, b *nodeconfig.NodeConfig) []string {
	t.Helper()
	texts := make([]map[string]string, 2)
	for i, config := range []*nodeconfig.NodeConfig{a, b} {
		texts[i] = make(map[string]string)
		contracts.Walk(parse(t, string(nodeconfig.Encode(config))), func(path string, n *document.Node) {
			if n.Kind != document.List && n.Kind != document.Map {
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
	return slices.Sorted(maps.Keys(paths))
}

// TestListsOfFields: what the lists name is there, in the contract and in NodeConfig.
func TestListsOfFields(t *testing.T) {
	known := make(map[string]bool)
	each(contract, "$", func(path string, _ protoreflect.FieldDescriptor) { known[strings.TrimPrefix(path, "$.")] = true })
	for _, list := range [][]string{
		slices.Sorted(maps.Keys(translated)), slices.Sorted(maps.Keys(inert)), slices.Sorted(maps.Keys(silent)),
		slices.Sorted(maps.Keys(values)),
	} {
		for _, name := range list {
			if !known[name] {
				t.Errorf("%s is no field of the contract", name)
			}
		}
	}
	for name := range inert {
		if target(name) != "" {
			t.Errorf("%s is listed as inert and as translated", name)
		}
	}
	for name, to := range translated {
		v := reflect.TypeFor[nodeconfig.NodeConfig]()
		for element := range strings.SplitSeq(strings.TrimPrefix(to, "$."), ".") {
			if v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			field, ok := v.FieldByNameFunc(func(field string) bool {
				f, _ := v.FieldByName(field)
				return slices.Contains(document.JSONNames(f), element)
			})
			if !ok {
				t.Fatalf("%s is translated to %s, where there is no %s", name, to, element)
			}
			v = field.Type
		}
	}
	fields := (*Config)(nil).GetCustomLinuxOsConfig().GetSysctlConfig().ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if name := string(fields.Get(i).Name()); sysctlNames[name] == "" {
			t.Errorf("%s has no kernel parameter", name)
		}
	}
	if len(sysctlNames) != fields.Len() || fields.Len() != 28 {
		t.Errorf("%d kernel parameters for %d fields", len(sysctlNames), fields.Len())
	}
}
