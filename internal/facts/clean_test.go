package facts

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	label := strings.Repeat("a", 63)
	for text, want := range map[string]string{
		"": "", "node": "node", "Node-1.Example.ORG.": "node-1.example.org", "0": "0", label: label, label + "a": "",
		".": "", "a..b": "", "-a": "", "a-": "", "a_b": "", "a b": "", "a\n": "", "ä": "", "$(x)": "", "a/b": "",
		strings.Repeat(label+".", 3) + label[:61]: strings.Repeat(label+".", 3) + label[:61],
		strings.Repeat(label+".", 3) + label[:62]: "",
	} {
		if got := CleanHostname(text); got != want {
			t.Errorf("host name %q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "", "East US": "East US", "/subscriptions/x": "/subscriptions/x", "a\nb": "", "a\x1b[31m": "", "ä": "",
		strings.Repeat("a", 1024): strings.Repeat("a", 1024), strings.Repeat("a", 1025): "",
	} {
		if got := CleanText(text); got != want {
			t.Errorf("text %q is %q, want %q", text, got, want)
		}
	}
}
