package karpenter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestReaderIsAsTheSchema: launch/azure accepts and refuses the same classes as the API server. If both accept one, the class from
// the cluster, with the server's defaults, gives the same node as the class from a file.
func TestReaderIsAsTheSchema(t *testing.T) {
	s := newAPIServer(t)
	for _, v := range vectors(t, s) {
		t.Run(v.About, func(t *testing.T) {
			class := classObject(t, v.Spec)
			data, err := json.Marshal(class)
			if err != nil {
				t.Fatal(err)
			}
			file, problems := azure.ReadNodeClass(data)
			if fatal := nodeconfig.Fatal(problems); (len(fatal) > 0) != (v.Refused && !v.Written) {
				t.Errorf("%v", fatal)
			}
			if v.Refused {
				return
			}
			s.accept(class)
			object := new(karpenter.NodeClass)
			if data, err = json.Marshal(class); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, object); err != nil {
				t.Fatal(err)
			}
			document, err := object.Document()
			if err != nil {
				t.Fatal(err)
			}
			cluster, problems := azure.ReadNodeClass(document)
			if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
				t.Fatalf("it refuses what the API server has made of it: %v", fatal)
			}
			if a, b := nodeOf(t, file), nodeOf(t, cluster); a != b {
				t.Errorf("from a file:\n%s\nfrom the cluster:\n%s", a, b)
			}
		})
	}
}

// kubeletDefaults are the kubelet's own (Kubernetes 1.36: pkg/kubelet/apis/config/v1beta1/defaults.go). To state one explicitly
// changes no node.
var kubeletDefaults = map[string]any{
	"containerLogMaxFiles": 5.0, "cpuCFSQuota": true, "cpuCFSQuotaPeriod": "100ms", "cpuManagerPolicy": "none", "topologyManagerPolicy": "none",
}

// nodeOf is the node of a class: its contract without the kubelet's defaults, its machine, and the problems that prevent it.
func nodeOf(t testing.TB, class *azure.NodeClass) string {
	t.Helper()
	in := inputs(t, "")
	input := &azure.Input{Settings: in.Settings, Class: class, Type: &in.Types[0], Images: in.Images, Detected: in.Detected}
	template := launch.Render(input, launch.Request{Claim: new(launch.NodeClaim)})
	problems := template.Problems()
	contract := make(map[string]any)
	if err := yaml.Unmarshal(nodeconfig.Encode(&template.Document().Node), &contract); err != nil {
		t.Fatal(err)
	}
	config := contract["kubelet"].(map[string]any)["config"].(map[string]any)
	maps.DeleteFunc(config, func(name string, v any) bool { return v == kubeletDefaults[name] && v != nil })
	node, err := json.MarshalIndent(map[string]any{"contract": contract, "machine": template.Document().Machine}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n%v", node, nodeconfig.Fatal(problems))
}
