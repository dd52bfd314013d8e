package karpenter_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestBootstrapper: each form of user data contains the token once; a malformed token is an error that does not show it.
func TestBootstrapper(t *testing.T) {
	f := newFixture(t, nil, claimOf(t, "general-abcde", ""))
	f.lifecycle("general-abcde")
	template := f.cloud.started[0].Launch
	token := nodeconfig.NewSecret("abcdef.0123456789canary")
	forms := map[string]func(nodeconfig.Secret) (string, error){
		"native": func(s nodeconfig.Secret) (string, error) {
			return karpenter.Bootstrapper{Launch: template, Token: s}.Script()
		},
		"scripts": func(s nodeconfig.Secret) (string, error) {
			return karpenter.Bootstrapper{Launch: template, Token: s, Scripts: true}.Script()
		},
		"both": func(s nodeconfig.Secret) (string, error) {
			data, cse, err := karpenter.Bootstrapper{Launch: template, Token: s}.GetCustomDataAndCSE(f.ctx)
			if err == nil && !strings.HasSuffix(cse, " provision-wait") {
				t.Errorf("the command is %s", cse)
			}
			return data, err
		},
	}
	for name, form := range forms {
		data, err := form(token)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name != "scripts" {
			text = []byte(userDataOf(t, karpenter.Launch{UserData: nodeconfig.NewSecret(data)}))
		}
		if strings.Count(string(text), token.Reveal()) != 1 {
			t.Errorf("%s: the token is there %d times", name, strings.Count(string(text), token.Reveal()))
		}
		if _, err := form(nodeconfig.NewSecret("canary")); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCustomDataTooLarge: custom data over Azure's limit is an error here.
func TestCustomDataTooLarge(t *testing.T) {
	labels := make(map[string]string)
	for i := range 3000 {
		labels["example.com/"+strings.Repeat("a", 40)+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))] = strings.Repeat("x", 60)
	}
	in := inputs(t, "")
	template := launch.Render(azureInput(t, in), launch.Request{Claim: &launch.NodeClaim{Metadata: launch.Meta{Name: "general-abcde", Labels: labels}}})
	if _, _, err := (karpenter.Bootstrapper{Launch: template, Token: nodeconfig.NewSecret("abcdef.0123456789abcdef")}).GetCustomDataAndCSE(t.Context()); err == nil {
		t.Error("3000 labels have room")
	}
}
