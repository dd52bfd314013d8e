package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/kubeletapi"
)

// TestEachKubeletFieldHasAText: each field of the generated table has one line, and no line is of another field.
func TestEachKubeletFieldHasAText(t *testing.T) {
	texts := kubeletTexts()
	if lines := strings.Count(strings.TrimSpace(kubeletFields), "\n") + 1; lines != len(texts) {
		t.Errorf("%d lines for %d fields", lines, len(texts))
	}
	owners := make(map[string]bool)
	for name, field := range texts {
		owner, field2, _ := strings.Cut(name, " ")
		owners[owner] = true
		if field.text == "" || !slices.Contains(kubeletapi.FieldsOf(owner), field2) {
			t.Errorf("%s: no such field, or no text: %+v", name, field)
		}
	}
	for owner := range owners {
		for _, name := range kubeletapi.FieldsOf(owner) {
			if _, ok := texts[owner+" "+name]; !ok {
				t.Errorf("%s %s has no text", owner, name)
			}
		}
	}
	for path, want := range map[string][2]string{
		"":                               {"", "KubeletConfiguration"},
		"maxPods":                        {"KubeletConfiguration maxPods", ""},
		"authentication":                 {"KubeletConfiguration authentication", "KubeletAuthentication"},
		"authentication.webhook.enabled": {"KubeletWebhookAuthentication enabled", ""},
		"evictionHard.memory":            {"KubeletConfiguration evictionHard", ""},
		"reservedMemory":                 {"KubeletConfiguration reservedMemory", "MemoryReservation"},
		"reservedMemory..limits.memory":  {"MemoryReservation limits", ""},
	} {
		var names []string
		if path != "" {
			names = strings.Split(path, ".")
		}
		field, inside := kubeletapi.PlaceOf(names)
		if field != want[0] || inside != want[1] {
			t.Errorf("%s: %q, %q", path, field, inside)
		}
		if inside != "" && !owners[inside] {
			t.Errorf("%s has no texts of its fields", inside)
		}
	}
}
