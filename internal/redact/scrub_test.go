package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const (
	rawKey = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1VkZ8Zyh0Hx5nq2J\nCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARY0000\nabcdefgh\n-----END PRIVATE KEY-----\n"
	canary = `can%ary&"0123<é>/+x y`
)

// scrubbed is a text without the known secrets.
func scrubbed(text string, secrets ...string) string {
	known := NewKnown()
	for _, s := range secrets {
		known.Add(s)
	}
	clean, _, _ := (&Scrubber{Known: known}).Scrub([]byte(text), 0)
	return string(clean)
}

// Each usual encoding of a secret is found, wherever it is in the data.
func TestEncodings(t *testing.T) {
	encode := func(v any, html bool) string {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(html)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	for _, secret := range []string{canary, "abcdef", "Pa55word", rawKey, "aGVsbG8gd29ybGQ=", "abcdef.0123456789abcdef", strings.Repeat("long", 500)} {
		trimmed := strings.TrimSpace(secret)
		forms := map[string]string{
			"raw": secret, "JSON": encode(secret, true), "JSON without escapes of HTML": encode(secret, false), "JSON in JSON": encode(encode(trimmed, false), false),
			"query": url.QueryEscape(trimmed), "path": url.PathEscape(trimmed), "lower query": strings.ToLower(url.QueryEscape(strings.ToLower(trimmed))),
			"hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))), "unit": strings.ReplaceAll(trimmed, "%", "%%"),
		}
		if strings.ToLower(trimmed) != trimmed {
			delete(forms, "lower query")
		}
		for offset := range 3 {
			for name, alphabet := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "base64 of URLs": base64.URLEncoding} {
				before := strings.Repeat("x", offset)
				forms[fmt.Sprint(name, offset)] = alphabet.EncodeToString([]byte(before + secret + "after"))
				forms[fmt.Sprint(name, " of JSON", offset)] = alphabet.EncodeToString([]byte(before + encode(trimmed, false) + "after"))
			}
			forms[fmt.Sprint("base64 of base64", offset)] = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", offset) + base64.StdEncoding.EncodeToString([]byte(trimmed))))
		}
		for name, form := range forms {
			got := scrubbed("before "+form+" after", secret)
			// What is left of base64 are the characters that also depend on the data around.
			if !strings.Contains(got, "<secret 1>") || len(got) > len("before  after<secret 1>")+16 {
				t.Errorf("%.20q in %s: %q", secret, name, got)
			}
		}
	}
}

// A line break in base64 hides no secret, wherever it is.
func TestWrapped(t *testing.T) {
	const secret = "a secret of forty characters, 0123456789"
	for before := range 120 {
		for _, form := range []struct {
			width       int
			indent, end string
		}{{76, "", "\n"}, {64, "    ", "\r\n"}} {
			encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret + strings.Repeat("y", 100)))
			text := "a text\n"
			for rest := encoded; rest != ""; {
				n := min(form.width, len(rest))
				text += form.indent + rest[:n] + form.end
				rest = rest[n:]
			}
			clean := scrubbed(text+"the end\n", secret)
			plain, _ := base64.StdEncoding.DecodeString(encoded)
			for at := 4; at+16 < len(secret); at += 4 {
				for offset := range 3 {
					part := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), secret[at:at+12]...))[4:15]
					if strings.Contains(strings.Join(strings.Fields(clean), ""), part) {
						t.Fatalf("%d bytes before: %q of %q is in\n%s", before, part, plain, clean)
					}
				}
			}
			if !strings.Contains(clean, "<secret 1>") || !strings.HasSuffix(clean, "the end\n") {
				t.Fatalf("%d bytes before:\n%s", before, clean)
			}
		}
	}
}

// Long wrapped base64 is searched in pieces, and no secret between two of them is missed.
func TestLongWrapped(t *testing.T) {
	const secret = "a secret of forty characters, 0123456789"
	for at := maxJoined*3/4 - 100; at < maxJoined*3/4+100; at += 50 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", at) + secret + strings.Repeat("y", maxJoined)))
		var text strings.Builder
		for ; len(encoded) > 76; encoded = encoded[76:] {
			text.WriteString(encoded[:76] + "\n")
		}
		if got := scrubbed(text.String(), secret); strings.Count(got, "<secret 1>") != 1 {
			t.Errorf("at %d", at)
		}
	}
}

func TestScrub(t *testing.T) {
	for text, want := range map[string]string{
		"one swordfish, two Pa55word, swordfish": "one <secret 1>, two <secret 2>, <secret 1>",
		"password=swordfish password=other":      "password=<secret 1> password=<secret 3>",
		"swordfishswordfish":                     "<secret 1><secret 1>",
		"c2!swordfis c2":                         "c2!swordfis c2", // a secret of five characters is not searched for
		"abcdef.0123456789abcdef twice abcdef.0123456789abcdef, 123456.0123456789abcdef": "<secret 3> twice <secret 3>, <secret 4>",
		`{"MESSAGE":"-----BEGIN PRIVATE KEY-----","_PID":"1"}` + "\n" + `{"MESSAGE":"MIGHAgEAMBMGByqGSM49AgEG","_PID":"1"}` + "\n" + `{"MESSAGE":"-----END PRIVATE KEY-----"}` + "\n" + `{"MESSAGE":"MIGHAgEAMBMGByqGSM49AgEG"}`: `{"MESSAGE":"-----BEGIN PRIVATE KEY-----","_PID":"1"}` + "\n" + `{"MESSAGE":"<secret 3>","_PID":"1"}` + "\n" + `{"MESSAGE":"-----END PRIVATE KEY-----"}` + "\n" + `{"MESSAGE":"MIGHAgEAMBMGByqGSM49AgEG"}`,
		`a "-----BEGIN RSA PRIVATE KEY-----\nMIGHAg\n-----END RSA PRIVATE KEY-----\n" b -----BEGIN PRIVATE KEY----- MIGHAgEAMBMGByqGSM49AgEGx`:                                                                                   `a "<secret 3>\n" b -----BEGIN PRIVATE KEY----- <secret 4>`,
		"-----BEGIN CERTIFICATE-----\nMIGHAgEAMBMGByqGSM49AgEG\n": "-----BEGIN CERTIFICATE-----\nMIGHAgEAMBMGByqGSM49AgEG\n",
		"https://h/x?sig=abc%3D&se=1 http://u:p@proxy":            "https://h/x?sig=<secret 3>&se=1 http://<secret 4>@proxy",
		"": "",
	} {
		if got := scrubbed(text, "swordfish", "Pa55word", "c2!sw"); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// The forms of a text that is found in lines are those of a text that is found at once.
func TestWordsAreThoseOfForms(t *testing.T) {
	for text, want := range texts {
		if strings.Contains(text, "\n") {
			continue
		}
		got := scrubbed(text)
		if strings.Contains(want, redacted) != strings.Contains(got, "<secret ") || strings.Contains(got, "canary") && !strings.Contains(want, "canary") {
			t.Errorf("%q: %q, want as in %q", text, got, want)
		}
	}
}

// Parts of a secret are secrets too: a password in a URL, what base64 holds, the lines of a key.
func TestParts(t *testing.T) {
	for secret, shown := range map[string]string{
		"http://user:swordfish1@proxy:3128":                          "swordfish1",
		"http://user:sword%20fish@proxy:3128":                        "sword fish",
		base64.StdEncoding.EncodeToString([]byte("user:swordfish1")): "swordfish1",
		`{"auths":{"r":{"auth":"` + "dXNlcjpzd29yZGZpc2gx" + `"}}}`:  "swordfish1",
		rawKey: "CANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARY0000",
		base64.StdEncoding.EncodeToString([]byte(rawKey)): "CANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARY0000",
		"Bearer 0123456789abcdefgh":                       "0123456789abcdefgh",
	} {
		if got := scrubbed("x "+shown+" y", secret); strings.Contains(got, shown) {
			t.Errorf("%.40q: %q", secret, got)
		}
	}
}

// A secret in a text of any kind is known after that text was learned.
func TestLearn(t *testing.T) {
	known := NewKnown()
	known.Learn([]byte("users:\n- user:\n    token: canary0123456789xyz\n    client-key-data: " + base64.StdEncoding.EncodeToString([]byte(rawKey)) +
		"\ntokenFile: /var/run/token\n\"aadClientSecret\": \"canary2canary2\"\nHTTPS_PROXY=http://u:canary3canary@p:1\npassword: short\n"))
	scrubber := &Scrubber{Known: known}
	clean, _, _ := scrubber.Scrub([]byte("canary0123456789xyz canary2canary2 canary3canary CANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARY0000 /var/run/token short"), 0)
	if strings.Contains(strings.ToLower(string(clean)), "canary") || !strings.HasSuffix(string(clean), " /var/run/token short") {
		t.Errorf("%s", clean)
	}
}

// The part before the offset is read, and not in the result. A secret that begins in it is removed.
func TestScrubFrom(t *testing.T) {
	known := NewKnown()
	known.Add("swordfish")
	s := &Scrubber{Known: known}
	const text = "swordfish a swordfish b swordfish"
	for from := range len(text) + 1 {
		clean, _, _ := s.Scrub([]byte(text), from)
		if got := string(clean); strings.Contains(got, "fish") || from <= 21 && !strings.HasSuffix(got, " b <secret 1>") {
			t.Errorf("from %d: %q", from, got)
		}
	}
}

// A secret is removed to its end, if that is far away.
func TestLongSecret(t *testing.T) {
	for _, size := range []int{maxAfter - 9, maxAfter - 8, maxAfter, maxSecret - 100} {
		if got := scrubbed("x password=" + strings.Repeat("c", size) + " y"); got != "x password=<secret 1> y" {
			t.Errorf("%d bytes: %d are left", size, len(got))
		}
	}
}

// A text that consists of words that may belong to secrets is refused.
func TestUnsearched(t *testing.T) {
	scrubber := &Scrubber{Known: NewKnown()}
	if _, _, err := scrubber.Scrub([]byte(strings.Repeat("token: ", 10_000)), 0); !errors.Is(err, ErrUnsearched) {
		t.Error(err)
	}
	if got := Secrets(strings.Repeat("token: ", 10_000)); got != redacted {
		t.Errorf("%.40s", got)
	}
	if _, _, err := scrubber.Scrub([]byte(strings.Repeat("a token: canary0123456789abcdef ", 10_000)), 0); err != nil {
		t.Error(err)
	}
}

// FuzzScrub: no known secret is left, nor any text that a second pass finds.
func FuzzScrub(f *testing.F) {
	f.Add("password=swordfish", "swordfish", 3)
	f.Add("x "+rawKey, "abcdef.0123456789abcdef", 0)
	f.Add("http://u:p@h/?sig=x&y=eyJhbGci.e.f", canary, 1)
	f.Fuzz(func(t *testing.T, text, secret string, from int) {
		known := NewKnown()
		known.Add(secret)
		s := &Scrubber{Known: known}
		clean, _, _ := s.Scrub([]byte(text), min(max(from, 0), len(text)))
		secret = strings.Trim(secret, " \t\r\n")
		if len(secret) >= MinKnown && strings.Contains(string(clean), secret) && !strings.Contains("<secret 1234567890>", secret) {
			t.Errorf("%q is in %q", secret, clean)
		}
	})
}

// logLines are what kubelets and containerd write.
var logLines = []string{
	`{"__REALTIME_TIMESTAMP":"1780000000000000","__MONOTONIC_TIMESTAMP":"12345678","_BOOT_ID":"0123456789abcdef0123456789abcdef","PRIORITY":"6","_SYSTEMD_UNIT":"kubelet.service","MESSAGE":"I0528 00:00:00.000000    1234 reconciler_common.go:251] \"operationExecutor.VerifyControllerAttachedVolume started for volume \\\"kube-api-access-abcde\\\" (UniqueName: \\\"kubernetes.io/projected/0123-4567-kube-api-access-abcde\\\") pod \\\"coredns-0123456789-abcde\\\" (UID: \\\"0123-4567\\\") \" pod=\"kube-system/coredns-0123456789-abcde\""}`,
	`{"__REALTIME_TIMESTAMP":"1780000000000001","__MONOTONIC_TIMESTAMP":"12345679","_BOOT_ID":"0123456789abcdef0123456789abcdef","PRIORITY":"6","_SYSTEMD_UNIT":"containerd.service","MESSAGE":"time=\"2026-05-28T00:00:00.000000000Z\" level=info msg=\"ImageCreate event name:\\\"registry.k8s.io/pause:3.10\\\"  labels:{key:\\\"io.cri-containerd.image\\\"  value:\\\"managed\\\"}\""}`,
	`{"__REALTIME_TIMESTAMP":"1780000000000002","__MONOTONIC_TIMESTAMP":"12345680","_BOOT_ID":"0123456789abcdef0123456789abcdef","PRIORITY":"4","_SYSTEMD_UNIT":"kubelet.service","MESSAGE":"W0528 00:00:00.000000    1234 reflector.go:561] k8s.io/client-go/informers/factory.go:160: failed to list *v1.Node: Get \"https://10.0.0.1:6443/api/v1/nodes?fieldSelector=metadata.name%3Dnode&limit=500&resourceVersion=0\": dial tcp 10.0.0.1:6443: connect: connection refused"}`,
	`2026-05-28 00:00:00,000 - util.py[DEBUG]: Running command ['systemctl', 'show', '--property', 'ActiveState', 'kubelet.service'] with allowed return codes [0] (shell=False, capture=True)`,
	`2026-05-28T00:00:00.000000Z INFO ExtHandler ExtHandler ProcessExtensionsGoalState started [incarnation 1] channel: WireServer; source: Fabric; activity: 0123; correlation 4567; created: 2026`,
}

// BenchmarkScrub measures redaction with 50 secrets in one pass.
func BenchmarkScrub(b *testing.B) {
	known := NewKnown()
	for i := range 48 {
		known.Add(fmt.Sprintf("secret-%d-%032x", i, i*i*i))
	}
	known.Add(rawKey)
	known.Add("http://user:swordfish@proxy:3128")
	text := []byte(strings.Repeat(strings.Join(logLines, "\n")+"\n", 3000))
	s := &Scrubber{Known: known}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Scrub(text, 0)
	}
}
