package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
)

// TestDefaultsAreTheKubelets: the defaults that "slipway explain" shows are those of the kubelet's own code.
func TestDefaultsAreTheKubelets(t *testing.T) {
	scheme, _, err := kubeletscheme.NewSchemeAndCodecs()
	if err != nil {
		t.Fatal(err)
	}
	config := new(kubeletconfig.KubeletConfiguration)
	scheme.Default(config)
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var defaults map[string]any
	if err := json.Unmarshal(data, &defaults); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../internal/explain/kubeletfields.txt")
	if err != nil {
		t.Fatal(err)
	}
	// Where each struct is in the configuration. What the kubelet leaves zero is not in it.
	places := map[string][]string{
		"KubeletConfiguration": nil, "LoggingConfiguration": {"logging"}, "KubeletAuthorization": {"authorization"},
		"KubeletWebhookAuthorization": {"authorization", "webhook"}, "KubeletAnonymousAuthentication": {"authentication", "anonymous"},
		"KubeletWebhookAuthentication": {"authentication", "webhook"}, "KubeletX509Authentication": {"authentication", "x509"},
	}
	compared := 0
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		field, rest, _ := strings.Cut(line, "|")
		want, _, _ := strings.Cut(rest, "|")
		owner, name, _ := strings.Cut(field, " ")
		place, known := places[owner]
		if !known {
			continue
		}
		at, _ := any(defaults), 0
		for _, step := range append(place, name) {
			above, _ := at.(map[string]any)
			at = above[step]
		}
		switch list := at.(type) {
		case map[string]any:
			continue // its fields have their defaults
		case []any:
			at = strings.Trim(fmt.Sprint(list), "[]")
		case float64:
			at = strings.TrimSuffix(fmt.Sprintf("%.1f", list), ".0")
		}
		compared++
		if zero := at == nil && (want == "" || want == "0" || want == "0s" || want == "false"); !zero && fmt.Sprint(at) != want {
			t.Errorf("%s: %v, want %q", field, at, want)
		}
	}
	if compared < 120 {
		t.Errorf("only %d fields are compared", compared)
	}
}
