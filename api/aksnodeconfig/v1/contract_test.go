package aksnodeconfigv1_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/slipway-dev/slipway/api/aksnodeconfig/protos"
	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
)

// TestContractIsThatOfAKS compares the declarations of the Go types, every field, value and reserved number, with the listing of
// AKS's own contract.
func TestContractIsThatOfAKS(t *testing.T) {
	var files []protoreflect.FileDescriptor
	protoregistry.GlobalFiles.RangeFilesByPackage("aksnodeconfig.v1", func(file protoreflect.FileDescriptor) bool {
		if file.Syntax() != protoreflect.Proto3 {
			t.Errorf("%s is not proto3", file.Path())
		}
		files = append(files, file)
		return true
	})
	want, err := os.ReadFile("testdata/upstream.tsv")
	if err != nil {
		t.Fatal(err)
	}
	// Lines as Go strings, so that a difference names the fields.
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(protos.Listing(files)), "\n")); diff != "" {
		t.Errorf("AKS's contract (-) and the one here (+) differ; CONTRIBUTING.md says what to do:\n%s", diff)
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
