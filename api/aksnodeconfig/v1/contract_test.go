package aksnodeconfigv1_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
)

// Size of the AKS node contract. A change here is a change of the contract.
const (
	wantMessages = 32
	wantFields   = 257
	wantEnums    = 8
)

// TestFieldsAreThoseOfTheContract compares every field with testdata/fields.tsv, both ways.
func TestFieldsAreThoseOfTheContract(t *testing.T) {
	messages, _ := declared(t)
	if len(messages) != wantMessages {
		t.Errorf("got %d messages, want %d", len(messages), wantMessages)
	}
	got := make(map[string]string)
	for _, message := range messages {
		if n := message.Messages().Len(); n != mapFields(message) {
			t.Errorf("%s declares messages inside itself", message.Name())
		}
		for i := range message.Fields().Len() {
			key, row := fieldRow(message.Fields().Get(i))
			got[key] = row
		}
	}
	if len(got) != wantFields {
		t.Errorf("got %d fields, want %d", len(got), wantFields)
	}

	want := make(map[string]string)
	inTable := make(map[string]bool)
	for _, row := range readTable(t, "testdata/fields.tsv", "message\tnumber\tname\tjson\ttype\tpresence") {
		want[row[0]+"/"+row[1]] = strings.Join(row, " ")
		inTable[row[0]] = true
	}
	if len(want) != wantFields || len(inTable) != wantMessages {
		t.Errorf("table has %d messages and %d fields, want %d and %d", len(inTable), len(want), wantMessages, wantFields)
	}
	compare(t, got, want)
}

// TestEnumsAreThoseOfTheContract compares every enum value with testdata/enums.tsv, both ways.
func TestEnumsAreThoseOfTheContract(t *testing.T) {
	_, enums := declared(t)
	if len(enums) != wantEnums {
		t.Errorf("got %d enums, want %d", len(enums), wantEnums)
	}
	got := make(map[string]string)
	for _, enum := range enums {
		for i := range enum.Values().Len() {
			value := enum.Values().Get(i)
			key := fmt.Sprintf("%s/%d", enum.Name(), value.Number())
			if _, dup := got[key]; dup {
				t.Errorf("%s has two names", key)
			}
			got[key] = fmt.Sprintf("%s %d %s", enum.Name(), value.Number(), value.Name())
		}
	}
	want := make(map[string]string)
	for _, row := range readTable(t, "testdata/enums.tsv", "enum\tnumber\tname") {
		want[row[0]+"/"+row[1]] = strings.Join(row, " ")
	}
	compare(t, got, want)
}

// TestReservedNumbers keeps the numbers of removed fields from coming back.
func TestReservedNumbers(t *testing.T) {
	want := map[protoreflect.Name][]protoreflect.FieldNumber{
		"Configuration":       {10},
		"BootstrappingConfig": {4, 5, 9},
	}
	messages, _ := declared(t)
	for _, message := range messages {
		var got []protoreflect.FieldNumber
		for i := range message.ReservedRanges().Len() {
			r := message.ReservedRanges().Get(i)
			for n := r[0]; n < r[1]; n++ {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, want[message.Name()]) {
			t.Errorf("%s reserves %v, want %v", message.Name(), got, want[message.Name()])
		}
	}
	configuration := (*aksnodeconfigv1.Configuration)(nil).ProtoReflect().Descriptor()
	if !configuration.ReservedNames().Has("teleport_config") {
		t.Error("Configuration does not reserve teleport_config")
	}
}

// TestDocumentIsReadAsAKSReadsIt covers the encoding rules that follow from the descriptors: both
// spellings of a name, numbers as strings, enums by name or number, null, and kubelet's own names.
func TestDocumentIsReadAsAKSReadsIt(t *testing.T) {
	const document = `{
		"version": "v1",
		"clusterConfig": {"vmType": "VM_TYPE_VMSS", "load_balancer_config": {"loadBalancerSku": 2}},
		"gpu_config": null,
		"is_vhd": false,
		"cse_timeout": "1200",
		"kubelet_config": {
			"kubelet_flags": {"--max-pods": "30"},
			"kubelet_config_file_config": {
				"clusterDNS": ["10.0.0.10"], "event_record_qps": 0,
				"authentication": {"x509": {"clientCAFile": "/ca.crt"}, "webhook": {"cacheTtl": "2m"}}
			}
		}
	}`
	want := &aksnodeconfigv1.Configuration{
		Version: "v1",
		ClusterConfig: &aksnodeconfigv1.ClusterConfig{
			VmType: aksnodeconfigv1.VmType_VM_TYPE_VMSS,
			LoadBalancerConfig: &aksnodeconfigv1.LoadBalancerConfig{
				LoadBalancerSku: aksnodeconfigv1.LoadBalancerSku_LOAD_BALANCER_SKU_STANDARD,
			},
		},
		IsVhd:      proto.Bool(false),
		CseTimeout: proto.Int32(1200),
		KubeletConfig: &aksnodeconfigv1.KubeletConfig{
			KubeletFlags: map[string]string{"--max-pods": "30"},
			KubeletConfigFileConfig: &aksnodeconfigv1.KubeletConfigFileConfig{
				ClusterDns:     []string{"10.0.0.10"},
				EventRecordQps: proto.Int32(0),
				Authentication: &aksnodeconfigv1.KubeletAuthentication{
					X509:    &aksnodeconfigv1.KubeletX509Authentication{ClientCaFile: "/ca.crt"},
					Webhook: &aksnodeconfigv1.KubeletWebhookAuthentication{CacheTtl: "2m"},
				},
			},
		},
	}
	got := new(aksnodeconfigv1.Configuration)
	if err := protojson.Unmarshal([]byte(document), got); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// declared returns the top-level messages and enums of the proto package.
func declared(t *testing.T) ([]protoreflect.MessageDescriptor, []protoreflect.EnumDescriptor) {
	t.Helper()
	var messages []protoreflect.MessageDescriptor
	var enums []protoreflect.EnumDescriptor
	protoregistry.GlobalFiles.RangeFilesByPackage("aksnodeconfig.v1", func(file protoreflect.FileDescriptor) bool {
		if file.Syntax() != protoreflect.Proto3 {
			t.Errorf("%s is not proto3", file.Path())
		}
		for i := range file.Messages().Len() {
			messages = append(messages, file.Messages().Get(i))
		}
		for i := range file.Enums().Len() {
			enums = append(enums, file.Enums().Get(i))
		}
		return true
	})
	return messages, enums
}

// mapFields counts the fields of message that are maps, each of which is a nested message to the
// descriptors.
func mapFields(message protoreflect.MessageDescriptor) int {
	n := 0
	for i := range message.Fields().Len() {
		if message.Fields().Get(i).IsMap() {
			n++
		}
	}
	return n
}

// fieldRow is the line of testdata/fields.tsv that field would have, with spaces for tabs, and the
// field's identity.
func fieldRow(field protoreflect.FieldDescriptor) (key, row string) {
	presence := "implicit"
	if field.HasOptionalKeyword() {
		presence = "optional"
	}
	message := string(field.Parent().Name())
	number := strconv.Itoa(int(field.Number()))
	return message + "/" + number, strings.Join([]string{
		message, number, string(field.Name()), field.JSONName(), typeName(field), presence,
	}, " ")
}

// typeName spells the type of field as testdata/fields.tsv does.
func typeName(field protoreflect.FieldDescriptor) string {
	switch {
	case field.IsMap():
		return fmt.Sprintf("map<%s,%s>", typeName(field.MapKey()), typeName(field.MapValue()))
	case field.ContainingOneof() != nil && !field.ContainingOneof().IsSynthetic():
		return "oneof"
	}
	name := field.Kind().String()
	switch field.Kind() {
	case protoreflect.EnumKind:
		name = "enum " + string(field.Enum().Name())
	case protoreflect.MessageKind:
		name = string(field.Message().Name())
	}
	if field.IsList() {
		return "repeated " + name
	}
	return name
}

// readTable reads a tab-separated file whose first line must be header.
func readTable(t *testing.T, name, header string) [][]string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if lines[0] != header {
		t.Fatalf("%s: header is %q, want %q", name, lines[0], header)
	}
	columns := strings.Count(header, "\t") + 1
	seen := make(map[string]bool)
	var rows [][]string
	for i, line := range lines[1:] {
		row := strings.Split(line, "\t")
		if len(row) != columns {
			t.Fatalf("%s:%d: got %d columns, want %d", name, i+2, len(row), columns)
		}
		key := row[0] + "/" + row[1]
		if seen[key] {
			t.Errorf("%s:%d: %s is there twice", name, i+2, key)
		}
		seen[key] = true
		rows = append(rows, row)
	}
	return rows
}

// compare reports what is different, missing from, or in excess of want.
func compare(t *testing.T, got, want map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if row, ok := got[key]; !ok {
			t.Errorf("missing: %s", want[key])
		} else if row != want[key] {
			t.Errorf("got  %s\nwant %s", row, want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			t.Errorf("not in the contract: %s", got[key])
		}
	}
}
