package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
	"github.com/slipway-dev/slipway/test/detector"
)

// canary is in every secret of the documents below; only render and --reveal may print it.
const (
	canary = "canary0secret0"
	// canaryToken is a canary in the form of a bootstrap token.
	canaryToken = "canary.0secret012345678"
)

var (
	canaryKey = "-----BEGIN PRIVATE KEY-----\n" + base64.StdEncoding.EncodeToString([]byte(canary+canary+canary)) + "\n-----END PRIVATE KEY-----\n"
	// canaryNumber is a secret without quotes.
	canaryNumber = "918273645546"
	encodings    = []string{
		canary,
		canaryNumber,
		base64.StdEncoding.EncodeToString([]byte(canary + canary + canary))[:40],
		base64.StdEncoding.EncodeToString([]byte(canary))[:16],
		base64.StdEncoding.EncodeToString([]byte(canaryKey))[44:84],
		canaryToken,
	}
)

// needed are the required fields of a native contract beside its secrets.
const needed = `{"cluster":{"certificateAuthority":"","unsafeSkipCAVerification":true},"join":{"exec":{"command":"/bin/true"}},"access":{"realm":{"domain":"example.com","user":"u"}},"kubelet":{"imageCredentialProvider":{"binDir":"/opt/bin"}}}`

// nativeSecrets and aksSecrets have a canary in every secret.
func nativeSecrets(t *testing.T) *contracts.Secrets {
	return contracts.NativeSecrets(t, func(path string) string {
		switch path {
		case "$.join.bootstrapToken", "$.join.discoveryToken":
			return canaryToken
		case "$.join.clientCertificate.key":
			return canaryKey
		case "$.proxy.http", "$.proxy.https":
			return "http://u:" + canary + "@proxy.example:1"
		case "$.runtime.containerd.config":
			return `x = "` + canary + `"`
		}
		return canary
	})
}

func aksSecrets(t *testing.T) *contracts.Secrets {
	return contracts.AKSSecrets(t, func(path string) string {
		switch path {
		case "$.bootstrapping_config.tls_bootstrapping_token":
			return canaryToken
		case "$.kubelet_config.kubelet_client_key":
			return base64.StdEncoding.EncodeToString([]byte(canaryKey))
		case "$.auth_config.service_principal_secret":
			return base64.StdEncoding.EncodeToString([]byte(canary))
		case "$.http_proxy_config.http_proxy", "$.http_proxy_config.https_proxy":
			return "http://u:" + canary + "@proxy.example:1"
		}
		return canary
	})
}

// canaries is an example with secrets in it.
func canaries(t *testing.T, example string, secrets *contracts.Secrets) string {
	t.Helper()
	return string(contracts.Merge(parseTree([]byte(readExample(t, example))), secrets.Document).AppendJSON(nil))
}

func nativeCanary(t *testing.T) string {
	s := nativeSecrets(t)
	s.Document = contracts.Merge(s.Document, parseTree([]byte(needed)))
	return canaries(t, "native/full.yaml", s)
}

func aksCanary(t *testing.T) string { return canaries(t, "aks/azure-cni.json", aksSecrets(t)) }

// eksctlCanary has canaries where a ClusterConfig can hold a credential: in the kubelet's settings.
func eksctlCanary(t *testing.T) string {
	secrets := parseTree([]byte(`{"nodeGroups":[{"name":"a","amiFamily":"Ubuntu2404","kubeletExtraConfig":{"staticPodURL":"https://a.example","staticPodURLHeader":{"Authorization":["` + canary + `"]}}}]}`))
	return string(contracts.Merge(parseTree([]byte(readExample(t, "eksctl/minimal.yaml"))), secrets).AppendJSON(nil))
}

// canaryOf are the documents of each dialect with a canary in each secret field. The test file of a dialect adds its
// document.
var canaryOf = map[string]canaried{
	dialect.Native: {nativeCanary, func(t *testing.T) []string { return nativeSecrets(t).Paths }, 0},
	dialect.AKS:    {aksCanary, func(t *testing.T) []string { return aksSecrets(t).Paths }, 4},
	dialect.EKSCTL: {eksctlCanary, func(*testing.T) []string {
		return []string{"nodeGroups[0].kubeletExtraConfig.staticPodURLHeader", "kubelet.config.staticPodURLHeader.Authorization[0]"}
	}, 1},
	dialect.Kubeadm: {kubeadmCanary, func(*testing.T) []string { return []string{"discovery.bootstrapToken.token"} }, 1},
}

type canaried struct {
	document func(*testing.T) string
	// secrets are the paths of the canaries. kept is how many of them the translation keeps; 0 means all.
	secrets func(*testing.T) []string
	kept    int
}

func kubeadmCanary(t *testing.T) string {
	return strings.Replace(readExample(t, "kubeadm/join-configuration.yaml"), "abcdef.0123456789abcdef", canaryToken, 1)
}

// spoiled are documents with secrets at wrong positions.
func spoiled(t *testing.T) map[string]string {
	native, aks := nativeCanary(t), aksCanary(t)
	replaced := func(document, old, new string) string {
		if !strings.Contains(document, old) {
			t.Fatalf("no %q to replace", old)
		}
		return strings.Replace(document, old, new, 1)
	}
	line, kubeconfig := readExample(t, "kubeadm/join.txt"), readExample(t, "kubeadm/kubeconfig.yaml")
	token := `"bootstrapToken":"` + canaryToken + `"`
	documents := map[string]string{
		"misspelled":        replaced(native, token, `"bootstrapTokn":"`+canary+`"`),
		"a number":          replaced(native, `"password":"`+canary+`"`, `"password":`+canaryNumber),
		"a list":            replaced(native, token, `"bootstrapToken":["`+canary+`"]`),
		"a map":             replaced(native, token, `"bootstrapToken":{"x":"`+canary+`"}`),
		"not a map":         replaced(native, `"join":{`, `"join":"`+canary+`","unknown":{`),
		"in a number":       replaced(native, `"revision":3`, `"revision":"`+canary+`"`),
		"in an enumeration": replaced(native, `"effect":"NoSchedule"`, `"effect":"`+canary+`"`),
		"as a label":        replaced(native, `"team":"storage"`, `"team":"`+canary+`/"`),
		"as a server":       replaced(native, "https://api.cluster.example:6443", canary),
		"as a CA":           replaced(aks, `"kubernetes_ca_cert":"`, `"kubernetes_ca_cert":"`+canary),
		"as a version":      replaced(aks, `"version":"v1"`, `"version":"`+canary+`"`),
		"as another value":  replaced(aks, `"NETWORK_PLUGIN_AZURE"`, `"`+canary+`"`),
		"bad base64":        replaced(aks, `"service_principal_secret":"`, `"service_principal_secret":"!`+canary),
		"truncated":         aks[:strings.Index(aks, canaryToken)+len(canaryToken)],
		"bad JSON":          replaced(aks, `"`+canaryToken+`"`, `"`+canaryToken+`" oops`),
		"bad YAML":          replaced(readExample(t, "native/full.yaml"), "abcdef.0123456789abcdef", canaryToken+": }{"),
		"twice":             replaced(native, token, token+","+token),
		"a line":            replaced(line, "abcdef.0123456789abcdef", canaryToken),
		"a line's flag":     replaced(line, "abcdef.0123456789abcdef", canaryToken+" --"+canary),
		"a line's word":     replaced(line, "abcdef.0123456789abcdef", canaryToken+" "+canary),
		"a line's quote":    line[:len(line)-1] + " --node-name '" + canary,
		"a line's dollar":   line[:len(line)-1] + " --node-name $" + canary,
		"a line's token":    replaced(line, "abcdef.0123456789abcdef", canary),
		"a line's tokens":   replaced(line, "abcdef.0123456789abcdef", "fedcba.0123456789abcdef --discovery-token "+canaryToken),
		"a kubeconfig":      replaced(kubeconfig, "abcdef.0123456789abcdef", canaryToken),
		"its token":         replaced(kubeconfig, "abcdef.0123456789abcdef", canary),
		"its password":      replaced(kubeconfig, "token: abcdef.0123456789abcdef", "{username: u, password: "+canary+", what: "+canary+"}"),
		"its plug-in":       replaced(kubeconfig, "token: abcdef.0123456789abcdef", "{exec: {command: /x, args: ["+canary+"], env: [{name: A, value: "+canary+"}]}}"),
	}
	for name, text := range overrideCanaries {
		group := map[string]any{"nodeGroups": []any{map[string]any{"name": "a", "overrideBootstrapCommand": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n" + text}}}
		data, err := json.Marshal(group)
		if err != nil {
			t.Fatal(err)
		}
		documents[name] = string(contracts.Merge(parseTree([]byte(readExample(t, "eksctl/minimal.yaml"))), parseTree(data)).AppendJSON(nil))
	}
	for _, name := range dialect.Names() {
		of, ok := canaryOf[name]
		if !ok {
			t.Fatalf("canaryOf has no document of the dialect %s", name)
		}
		documents[name] = of.document(t)
	}
	return documents
}

// overrideCanaries are NodeConfigs of nodeadm's in a ClusterConfig, with canaries where they belong and where they do not.
var overrideCanaries = map[string]string{
	"an override": `spec:
  kubelet: {config: {staticPodURL: "https://a.example", staticPodURLHeader: {Authorization: ["` + canary + `"]}}, flags: ['--manifest-url-header="A:` + canary + `"']}
  containerd: {config: 'x = "` + canary + `"', baseRuntimeSpec: {process: {env: ["A=` + canary + `"]}}}
  instance: {environment: {default: {HTTPS_PROXY: "http://u:` + canary + `@proxy.example:1"}, kubelet: {TOKEN: "` + canary + `"}}}
`,
	"an override's fields": `spec:
  cluster: {name: "` + canary + `", apiServerEndpoint: "` + canary + `", certificateAuthority: "` + canary + `", cidr: "` + canary + `"}
  kubelet: {config: "` + canary + `", flags: ["` + canary + `"], maxPodsExpression: ["` + canary + `"]}
  containerd: {config: "` + canary + ` = ["}
  instance: {environment: {default: "` + canary + `"}, network: {nameservers: ["` + canary + `"]}}
  featureGates: {FastImagePull: "` + canary + `"}
`,
	"an override's end": "spec: {instance: {environment: {default: {TOKEN: \"" + canary,
}

// spoiledFields are the fields of the spoiled documents.
var spoiledFields = []string{
	"nodeGroups[0].overrideBootstrapCommand", "nodeGroups", "system.environment", "runtime.containerd",
	"join", "metadata", "kubelet.taints[0].effect", "unknown.exec", "access.realm.password",
	"auth_config.service_principal_secret", "network_config",
	"discovery", "discovery.bootstrapToken.token", "users", "users[0].user.token", "users[0].user.exec.args", "users[0].user.exec.env[0].value",
}

// secretFields are the paths of secrets, and of all their parents.
func secretFields(paths []string) []string {
	var fields []string
	for _, path := range paths {
		for at := strings.TrimPrefix(path, "$."); ; {
			fields = append(fields, at)
			cut := strings.LastIndexAny(at, ".[")
			if cut <= 0 {
				break
			}
			at = at[:cut]
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// TestNothingPrintsASecret runs every command on documents full of secrets, valid and invalid ones.
func TestNothingPrintsASecret(t *testing.T) {
	detector.Skip(t)
	other := writeFile(t, "other.yaml", readExample(t, "native/full.yaml"))
	for name, document := range spoiled(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := writeFile(t, "node.yaml", document)
			check := func(args ...string) {
				t.Helper()
				got := runHere("", args...)
				for _, secret := range encodings {
					if strings.Contains(got.out, secret) || strings.Contains(got.err, secret) {
						t.Errorf("slipway %s prints a secret:\n%s%s", strings.Join(args, " "), got.out, got.err)
					}
				}
			}
			for _, form := range []string{command.AsText, command.AsJSON} {
				check("validate", "-f", file, "-o", form)
				check("plan", "-f", file, "-o", form)
				check("diff", file, other, "-o", form)
				check("diff", other, file, "-o", form)
			}
			fields := spoiledFields
			if of, whole := canaryOf[name]; whole {
				fields = secretFields(of.secrets(t))
			} else if strings.HasPrefix(name, "as ") { // a label's value is public
				fields = nil
			}
			for _, field := range fields {
				check("explain", "-f", file, field)
				if !testing.Short() { // each time takes as long as planning the document for many values
					check("explain", "-f", file, field, "-o", "json")
				}
			}
			check("render", "-f", file, "--to", "cse")
			check("__complete", "explain", "-f", file, "")
			check("__complete", "plan", "-f", file, "--show", "")
			for _, path := range filesOf(document) {
				check("plan", "-f", file, "--show", path)
				check("plan", "-f", file, "--show", path, "-o", "json")
			}
			if plan := runHere("", "plan", "-f", file, "-o", "json"); plan.code == 0 {
				check("diff", writeFile(t, "plan.json", plan.out), other)
				check("diff", writeFile(t, "plan.json", plan.out), file, "-o", "json")
			}
		})
	}
}

// filesOf returns the paths of the files in a document's plan.
func filesOf(document string) []string {
	c := decode("", []byte(document), compile.Reading{})
	if !c.valid() {
		return nil
	}
	var paths []string
	for _, r := range c.plan(facts.Facts{}).Resources {
		if file, ok := r.Spec.(*resource.File); ok {
			paths = append(paths, file.Path)
		}
	}
	return paths
}

// TestCanariesAreThere holds that the documents above are parsed as intended, so that the test of them is meaningful.
func TestCanariesAreThere(t *testing.T) {
	for name, of := range canaryOf {
		document := of.document(t)
		c := decode("", []byte(document), compile.Reading{Dialect: name})
		if !c.valid() {
			t.Fatalf("%s: %v", name, c.Problems)
		}
		want := cmp.Or(of.kept, len(of.secrets(t)))
		encoded := string(nodeconfig.Encode(c.Config))
		got := 0
		for _, form := range []string{canary, canaryToken, encodings[2]} {
			got += strings.Count(encoded, form)
		}
		if got < want {
			t.Errorf("%s: only %d canaries of %d are in %s", name, got, want, encoded)
		}
		revealed := runHere(document, "plan", "-f", "-", "--reveal", "--show", filesOf(document)[len(filesOf(document))-1])
		if revealed.code != 0 {
			t.Errorf("%s: %s", name, revealed.err)
		}
	}
}
