package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The provider runs as the kubelet runs it, with the contract's proxy. Errors do not contain its answer.
func TestProviderGivesLogin(t *testing.T) {
	const image, secret = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5", "canary-password"
	const asked = `read -r request; [ "$request" = '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"` + image + `","kind":"CredentialProviderRequest"}' ] || exit 9; [ "$HTTPS_PROXY" = http://proxy:1 ] || exit 8; `
	auth := func(registry string) string {
		return `"` + registry + `": {"username": "AWS", "password": "` + secret + `"}`
	}
	answer := func(auth ...string) string {
		return asked + `echo '{"kind": "CredentialProviderResponse", "apiVersion": "credentialprovider.kubelet.k8s.io/v1", "cacheKeyType": "Registry", "auth": {` + strings.Join(auth, ",") + `}}'; echo noise >&2`
	}
	const registry = "111122223333.dkr.ecr.eu-west-1.amazonaws.com"
	for name, c := range map[string]struct{ script, want string }{
		"the registry": {answer(auth(registry)), ""},
		"among others": {answer(auth("other.example"), auth(registry)), ""},
		"a pattern":    {answer(auth("*.dkr.ecr.*.amazonaws.com")), ""},
		"no password":  {answer(`"` + registry + `": {"username": "AWS"}`), "has no credentials for " + registry},
		"others":       {answer(auth("a.example"), auth("b.example")), "has no credentials for " + registry},
		"nothing":      {answer(), "has no credentials for " + registry},
		"no response":  {asked + `echo '{"kind": "Other", "auth": {` + auth(registry) + `}}'`, "does not answer with a CredentialProviderResponse"},
		"no JSON":      {asked + `echo '` + secret + `'`, "does not answer with a CredentialProviderResponse"},
		"too much":     {asked + `head -c 100000 /dev/zero; echo ` + secret, "gives no credentials for the image"},
		"a failure":    {asked + `echo ` + secret + `; exit 3`, "gives no credentials for the image: exit status 3"},
	} {
		program := filepath.Join(t.TempDir(), "provider")
		if err := os.WriteFile(program, []byte("#!/bin/bash\n"+c.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		login, err := providerLogin(t.Context(), &resource.Image{Image: image, Provider: program, Reach: resource.Reach{HTTPS: resource.Hidden{Secret: nodeconfig.NewSecret("http://proxy:1")}}})
		switch {
		case c.want == "" && (err != nil || login.Username != "AWS" || login.Password != secret || login.Server != registry):
			t.Errorf("%s: %v, %v", name, login, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret)):
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := providerLogin(t.Context(), &resource.Image{Image: image, Provider: filepath.Join(t.TempDir(), "missing")}); err == nil {
		t.Error("a provider that is missing gives a login")
	}
}
