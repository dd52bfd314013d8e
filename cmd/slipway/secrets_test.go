package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// canary is in every secret of the documents below; nothing but render and --reveal may print it.
const (
	canary = "canary0secret0"
	// canaryToken is a canary in the form of a bootstrap token.
	canaryToken = "canary.0secret012345678"
)

var (
	canaryKey = "-----BEGIN PRIVATE KEY-----\n" + base64.StdEncoding.EncodeToString([]byte(canary+canary+canary)) + "\n-----END PRIVATE KEY-----\n"
	// canaryNumber is a secret whose author forgot the quotes.
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

// nativeCanary is a native contract with a canary in every secret.
func nativeCanary(t *testing.T) string {
	example := strings.NewReplacer(
		"    limits: {NOFILE", "    registryHeaders: {Authorization: Basic "+canary+"}\n    limits: {NOFILE",
		"    maxPods: 200\n", "    maxPods: 200\n    staticPodURLHeader: {Authorization: ["+canary+"]}\n",
		"  flags:\n", "  imageCredentialProvider:\n    binDir: /opt/bin\n    config: {providers: [{name: p, matchImages: [x.example], defaultCacheDuration: 1m, apiVersion: credentialprovider.kubelet.k8s.io/v1, args: ["+canary+"], env: [{name: A, value: "+canary+"}]}]}\n"+
			"  flags:\n    - {name: manifest-url-header, value: \"Authorization:"+canary+"\"}\n",
	).Replace(readExample(t, "native/full.yaml"))
	return strings.Replace(example, "join:\n  bootstrapToken: abcdef.0123456789abcdef\n", fmt.Sprintf(`
join:
  bootstrapToken: %[3]s
  clientCertificate: {key: %[2]q}
  exec: {command: /bin/true, env: [{name: A, value: %[1]s}]}
proxy: {http: "http://u:%[1]s@proxy.example:1", https: "http://u:%[1]s@proxy.example:2"}
access: {realm: {domain: example.com, user: u, password: %[1]s}}
cloud: {azure: {identity: {clientSecret: %[1]s}}}
`, canary, canaryKey, canaryToken), 1)
}

// aksCanary is an AKS contract with a canary in every secret.
func aksCanary(t *testing.T) string {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return strings.NewReplacer(
		"abcdef.0123456789abcdef", canaryToken,
		`"auth_config": {`, fmt.Sprintf(`"auth_config": {"service_principal_secret": %q,`, encode(canary)),
		`"kubelet_config": {`, fmt.Sprintf(`"http_proxy_config": {"http_proxy": "http://u:%[1]s@p:1", "httpsProxy": "http://u:%[1]s@p:2"},
			"custom_search_domain_config": {"realm_password": %[1]q},
			"kubelet_config": {"kubelet_client_key": %[2]q,`, canary, encode(canaryKey)),
	).Replace(readExample(t, "aks/azure-cni.json"))
}

// spoiled are documents in which the secrets are where they do not belong.
func spoiled(t *testing.T) map[string]string {
	native, aks := nativeCanary(t), aksCanary(t)
	replaced := func(document, old, new string) string {
		if !strings.Contains(document, old) {
			t.Fatalf("no %q to replace", old)
		}
		return strings.Replace(document, old, new, 1)
	}
	token := "bootstrapToken: " + canaryToken
	return map[string]string{
		"native":            native,
		"aks":               aks,
		"misspelled":        replaced(native, token, "bootstrapTokn: "+canary),
		"a number":          replaced(native, "password: "+canary, "password: "+canaryNumber),
		"a list":            replaced(native, token, "bootstrapToken: ["+canary+"]"),
		"a map":             replaced(native, token, "bootstrapToken: {x: "+canary+"}"),
		"not a map":         replaced(native, "\njoin:\n", "\njoin: "+canary+"\nunknown:\n"),
		"in a number":       replaced(native, "  revision: 3", "  revision: "+canary),
		"in an enumeration": replaced(native, "effect: NoSchedule", "effect: "+canary),
		"as a label":        replaced(native, "team: storage", "team: "+canary+"/"),
		"as a server":       replaced(native, "https://api.cluster.example:6443", canary),
		"as a CA":           replaced(aks, `"kubernetes_ca_cert": "`, `"kubernetes_ca_cert": "`+canary),
		"as a version":      replaced(aks, `"version": "v1"`, `"version": "`+canary+`"`),
		"as another value":  replaced(aks, `"NETWORK_PLUGIN_AZURE"`, `"`+canary+`"`),
		"bad base64":        replaced(aks, `"service_principal_secret": "`, `"service_principal_secret": "!`+canary),
		"truncated":         aks[:strings.Index(aks, canaryToken)+len(canaryToken)],
		"bad JSON":          replaced(aks, `"`+canaryToken+`"`, `"`+canaryToken+`" oops`),
		"bad YAML":          replaced(native, token, token+": }{"),
		"twice":             replaced(native, token, token+"\n  "+token),
	}
}

// secretFields are fields that hold secrets, or something that does; spoiledFields are those that the
// spoiled documents are about.
var (
	spoiledFields = []string{
		"join", "metadata", "kubelet.taints[0].effect", "unknown.exec", "access.realm.password",
		"auth_config.service_principal_secret", "network_config",
	}
	secretFields = append([]string{
		"join.bootstrapToken", "join.exec.env", "proxy", "cloud.azure.identity", "bootstrapping_config", "http_proxy_config",
		"kubelet_config.kubelet_client_key", "custom_search_domain_config",
		"runtime.containerd", "runtime.containerd.registryHeaders", "runtime.containerd.registryHeaders.Authorization",
		"kubelet", "kubelet.config", "kubelet.config.staticPodURLHeader", "kubelet.flags", "kubelet.flags[0]", "kubelet.flags[0].value",
		"kubelet.imageCredentialProvider", "kubelet.imageCredentialProvider.config",
		"kubelet.imageCredentialProvider.config.providers[0].args", "kubelet.imageCredentialProvider.config.providers[0].env[0].value",
	}, spoiledFields...)
)

// TestNothingPrintsASecret runs every command on documents full of secrets, good and bad ones.
func TestNothingPrintsASecret(t *testing.T) {
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
			switch {
			case name == dialect.Native || name == dialect.AKS:
				fields = secretFields
			case strings.HasPrefix(name, "as "): // a label's value is no secret, once it is one
				fields = nil
			}
			for _, field := range fields {
				check("explain", "-f", file, field)
				check("explain", "-f", file, field, "-o", "json")
			}
			check("render", "-f", file, "--to", "cse", "-o", "json")
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

// filesOf returns the paths of the files of a document's plan.
func filesOf(document string) []string {
	c := decode("", []byte(document), "")
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

// TestCanariesAreThere holds that the documents above are read as they are meant to be, so that the
// test of them is one.
func TestCanariesAreThere(t *testing.T) {
	for name, document := range map[string]string{dialect.Native: nativeCanary(t), dialect.AKS: aksCanary(t)} {
		c := decode("", []byte(document), name)
		if !c.valid() {
			t.Fatalf("%s: %v", name, c.Problems)
		}
		config := c.Config
		secrets := []nodeconfig.Secret{config.Join.BootstrapToken, config.Join.ClientCertificate.Key, config.Cloud.Azure.Identity.ClientSecret}
		if name == dialect.Native {
			secrets = append(secrets, config.Proxy.HTTP, config.Proxy.HTTPS, config.Access.Realm.Password)
		}
		for i, secret := range secrets {
			if !strings.Contains(secret.Reveal(), canary) && secret.Reveal() != canaryToken && !strings.Contains(secret.Reveal(), encodings[2]) {
				t.Errorf("%s: secret %d holds no canary", name, i)
			}
		}
		revealed := runHere(document, "plan", "-f", "-", "--reveal", "--show", filesOf(document)[len(filesOf(document))-1])
		if revealed.code != 0 {
			t.Errorf("%s: %s", name, revealed.err)
		}
	}
}
