package collect_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/test/contracts"
)

// forms are texts that show a secret.
func forms(t *testing.T, secret string) []string {
	t.Helper()
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{secret, string(quoted), url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	for offset := range 3 {
		for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			all = append(all, alphabet.EncodeToString([]byte(strings.Repeat("x", offset)+secret+"y")))
		}
	}
	var bytes []string
	for _, b := range []byte(secret) {
		bytes = append(bytes, fmt.Sprint(b))
	}
	return append(all, "["+strings.Join(bytes, ",")+"]")
}

// middle is what is in each encoding of a text that contains a secret, wherever the secret begins.
func middle(form string) string {
	if len(form) < 12 {
		return form
	}
	return form[4 : len(form)-4]
}

// leaks returns the forms of secrets that a text shows.
func leaks(t *testing.T, text string, secrets ...string) (found []string) {
	t.Helper()
	for _, secret := range secrets {
		for _, form := range forms(t, secret) {
			if at := strings.Index(text, middle(form)); at >= 0 {
				found = append(found, fmt.Sprintf("%q of %q: %q", form, secret, text[max(0, at-80):min(len(text), at+80)]))
			}
		}
	}
	return found
}

// canaries makes a different secret for each field.
type canaries struct{ all []string }

func (c *canaries) next(string) string {
	secret := fmt.Sprintf("ca/n%%ary%03d&7Qx<>z", len(c.all))
	c.all = append(c.all, secret)
	return secret
}

// A secret in any field of a contract is in no file of the bundle, in any encoding, though the machine's files and journals are
// full of it.
func TestCanariesOfContracts(t *testing.T) {
	plain := contracts.Parse(t, "../../examples/native/full.yaml")
	aks := contracts.Parse(t, "../../examples/aks/client-certificate.json")
	for dialect, at := range map[string]string{"native": "/etc/slipway/config.yaml", "aks": "/opt/azure/containers/aks-node-controller-config.json"} {
		t.Run(dialect, func(t *testing.T) {
			c := new(canaries)
			var contract []byte
			if dialect == "native" {
				contract = contracts.Merge(plain, contracts.NativeSecrets(t, c.next).Document).AppendJSON(nil)
			} else {
				contract = contracts.Merge(aks, contracts.AKSSecrets(t, c.next).Document).AppendJSON(nil)
			}
			n := newNode(t)
			n.put(at, string(contract))
			plant(t, n, c.all)
			b := n.bundle()
			if text, has := b.Read("contract.yaml"); !has || !strings.Contains(string(text), "<secret ") {
				t.Errorf("no contract: %s", missing(b, "contract.yaml"))
			}
			checkClean(t, all(t, b), c.all)
		})
	}
}

// plant writes secrets in each form into files and journals.
func plant(t *testing.T, n *node, secrets []string) {
	t.Helper()
	var log, records, unreadable strings.Builder
	for _, secret := range secrets {
		for _, form := range forms(t, secret) {
			fmt.Fprintf(&log, "2026-05-04 some text %s and more\n", form)
			record, err := json.Marshal(map[string]string{"MESSAGE": "text " + form})
			if err != nil {
				t.Fatal(err)
			}
			records.WriteString(string(record) + "\n")
		}
		// A message with a control character is a list of bytes.
		var bytes []any
		for _, b := range []byte("\x1b[31m" + secret) {
			bytes = append(bytes, b)
		}
		record, err := json.Marshal(map[string]any{"MESSAGE": bytes, "PRIORITY": "3"})
		if err != nil {
			t.Fatal(err)
		}
		records.WriteString(string(record) + "\n")
		unreadable.WriteString("x" + secret + "\x00")
	}
	n.put("/var/log/cloud-init-output.log", log.String())
	n.put("/var/lib/waagent/custom-script/download/0/stderr", log.String())
	n.put("/proc/cmdline", strings.ReplaceAll(log.String(), "\n", " "))
	n.put("/var/log/waagent.log", unreadable.String())
	n.put("/etc/containerd/config.toml", log.String())
	n.put("/var/lib/slipway/watch.json", records.String())
	n.journal["kubelet.service"], n.journal["--dmesg"] = records.String(), records.String()
}

// checkClean reports secrets in a bundle. A list of bytes in the decimal form is not searched for: only the journal writes it.
func checkClean(t *testing.T, text string, secrets []string) {
	t.Helper()
	found := leaks(t, text, secrets...)
	for _, leak := range found[:min(len(found), 10)] {
		if !strings.HasPrefix(leak, `"[`) {
			t.Error(leak)
		}
	}
}

const key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBkgCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANA\nAwEHoUQDQgAE7CANARY2CANARY2CANARY2CANARY2CANARY2CANARY2CANARY200\n-----END EC PRIVATE KEY-----\n"

// The secrets of the machine's other files are known, too: kubeconfigs, keys, registries, proxies, environments.
func TestCanariesOfFiles(t *testing.T) {
	n := newNode(t)
	const token, password, clientSecret, registry, env = "kanarie.0123456789abcdef", "kanarie-proxy-password", "kanarie-client-secret-0", "kanarie-registry-pass", "kanarie-in-environment"
	n.put("/etc/kubernetes/bootstrap-kubelet.conf", "users:\n- user:\n    token: "+token+"\n")
	n.put("/etc/kubernetes/kubelet.conf", "users:\n- user:\n    client-key-data: "+base64.StdEncoding.EncodeToString([]byte(key))+"\n")
	n.put("/etc/kubernetes/azure.json", `{"aadClientSecret": "`+clientSecret+`"}`)
	n.put("/etc/slipway/proxy.env", `HTTPS_PROXY="http://user:`+password+`@proxy:3128"`+"\n")
	n.put("/etc/containerd/conf.d/auth.toml", `[plugins."io.containerd.grpc.v1.cri".registry.configs."r".auth]`+"\n  password = \""+registry+"\"\n")
	n.put("/var/lib/kubelet/config.json", `{"auths":{"r":{"auth":"`+base64.StdEncoding.EncodeToString([]byte("user:"+registry))+`"}}}`)
	n.put("/etc/default/agent", "API_TOKEN="+env+"\n")
	secrets := []string{token, password, clientSecret, registry, env, strings.Split(key, "\n")[1], strings.Split(key, "\n")[2]}
	plant(t, n, secrets)
	for i, line := range strings.Split(key, "\n") {
		n.journal["containerd.service"] += fmt.Sprintf(`{"MESSAGE":%q,"n":"%d"}`+"\n", line, i)
	}
	checkClean(t, all(t, n.bundle()), secrets)
}

// A secret that begins before the kept end of a file leaves nothing in it.
func TestCutSecret(t *testing.T) {
	const limit = 4 << 20
	for _, back := range []int{20, 100, 200} {
		n := newNode(t)
		text := "x\n" + key + strings.Repeat("y", limit-back) + "\n"
		n.put("/var/log/cloud-init.log", text)
		if found := leaks(t, all(t, n.bundle()), strings.Split(key, "\n")[1], strings.Split(key, "\n")[2]); len(found) > 0 {
			t.Errorf("%d: %s", back, found)
		}
	}
}

// The bundle's archive has no secret either, besides the files: in names, or between them.
func TestArchiveIsClean(t *testing.T) {
	n := newNode(t)
	c := new(canaries)
	contract := contracts.Merge(contracts.Parse(t, "../../examples/native/full.yaml"), contracts.NativeSecrets(t, c.next).Document).AppendJSON(nil)
	n.put("/etc/slipway/config.yaml", string(contract))
	plant(t, n, c.all)
	var out bytes.Buffer
	if err := n.write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	checkClean(t, string(raw), c.all)
}

// The contract of the bundle is the one that was written, except for its secrets. Equal secrets have the same placeholder.
func TestContractStays(t *testing.T) {
	n := newNode(t)
	contract := contracts.Parse(t, "../../examples/native/full.yaml")
	n.put("/etc/slipway/config.yaml", string(contract.AppendJSON(nil)))
	text, _ := n.bundle().Read("contract.yaml")
	got, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := document.Parse(compile.NativeOf(compile.ReadOne("", contract.AppendJSON(nil)).Written()))
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]string)
	contracts.Walk(want, func(path string, n *document.Node) { values[path] = n.Text })
	contracts.Walk(got, func(path string, n *document.Node) {
		if n.Text != values[path] && !strings.HasPrefix(n.Text, "<secret ") {
			t.Errorf("%s: %q, want %q", path, n.Text, values[path])
		}
		delete(values, path)
	})
	if len(values) > 0 {
		t.Errorf("missing: %v", values)
	}
}
