package redact

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const token = "abcdef.0123456789abcdef"

func TestSecrets(t *testing.T) {
	const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln-_"
	for text, want := range map[string]string{
		"--token=" + token:                                                        "--token=[redacted]",
		`{"token":"` + token + `"} and ` + token:                                  `{"token":"[redacted]"} and [redacted]`,
		"x" + token + "y":                                                         "x[redacted]y", // better too much than too little
		"Authorization: Bearer " + token:                                          "Authorization: Bearer [redacted]",
		"Authorization: Bearer opaque-0123456789":                                 "Authorization: Bearer [redacted]",
		`-H "Authorization: Basic dXNlcjpwYXNz"`:                                  `-H "Authorization: Basic [redacted]"`,
		"bearer 0123456789abcdefXYZ":                                              "bearer [redacted]",
		"token " + jwt + " expired":                                               "token [redacted] expired",
		"proxyconnect http://me:pa55@proxy:3128 failed":                           "proxyconnect http://[redacted]@proxy:3128 failed",
		"dial https://api.example.org:443/x?y=a:b@c":                              "dial https://api.example.org:443/x?y=a:b@c",
		"failed to load /etc/kubernetes/kubelet.conf":                             "failed to load /etc/kubernetes/kubelet.conf",
		"the bearer token is invalid; basic settings are kept":                    "the bearer token is invalid; basic settings are kept",
		"pull registry.k8s.io/pause:3.10@sha256:0123456789abcdef0123456789abcdef": "pull registry.k8s.io/pause:3.10@sha256:0123456789abcdef0123456789abcdef",
		"node aks-pool-12345678-vmss000000.internal.cloudapp.net":                 "node aks-pool-12345678-vmss000000.internal.cloudapp.net",
	} {
		if got := Secrets(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		" \t a\tb\r\n":                    "a b",
		"\x1b[31mred\x00\x07":             "[31mred",
		"a\u202eb\u200b\ufeff\u2028c":     "ab c",
		"\xff\xfeé":                       "é",
		"abcdef\x1b.\x000123456789abcdef": redacted, // nothing hides in a secret
		strings.Repeat("x", 20):           strings.Repeat("x", 20),
		strings.Repeat("x", 21):           strings.Repeat("x", 17) + "...",
		strings.Repeat("é", 11):           strings.Repeat("é", 8) + "...",
		"0123456789 " + token + " more":   "0123456789 [redac...",
	} {
		got := Line(text, 20)
		if got != want || !utf8.ValidString(got) || len(got) > 20 {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
