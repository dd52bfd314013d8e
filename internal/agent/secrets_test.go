package agent

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/detector"
)

// The canaries, one for each field that is secret; that of a key is a line of it.
const (
	tokenCanary  = "canary.token0123456789a"
	secretCanary = "canary-principal-0123456789"
	proxyCanary  = "canary-proxy-0123456789"
	execCanary   = "canary-exec-0123456789"
	realmCanary  = "canary-realm-0123456789"
)

// keyPair is the example's client certificate with its key. The example contract has them as base64 of PEM.
func keyPair(t *testing.T) (certificate, key string) {
	t.Helper()
	var contract struct {
		Kubelet struct {
			Certificate []byte `json:"kubelet_client_cert_content"`
			Key         []byte `json:"kubelet_client_key"`
		} `json:"kubelet_config"`
	}
	if err := json.Unmarshal(example(t, "aks/client-certificate.json"), &contract); err != nil {
		t.Fatal(err)
	}
	return string(contract.Kubelet.Certificate), string(contract.Kubelet.Key)
}

// keyCanary is the second line of the client key.
func keyCanary(t *testing.T) string {
	t.Helper()
	_, key := keyPair(t)
	return strings.Split(key, "\n")[1]
}

// forms are all texts that show a canary.
func forms(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, canary := range []string{tokenCanary, secretCanary, keyCanary(t), proxyCanary, execCanary, realmCanary} {
		raw := []byte(canary)
		all = append(all, canary, base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw), hex.EncodeToString(raw),
			strings.ToUpper(hex.EncodeToString(raw)), url.QueryEscape(canary), canary[7:])
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write(raw)
		_ = w.Close()
		all = append(all, base64.StdEncoding.EncodeToString(zipped.Bytes()))
	}
	return all
}

// clean requires that a text shows no form of a canary.
func clean(t *testing.T, forms []string, where, text string) {
	t.Helper()
	for _, form := range forms {
		if at := strings.Index(text, form); at >= 0 {
			t.Errorf("%s shows %q: ...%s...", where, form, text[max(0, at-100):min(len(text), at+100)])
			return
		}
	}
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// secretContracts are contracts with a canary in every secret that they can hold, by path.
func secretContracts(t *testing.T) map[string]struct{ path, document string } {
	t.Helper()
	aks := map[string]any{
		"auth_config":          map[string]any{"service_principal_secret": encoded(secretCanary)},
		"bootstrapping_config": map[string]any{"tls_bootstrapping_token": tokenCanary},
		"http_proxy_config":    map[string]any{"http_proxy": "http://u:" + proxyCanary + "@proxy:3128", "https_proxy": "http://u:" + proxyCanary + "@proxy:3128"},

		"custom_search_domain_config": map[string]any{"domain_name": "d.example", "realm_user": "u", "realm_password": realmCanary},
	}
	certificate := map[string]any{
		"auth_config":          map[string]any{"service_principal_secret": encoded(secretCanary)},
		"bootstrapping_config": nil,
	}
	native := string(example(t, "native/minimal.yaml"))
	native, _, _ = strings.Cut(native, "join:")
	native += "cloud: {azure: {identity: {clientSecret: '" + secretCanary + "'}}}\nproxy: {http: 'http://u:" + proxyCanary + "@p:1', https: 'http://u:" + proxyCanary + "@p:1'}\n" +
		"access: {realm: {domain: d.example, user: u, password: '" + realmCanary + "'}}\n"
	certificatePEM, keyPEM := keyPair(t)
	return map[string]struct{ path, document string }{
		"AKS, token":          {aksContract, string(aksWith(t, "azure-cni.json", aks))},
		"AKS, certificate":    {aksContract, string(aksWith(t, "client-certificate.json", certificate))},
		"native, token":       {nativeContract, native + "join: {bootstrapToken: '" + tokenCanary + "'}\n"},
		"native, plug-in":     {nativeContract, native + "join: {exec: {command: /opt/bin/plugin, env: [{name: X, value: '" + execCanary + "'}]}}\n"},
		"native, certificate": {nativeContract, native + fmt.Sprintf("join: {method: ClientCertificate, clientCertificate: {certificate: %q, key: %q}}\n", certificatePEM, keyPEM)},
		// Unusable documents, each with a secret near the error.
		"truncated":          {aksContract, `{"version":"v1","bootstrapping_config":{"tls_bootstrapping_token":"` + tokenCanary},
		"in the wrong place": {aksContract, string(aksWith(t, "minimal.json", map[string]any{"kubernetes_version": tokenCanary}))},
		"in every place": {aksContract, string(aksWith(t, "minimal.json", map[string]any{
			"kubernetes_ca_cert": tokenCanary, "api_server_config": tokenCanary, "cse_timeout": tokenCanary, "is_vhd": tokenCanary,
			"network_config": map[string]any{"network_plugin": tokenCanary}, "auth_config": map[string]any{"service_principal_secret": tokenCanary + "!"},
			"kubelet_config":         map[string]any{"container_data_dir": tokenCanary, "kubelet_node_labels": map[string]any{"x": tokenCanary + "/"}},
			"custom_linux_os_config": map[string]any{"sysctl_config": map[string]any{"net_ipv4_ip_local_port_range": tokenCanary}, "ulimit_config": map[string]any{"no_file": tokenCanary}},
		}))},
		"an invalid token": {nativeContract, native + "join: {bootstrapToken: \"" + tokenCanary + "\\n\"}\n"},
		"an invalid key":   {aksContract, string(aksWith(t, "client-certificate.json", map[string]any{"kubelet_config": map[string]any{"kubelet_client_key": keyCanary(t)}}))},
		"a number":         {nativeContract, native + "join: {bootstrapToken: [" + tokenCanary + "]}\n"},
	}
}

// No secret is shown in a document, an event, the log, a plan, an error or a panic's trace, whether the provisioning
// succeeds, fails or panics.
func TestSecretsAreNotShown(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	errEvil := errors.New("failed")
	shown := forms(t)
	for name, contract := range secretContracts(t) {
		for how, before := range map[string]func(op, name string) error{
			"nothing in the way": func(string, string) error { return nil },
			"a failure":          func(op, _ string) error { return map[bool]error{true: errEvil}[op == "StartUnit" || op == "Probe"] },
			"a full disk":        func(op, _ string) error { return map[bool]error{true: errEvil}[op == "Stage"] },
			"a defect in a file": func(op, _ string) error {
				if op == "Commit" {
					panic("defect")
				}
				return nil
			},
			"a defect in a unit": func(op, _ string) error {
				if op == "StartUnit" || op == "Addresses" {
					panic("defect")
				}
				return nil
			},
		} {
			where := name + ", " + how
			n := newNode(t)
			n.deliver(contract.path, []byte(contract.document))
			n.host.before = before
			dry := n.Provision(t.Context(), ProvisionOptions{DryRun: true})
			result := n.Provision(t.Context(), ProvisionOptions{})
			document, code, err := n.Wait(t.Context())
			for what, text := range map[string]string{
				"the log": n.log.String(), "the status": string(n.read(state.Status.Path)), "AKS's result": string(n.read(aksPlace.result.Path)),
				"the native result": string(n.read(nativePlace.result.Path)), "the facts": string(n.read(FactsPath)),
				"the record of actions": string(n.read("/run/slipway/actions.jsonl")), "the intent": string(n.read("/var/lib/slipway/intent.json")),
				"what waited got": fmt.Sprint(string(document), code, err), "what was returned": fmt.Sprintf("%+v %#v", result, result),
				"a dry run": fmt.Sprintf("%+v %s", dry, printed(t, dry)), "the report": printed(t, result), "events": fmt.Sprint(n.events()),
			} {
				clean(t, shown, where+": "+what, text)
			}
			if how == "nothing in the way" {
				clean(t, shown, where+": the plan", planJSON(t, contract.document, n))
			}
		}
	}
}

// printed is the output for a person, and the output for a program.
func printed(t *testing.T, s interface {
	Marshal() ([]byte, error)
}) string {
	t.Helper()
	document, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(document)
}

func planJSON(t *testing.T, document string, n *node) string {
	t.Helper()
	decoded := dialect.Decode([]byte(document), "")
	if decoded.Config.Cluster.KubernetesVersion == "" || len(decoded.Problems) > 0 && decoded.Problems[0].Fatal {
		return ""
	}
	p, problems := plan.New(decoded.Config, *ubuntu(t))
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	preview, err := json.Marshal(n.Provision(context.Background(), ProvisionOptions{DryRun: true}))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(string(text), problems, string(preview))
}

// The canaries do arrive in the right files, which only root reads. Otherwise the tests above would prove nothing.
func TestSecretsArrive(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{
		"AKS, token":       {"/var/lib/kubelet/bootstrap-kubeconfig": tokenCanary, "/etc/kubernetes/azure.json": secretCanary},
		"AKS, certificate": {"/etc/kubernetes/certs/client.key": keyCanary(t), "/etc/kubernetes/azure.json": secretCanary},
		"native, token":    {"/etc/kubernetes/bootstrap-kubelet.conf": tokenCanary, "/etc/kubernetes/azure.json": secretCanary},
		"native, plug-in":  {"/etc/kubernetes/kubelet.conf": execCanary},

		"native, certificate": {"/etc/kubernetes/pki/kubelet-client.key": keyCanary(t)},
	}
	shown := forms(t)
	for name, contract := range secretContracts(t) {
		n := newNode(t)
		n.deliver(contract.path, []byte(contract.document))
		got := n.provision()
		if (got.ExitCode == 0) != (want[name] != nil) && name != "in every place" {
			t.Errorf("%s: %d, %v", name, got.ExitCode, got.Error)
		}
		for path, canary := range want[name] {
			if !bytes.Contains(n.read(path), []byte(canary)) {
				t.Errorf("%s: %s is not in %s", name, canary, path)
			}
		}
		for path, content := range n.snapshot() {
			if path == contract.path {
				continue
			}
			if !strings.HasPrefix(content, "-rw-------") && !strings.HasPrefix(content, "d") {
				clean(t, shown, name+": "+path, content)
			}
		}
	}
}
