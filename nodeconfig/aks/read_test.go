package aks

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// read decodes a document, without translating it, and returns it as the contract's message.
func read(n *document.Node) (message *Config, problems []string) {
	var config aksnodeconfig.Configuration
	document.Decode(n, &config, document.Options{
		Names: aksnodeconfig.FieldNames, Enum: aksnodeconfig.EnumValue,
		Report: func(f document.Fault) { problems = append(problems, f.Path) },
	})
	return asMessage(&config), problems
}

// documents are the examples, those of testdata/valid.yaml, and one with everything set.
func documents(t testing.TB) map[string]*document.Node {
	t.Helper()
	all := map[string]*document.Node{"full": asDocument(t, fullMessage())}
	files, err := filepath.Glob("../../examples/aks/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = contracts.Parse(t, file)
	}
	valid := contracts.Parse(t, "testdata/valid.yaml")
	for i := range valid.Fields {
		all[valid.Fields[i].Name] = &valid.Fields[i].Value
	}
	return all
}

var spellings = map[string]func(protoreflect.FieldDescriptor) string{
	"proto names": func(field protoreflect.FieldDescriptor) string { return string(field.Name()) },
	"JSON names":  protoreflect.FieldDescriptor.JSONName,
}

// TestReadAsProtobufDoes: a document that protobuf's own reader accepts is read with the same result, in either spelling, and gives
// the same translation with the same problems.
func TestReadAsProtobufDoes(t *testing.T) {
	for name, n := range documents(t) {
		var forms, problems []string
		for style, spell := range spellings {
			doc := respelled(n, contract, spell)
			want := new(Config)
			if err := protojson.Unmarshal(doc.AppendJSON(nil), want); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, reported := read(doc)
			if len(reported) > 0 || !proto.Equal(got, want) {
				t.Errorf("%s by %s: got\n%v\nwant\n%v\nproblems %q", name, style, got, want, reported)
			}
			result := FromTree(doc)
			forms = append(forms, string(nodeconfig.Encode(result.NodeConfig)))
			problems = append(problems, contracts.List(result.Problems))
		}
		if forms[0] != forms[1] || problems[0] != problems[1] {
			t.Errorf("%s: depends on the spelling:\n%s\n%s\n%s\n%s", name, forms[0], forms[1], problems[0], problems[1])
		}
	}
}

// TestEveryFieldIsTried: the document with everything set has all fields of the contract.
func TestEveryFieldIsTried(t *testing.T) {
	full, tried := asDocument(t, fullMessage()), make(map[protoreflect.FullName]bool)
	present := make(map[string]bool)
	contracts.Walk(full, func(path string, _ *document.Node) { present[madeKey.ReplaceAllString(path, ".k$1")] = true })
	each(contract, "$", func(path string, field protoreflect.FieldDescriptor) {
		tried[field.FullName()] = true
		if !present[path] {
			t.Errorf("%s is not set", path)
		}
	})
	if len(tried) != 258 {
		t.Errorf("%d fields are tried, want 258", len(tried))
	}
}

// vitalFields are those without which no node, or another one, would be made: an unreadable value in one of them is an error.
var vitalFields = []string{
	"$.bootstrap_profile_container_registry_server", "$.service_account_image_pull_profile",
	"$.version", "$.kubernetes_version", "$.kubernetes_ca_cert", "$.api_server_config.api_server_name",
	"$.bootstrapping_config.tls_bootstrapping_token", "$.bootstrapping_config.bootstrapping_auth_method",
	"$.pre_provision_only", "$.cse_timeout", "$.custom_cloud_config.custom_env_json_content",
	"$.kubelet_config.kubelet_flags", "$.kubelet_config.kubelet_node_labels", "$.kubelet_config.enable_kubelet_config_file",
	"$.kubelet_config.kubelet_config_file_config", "$.kubelet_config.kubelet_client_key",
	"$.kubelet_config.kubelet_client_cert_content", "$.kubelet_config.container_data_dir",
	"$.bootstrapping_config.secure_tls_bootstrapping_aad_resource", "$.bootstrapping_config.secure_tls_bootstrapping_user_assigned_identity_id",
	"$.enable_ssh", "$.disable_pubkey_auth", "$.imds_restriction_config",
	"$.bootstrapping_config.secure_tls_bootstrapping_validate_kubeconfig_timeout", "$.bootstrapping_config.secure_tls_bootstrapping_get_access_token_timeout",
	"$.bootstrapping_config.secure_tls_bootstrapping_get_instance_data_timeout", "$.bootstrapping_config.secure_tls_bootstrapping_get_nonce_timeout",
	"$.bootstrapping_config.secure_tls_bootstrapping_get_attested_data_timeout", "$.bootstrapping_config.secure_tls_bootstrapping_get_credential_timeout",
}

// TestWrongTypes puts a value of every wrong kind into every field, one at a time: only that value is lost, one more problem names
// its path, and all other values remain.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	full := asDocument(t, fullMessage())
	fatal := func(path string) bool {
		return slices.ContainsFunc(vitalFields, func(field string) bool {
			return path == field || strings.HasPrefix(path, field+".") || strings.HasPrefix(path, field+"[") || strings.HasPrefix(field, path+".")
		})
	}
	literals := []*document.Node{
		{Kind: document.Bool, Text: "true"},
		{Kind: document.Number, Text: "31415926.5"},
		{Kind: document.String, Text: "hunter2"},
		{Kind: document.List, Items: []document.Node{{Kind: document.String, Text: "hunter2"}}},
		{Kind: document.Map, Fields: []document.Field{{Name: "hunter2", Value: document.Node{Kind: document.Null}}}},
	}
	contracts.Walk(full, func(path string, n *document.Node) {
		without := contracts.Replace(full, path, nil)
		want := new(Config)
		if err := protojson.Unmarshal(without.AppendJSON(nil), want); err != nil {
			t.Fatal(err)
		}
		var doc *document.Node
		for _, literal := range literals {
			if literal.Kind == n.Kind {
				continue
			}
			doc = contracts.Replace(full, path, literal)
			if got, problems := read(doc); !proto.Equal(got, want) || !slices.Equal(problems, []string{path}) {
				t.Errorf("%s as %s: got\n%v\nwant\n%v\nproblems %q", path, literal.Kind, got, want, problems)
			}
		}
		got, missing := FromTree(doc), FromTree(without)
		if got, want := nodeconfig.Encode(got.NodeConfig), nodeconfig.Encode(missing.NodeConfig); string(got) != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
		}
		contracts.Compare(t, got.Problems, append([]nodeconfig.Problem{{Path: path, Fatal: fatal(path)}}, missing.Problems...))
		if report := contracts.List(got.Problems); strings.Contains(report, "hunter2") {
			t.Errorf("%s: a problem repeats the value:\n%s", path, report)
		}
	})
}

// TestUnknownFields puts an unknown field into every message, at every depth: there is one more problem, and nothing else changes.
func TestUnknownFields(t *testing.T) {
	full := asDocument(t, fullMessage())
	before := FromTree(full)
	unknown := document.Field{Name: "x-y", Value: document.Node{Kind: document.List}}
	try := func(path string, n *document.Node) {
		changed := *n
		changed.Fields = append(slices.Clip(n.Fields), unknown)
		doc := &changed
		if path != "$" {
			doc = contracts.Replace(full, path, &changed)
		}
		got := FromTree(doc)
		contracts.Compare(t, got.Problems, append([]nodeconfig.Problem{{Path: path + `["x-y"]`, Reason: "unknown field, ignored"}}, before.Problems...))
		if a, b := nodeconfig.Encode(got.NodeConfig), nodeconfig.Encode(before.NodeConfig); string(a) != string(b) {
			t.Errorf("%s: got\n%s\nwant\n%s", path, a, b)
		}
	}
	try("$", full)
	tried := 0
	contracts.Walk(full, func(path string, n *document.Node) {
		if n.Kind == document.Map && !madeKey.MatchString("."+n.Fields[0].Name) {
			try(path, n)
			tried++
		}
	})
	if tried < 30 {
		t.Errorf("only %d messages were tried", tried)
	}
}
