package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestLaunchedDiffers(t *testing.T) {
	var template launchTemplate
	text := `{"document": {"machine": {"capacity": {"pods": "42"}, "allocatable": {"cpu": "1900m", "memory": "1344693862"}},
		"node": {"kubelet": {"labels": {"team": "blue"}, "taints": [{"key": "k", "effect": "NoExecute"}],
		"config": {"kubeReserved": {"cpu": "100m", "memory": "512Mi"}, "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%"}}}}}}`
	if err := json.Unmarshal([]byte(text), &template); err != nil {
		t.Fatal(err)
	}
	const disk = `, "ephemeral-storage": "9663676400"` // without a tenth, which a kubelet computes in 32 bits
	for name, c := range map[string]struct{ allocatable, label, wrong string }{
		"the same":                     {`"cpu": "1900m", "memory": "1398784Ki", "pods": "42"` + disk, "blue", ""},
		"another label":                {`"cpu": "1900m", "memory": "1398784Ki", "pods": "42"` + disk, "red", `label team is "red", want "blue"`},
		"less kept back":               {`"cpu": "2", "memory": "1398784Ki", "pods": "42"` + disk, "blue", "keeps 0 of cpu back"},
		"the whole disk":               {`"cpu": "1900m", "memory": "1398784Ki", "pods": "42", "ephemeral-storage": "10485760Ki"`, "blue", "keeps 0 of ephemeral-storage back"},
		"less than a scheduler thinks": {`"cpu": "1900m", "memory": "1248784Ki", "pods": "42"` + disk, "blue", "a scheduler counts on"},
		"no quantity":                  {`"cpu": "1.9", "memory": "1398784Ki", "pods": "42"` + disk, "blue", `allocatable: cpu: "1.9"`},
	} {
		var have node
		text := `{"metadata": {"labels": {"team": "` + c.label + `"}}, "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
			"status": {"capacity": {"cpu": "2", "memory": "2025472Ki", "pods": "42", "ephemeral-storage": "10485760Ki"}, "allocatable": {` + c.allocatable + `}}}`
		if err := json.Unmarshal([]byte(text), &have); err != nil {
			t.Fatal(err)
		}
		err := template.compare(&have)
		if c.wrong == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}

func TestObjectPath(t *testing.T) {
	for text, want := range map[string]string{
		"{kind: NodePool, metadata: {name: e2e}}":     "/apis/karpenter.sh/v1/nodepools e2e",
		"{kind: AKSNodeClass, metadata: {name: one}}": "/apis/karpenter.azure.com/v1beta1/aksnodeclasses one",
		"{kind: NodePool}":                            "",
		"{kind: Secret, metadata: {name: one}}":       "",
	} {
		var o object
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		collection, name, err := o.path()
		if got := strings.TrimSpace(collection + " " + name); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}
