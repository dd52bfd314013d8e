package envelope_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/userdata"
)

const (
	yamlContract = "apiVersion: slipway.dev/v1\nkind: NodeConfig\n"
	aksContract  = `{"version":"v1"}`
)

// opened are spellings of user data that the property test does not have.
var opened = []struct {
	name string
	data []byte
	// want is the contract, path its path, and wrapping its wrappings.
	want, path, wrapping string
}{
	{"YAML after comments", []byte("# mine\n---\n" + yamlContract), "# mine\n---\n" + yamlContract, "", ""},
	{"YAML with quoted names", []byte("\"kind\" : NodeConfig\n"), "\"kind\" : NodeConfig\n", "", ""},
	{"YAML of all forms", []byte("cluster: {\n}\nlabels: [\n]\ntaints:\n- a\n\n# the end\nkind: NodeConfig"), "cluster: {\n}\nlabels: [\n]\ntaints:\n- a\n\n# the end\nkind: NodeConfig", "", ""},
	{"AKS in YAML", []byte("version: v1\n"), "version: v1\n", "", ""},
	{"JSON without a version", []byte(`{"apiServerConfig":{}}`), `{"apiServerConfig":{}}`, "", ""},
	{"JSON after a byte order mark", []byte("\xef\xbb\xbf\n" + aksContract), "\xef\xbb\xbf\n" + aksContract, "", ""},
	{"JSON with Ignition below the top", []byte(`{"x":{"ignition":{}}}`), `{"x":{"ignition":{}}}`, "", ""},
	{"base64 twice", []byte(std64(std64(aksContract))), aksContract, "", "base64 base64"},
	{"two gzip members", append(gzipped([]byte(yamlContract)), gzipped([]byte("a: b\n"))...), yamlContract + "a: b\n", "", "gzip"},
	{"eight wrappings", nested(8, []byte(aksContract), gzipped), aksContract, "", strings.TrimSpace(strings.Repeat("gzip ", 8))},
	{"much of little", gzipped([]byte(yamlContract + fill("#\n", 60<<10))), yamlContract + fill("#\n", 60<<10), "", "gzip"},

	{"AKS's first custom data", []byte("#cloud-config\nwrite_files:\n- path: /opt/azure/containers/aks-node-controller-config.json\n" +
		"  permissions: \"0755\"\n  owner: root\n  content: !!binary |\n   " + std64(aksContract)), aksContract, userdata.AKSPath, "cloud-config"},
	{"the last entry counts", []byte("#cloud-config\nwrite_files:\n- {path: /etc/slipway/config.yaml, content: 'version: v1', append: true}\n" +
		"- {path: /etc/slipway/config.yaml, content: 'version: v2'}\n"), "version: v2", userdata.NativeYAMLPath, "cloud-config"},
	{"entries are appended", []byte("#cloud-config\nwrite_files:\n- {path: /etc/slipway/config.json, content: '{\"version\":'}\n" +
		"- {path: /etc/slipway/config.json, content: IlYxIn0=, encoding: B64, append: \"yes\"}\n"), `{"version":"V1"}`, userdata.NativePath, "cloud-config"},
	{"a deferred entry comes last", []byte("#cloud-config\nwrite_files:\n- {path: /etc/slipway/config.yaml, content: 'version: v1', defer: 1}\n" +
		"- {path: /etc/slipway/config.yaml, content: 'version: v2'}\n"), "version: v1", userdata.NativeYAMLPath, "cloud-config"},
	{"an unknown encoding is ignored", with("encoding: text/plain\n  content: 'a: b'"), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"an encoding in other letters is unknown", with("encoding: \"gz\\u0130p\"\n  content: 'a: b'"), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"an encoding with white space around it", with("encoding: \"\\x1c B64\\u00a0\"\n  content: YTogYg=="), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"a path from the root's directory", bare("write_files: [{path: etc/slipway/config.yaml, content: 'a: b'}]"), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"a path that is not the shortest", bare("write_files: [{path: //etc/../etc/./slipway//config.yaml/, content: 'a: b'}]"), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"the last of two spellings of a path counts", append(with("content: 'version: v1'\n"), "- {path: /etc/slipway/./config.yaml, content: 'version: v2'}\n"...), "version: v2", userdata.NativeYAMLPath, "cloud-config"},
	{"names by aliases", bare("x: &x write_files\ny: &y path\n? *x\n: - ? *y\n    : /etc/slipway/config.yaml\n    content: 'a: b'\n"), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"a number that is tagged as text", with("content: !!str 12"), "12", userdata.NativeYAMLPath, "cloud-config"},
	{"content to the end of the data", with("content: |\n    a: b\n\n"), "a: b\n", userdata.NativeYAMLPath, "cloud-config"},
	{"content by alias", []byte("#cloud-config\nx: &x 'a: b'\nwrite_files: [{path: /etc/slipway/config.yaml, content: *x}]"), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"cloud-config in JSON", archiveOf(part{"text/cloud-config", "", []byte(`{"write_files":[{"path":"/etc/slipway/config.json","content":"{}"}]}`)}),
		"{}", userdata.NativePath, "mime cloud-config"},
	{"cloud-config by type alone", archiveOf(part{"text/cloud-config", "", append([]byte("version: v1\n"), with("content: 'a: b'")[len("#cloud-config\n"):]...)}),
		"a: b", userdata.NativeYAMLPath, "mime cloud-config"},
	{"cloud-config in capitals, after white space", []byte("\n#CLOUD-CONFIG\nwrite_files: [{path: /etc/slipway/config.yaml, content: 'a: b'}]"), "a: b", userdata.NativeYAMLPath, "cloud-config"},
	{"cloud-config as a script", archiveOf(part{"text/x-shellscript", "", with("content: 'a: b'")}), "a: b", userdata.NativeYAMLPath, "mime cloud-config"},

	{"part that is a contract", archiveOf(part{"text/x-slipway-config", "", []byte("cluster: {}\n")}), "cluster: {}\n", "", "mime"},
	{"part that is YAML", archiveOf(part{"Application/Vnd.Slipway.NodeConfig+YAML; charset=utf-8", "8bit", []byte("cluster: é")}), "cluster: é", "", "mime"},
	{"part that is JSON", archiveOf(part{"application/vnd.slipway.nodeconfig+json", "base64", []byte(std64(gzipped([]byte("{}"))))}), "{}", "", "mime gzip"},
	{"part among broken ones of others", archiveOf(part{"image/png", "base64", []byte("!")}, part{"text/cloud-config", "", []byte("{")},
		part{"", "", []byte(yamlContract)}), yamlContract, "", "mime"},
	{"part of which the first type counts", archiveOf(part{"text/x-slipway-config\nContent-Type: image/png", "", []byte("a: b")}), "a: b", "", "mime"},
	{"part without header", []byte("Content-Type: multipart/mixed; boundary=\"a b\"\n\n--a b\n" + "#cloud-config\nwrite_files: [{path: /etc/slipway/config.yaml, content: 'a: b'}]\n--a b--"),
		"a: b", userdata.NativeYAMLPath, "mime cloud-config"},
	{"message of one part", []byte("Subject: x\nMIME-Version: 1.0\nContent-Type: text/x-slipway-config\n\na: b\n"), "a: b\n", "", "mime"},
	{"multipart in multipart", multipartAgain(8), contractText, "", "mime mime mime mime mime mime mime mime"},
	{"boundary that begins another", archiveOf(part{"multipart/mixed; boundary=bc", "", []byte("--bc\n\n" + yamlContract + "\n--bc--")}), yamlContract, "", "mime mime"},
	{"the same contract in several parts", archiveOf(part{"text/x-slipway-config", "", []byte("a: b")}, part{"text/cloud-config", "", with("content: 'a: b'")}),
		"a: b", userdata.NativeYAMLPath, "mime cloud-config"},

	{"boothook, the last counts", boothookOf("!\nSLIPWAY_END\nput '/etc/slipway/config.json' <<'SLIPWAY_END'\n" + std64(aksContract) + "\nSLIPWAY_END\n"), aksContract, userdata.NativePath, "boothook"},
	{"boothook with a line that begins as its end", []byte("#!/bin/sh\ncat <<'EOF' | base64 -d >/etc/slipway/config.json\neyJ\nEOFAiOjF9\nEOF\n"), `{"D8P":1}`, userdata.NativePath, "boothook"},
	{"boothook by type alone", archiveOf(part{"text/cloud-boothook", "", boothookOf(std64(aksContract) + "\nSLIPWAY_END")[len("#cloud-boothook\n"):]}), aksContract, userdata.NativePath, "mime boothook"},
	{"Ignition with a slash escaped", bytes.ReplaceAll(ignitionOf(`{"source":"DATA:,%7B%7D"}`), []byte("/"), []byte(`\/`)), "{}", userdata.NativePath, "ignition"},
}

func TestOpen(t *testing.T) {
	for _, c := range opened {
		got, err := envelope.Open(c.data, places)
		if err != nil || string(got.Data) != c.want || got.Path != c.path || !slices.Equal(got.Wrapping, strings.Fields(c.wrapping)) {
			t.Errorf("%s: got %.80q as %v, %v", c.name, got.Data, got, err)
		}
	}
}

// TestOpenElsewhere: a file at another path is not a contract.
func TestOpenElsewhere(t *testing.T) {
	for _, e := range examples(t) {
		data, err := userdata.CustomData(userdata.Contract{Document: e.document, Path: e.path})
		if err != nil {
			t.Fatal(err)
		}
		for _, elsewhere := range [][]string{nil, {e.path + ".d"}} {
			if got, err := envelope.Open([]byte(data), elsewhere); outcome(err) != "none" {
				t.Errorf("%s, looked for at %q: got %v, %v", e.name, elsewhere, got, err)
			}
		}
	}
}

// TestOpenKeepsNothing: the contract is a copy, so that the caller may overwrite the user data.
func TestOpenKeepsNothing(t *testing.T) {
	data := []byte(yamlContract)
	got, err := envelope.Open(data, places)
	clear(data)
	if err != nil || string(got.Data) != yamlContract {
		t.Errorf("got %q, %v", got.Data, err)
	}
}

// TestContractIsRedacted: no format of a contract shows its content.
func TestContractIsRedacted(t *testing.T) {
	c, err := envelope.Open(with("content: 'token: "+canary+"'"), places)
	if err != nil {
		t.Fatal(err)
	}
	marshalled, err := json.Marshal(map[string]any{"a": c, "b": &c})
	if err != nil {
		t.Fatal(err)
	}
	all := string(marshalled) + fmt.Sprintf("%v %+v %#v %s %q %x %d %v %+v", c, c, c, c, c, c, c, &c, []any{c})
	if strings.Contains(all, canary) || strings.Contains(all, fmt.Sprintf("%x", canary)) || strings.Contains(all, "116 111 107") {
		t.Errorf("got %s", all)
	}
	if want := "contract for /etc/slipway/config.yaml in cloud-config (20 bytes) [redacted]"; c.String() != want {
		t.Errorf("got %s, want %s", c, want)
	}
}
