package nodeconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

const canary = "hunter2"

// holders are values of all kinds that can contain a Secret.
func holders() map[string]any {
	secret := nodeconfig.NewSecret(canary)
	config := &nodeconfig.NodeConfig{}
	config.Join.BootstrapToken = secret
	config.Join.ClientCertificate = &nodeconfig.ClientCertificate{Key: secret}
	config.Proxy.HTTP = secret
	config.Access.Realm = &nodeconfig.Realm{Password: secret}
	type exported struct{ Secret nodeconfig.Secret }
	type unexported struct{ secret nodeconfig.Secret }
	return map[string]any{
		"value":             secret,
		"pointer":           &secret,
		"slice":             []nodeconfig.Secret{secret},
		"map":               map[string]nodeconfig.Secret{"a": secret},
		"exported field":    exported{secret},
		"unexported field":  unexported{secret},
		"pointer to struct": &unexported{secret},
		"interface":         []any{secret, &secret},
		"config":            config,
		"config by value":   *config,
	}
}

// TestSecretIsNotFormatted tries every verb, including wrong ones, and none: fmt's message about a wrong verb includes the value.
func TestSecretIsNotFormatted(t *testing.T) {
	for name, holder := range holders() {
		for _, verb := range strings.Fields("%v %+v %#v %s %+s %q %#q %x %X %#x %d %t %T %p %c %U %b %o %e %f %g %w %z %20v %-20s %.2s %08d %! none") {
			if got := fmt.Sprintf(verb, holder); leaks(got) {
				t.Errorf("%s with %s: %s", name, verb, got)
			}
		}
		for how, got := range map[string]string{
			"Sprint":   fmt.Sprint(holder),
			"Sprintln": fmt.Sprintln("a", holder),
			"Errorf":   fmt.Errorf("wrong: %v", holder).Error(),
			"joined":   errors.Join(fmt.Errorf("%w: %+v", errors.New("wrong"), holder)).Error(),
			"panic":    recovered(holder),
		} {
			if leaks(got) {
				t.Errorf("%s by %s: %s", name, how, got)
			}
		}
	}
}

func recovered(value any) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	panic(value)
}

// leaks finds the canary as a string, in hexadecimal, and as a list of bytes.
func leaks(s string) bool {
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), strings.Trim(fmt.Sprint([]byte(canary)), "[]")} {
		if strings.Contains(s, form) {
			return true
		}
	}
	return false
}

// TestSecretIsNotMarshalled: neither the value nor a placeholder, which would reach every machine of a pool, is marshalled.
func TestSecretIsNotMarshalled(t *testing.T) {
	for name, holder := range holders() {
		exported := name != "unexported field" && name != "pointer to struct" // marshalling does not reach the others
		for form, marshal := range map[string]func(any) ([]byte, error){"JSON": json.Marshal, "YAML": yaml.Marshal} {
			got, err := marshal(holder)
			if exported && (err == nil || !strings.Contains(err.Error(), "nodeconfig.Encode")) || !exported && err != nil {
				t.Errorf("%s as %s: %q, %v", name, form, got, err)
			}
			if leaks(string(got)) || err != nil && leaks(err.Error()) {
				t.Errorf("%s as %s: %s, %v", name, form, got, err)
			}
		}
	}
	if got, err := json.Marshal(new(nodeconfig.NodeConfig)); err != nil {
		t.Errorf("a config without a secret: %s, %v", got, err)
	}
}

// TestEncode: the encoded document has the config's secrets, and reads back as the same config.
func TestEncode(t *testing.T) {
	config := fullConfig()
	form := nodeconfig.Encode(config)
	if strings.Contains(string(form), nodeconfig.Redacted) {
		t.Errorf("a secret is not in %s", form)
	}
	again, problems := decode(form)
	if len(problems) > 0 || string(nodeconfig.Encode(again)) != string(form) {
		t.Errorf("%v\n%s\nbecame\n%s", problems, form, nodeconfig.Encode(again))
	}
}

// filled is a config with a canary in every field that can hold a secret.
func filled(t *testing.T, canary func(path string) string) (*document.Node, []string) {
	t.Helper()
	secrets := contracts.NativeSecrets(t, canary)
	if len(secrets.Paths) < 16 {
		t.Errorf("only %d secrets: %q", len(secrets.Paths), secrets.Paths)
	}
	return secrets.Document, secrets.Paths
}

// TestEverySecret: a secret in any field, also in free data and among the flags, is neither shown nor marshalled, and Encode writes
// it.
func TestEverySecret(t *testing.T) {
	_, paths := filled(t, func(string) string { return canary })
	for _, path := range paths {
		full, _ := filled(t, func(at string) string {
			if at == path {
				return canary
			}
			return ""
		})
		config, problems := nodeconfig.FromTree(full)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for name, marshal := range map[string]func(any) ([]byte, error){"JSON": json.Marshal, "YAML": yaml.Marshal} {
			if got, err := marshal(config); err == nil || leaks(string(got)) || leaks(err.Error()) {
				t.Errorf("%s as %s: %s, %v", path, name, got, err)
			}
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", config)
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", *config)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			if shown := fmt.Sprintf(verb, *config); leaks(shown) {
				t.Errorf("%s is shown by %s: %s", path, verb, shown)
			}
		}
		if leaks(log.String()) {
			t.Errorf("%s is logged: %s", path, log.String())
		}
		if !leaks(string(nodeconfig.Encode(config))) {
			t.Errorf("%s is not encoded", path)
		}
	}
}

// TestSecretsMadeInGo: free data that Default has not sealed is not marshalled either, and data that other configs share is not
// changed.
func TestSecretsMadeInGo(t *testing.T) {
	header := map[string]any{"Authorization": []string{canary}}
	data := map[string]any{"staticPodURLHeader": header, "maxPods": 3}
	config := &nodeconfig.NodeConfig{Kubelet: nodeconfig.Kubelet{Config: data, ImageCredentialProvider: &nodeconfig.ImageCredentialProvider{}}}
	if got, err := json.Marshal(config); err == nil {
		t.Errorf("marshalled: %s", got)
	}
	nodeconfig.Default(config)
	if got := fmt.Sprint(config.Kubelet.Config); leaks(got) || !strings.Contains(got, "maxPods:3") {
		t.Errorf("shown: %s", got)
	}
	if !reflect.DeepEqual(data, map[string]any{"staticPodURLHeader": map[string]any{"Authorization": []string{canary}}, "maxPods": 3}) {
		t.Error("the caller's data is changed")
	}
	plain, secret := nodeconfig.Revealed(config.Kubelet.Config)
	if want := (map[string]any{"staticPodURLHeader": map[string]any{"Authorization": []any{canary}}, "maxPods": 3}); !secret || !reflect.DeepEqual(plain, want) {
		t.Errorf("revealed: %v, %v", secret, plain)
	}
	if _, secret := nodeconfig.Revealed(map[string]any{"maxPods": 3}); secret {
		t.Error("a number of pods is a secret")
	}
}

// TestPartsMadeInGo: a type with free data shows and marshals none of its credentials, alone or in a config, before Default has
// sealed it.
func TestPartsMadeInGo(t *testing.T) {
	provider := nodeconfig.ImageCredentialProvider{Config: map[string]any{"providers": []any{map[string]any{"args": []string{canary}}}}}
	kubelet := nodeconfig.Kubelet{Config: map[string]any{"staticPodURL": canary}}
	containerd := nodeconfig.Containerd{BaseRuntimeSpec: map[string]any{"process": map[string]any{"env": []any{canary}}}}
	for name, part := range map[string]any{
		"kubelet": kubelet, "provider": provider, "pointer": &provider, "containerd": containerd, "runtime": nodeconfig.Runtime{Containerd: containerd},
		"list":            []any{kubelet, &containerd},
		"kubelet, config": nodeconfig.NodeConfig{Kubelet: kubelet}, "containerd, config": &nodeconfig.NodeConfig{Runtime: nodeconfig.Runtime{Containerd: containerd}},
		"provider, config": nodeconfig.NodeConfig{Kubelet: nodeconfig.Kubelet{ImageCredentialProvider: &provider}},
	} {
		for form, marshal := range map[string]func(any) ([]byte, error){"JSON": json.Marshal, "YAML": yaml.Marshal} {
			if got, err := marshal(part); err == nil || leaks(string(got)) || leaks(err.Error()) {
				t.Errorf("%s as %s: %s, %v", name, form, got, err)
			}
		}
		for _, verb := range strings.Fields("%v %+v %#v %s %q %d %x %t %20v") {
			if shown := fmt.Sprintf(verb, part); leaks(shown) {
				t.Errorf("%s is shown by %s: %s", name, verb, shown)
			}
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "part", part)
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "part", part)
		if leaks(log.String()) {
			t.Errorf("%s is logged: %s", name, log.String())
		}
	}
	kubelet.Config = map[string]any{"maxPods": 3}
	if got, err := json.Marshal(kubelet); err != nil || string(got) != `{"config":{"maxPods":3}}` {
		t.Errorf("without a credential: %s, %v", got, err)
	}
	if got := fmt.Sprintf("%+v", kubelet); !strings.Contains(got, "Config:map[maxPods:3]") {
		t.Errorf("without a credential: %s", got)
	}
}

// TestSecretNumbers: a number in a field for a secret string is exactly that text, and is as secret.
func TestSecretNumbers(t *testing.T) {
	config, problems := decode([]byte(`{"kubelet":{"imageCredentialProvider":{"config":{"providers":[{"env":[{"name":"A","value":1.50}]},{"args":true}]}}}}`))
	form := string(nodeconfig.Encode(config))
	if want := `{"providers":[{"env":[{"name":"A","value":"1.50"}]},{"args":"true"}]}`; len(problems) > 0 || !strings.Contains(form, want) {
		t.Errorf("%v, %s", problems, form)
	}
	if got := fmt.Sprint(config.Kubelet.ImageCredentialProvider.Config); strings.Contains(got, "1.5") {
		t.Error(got)
	}
}

func TestIsSecretPlace(t *testing.T) {
	for path, want := range map[string]bool{
		"$.kubelet.config.staticPodURLHeader": true, "$.kubelet.config.staticPodURLHeader.Authorization[0]": true,
		"$.kubelet.config.staticPodURL": true, "$.kubelet.config.staticPodURLHeaders": false, "$.kubelet.config.staticPodPath": false, "$.kubelet.config": false, "$": false,
		"$.kubelet.imageCredentialProvider.config.providers[12].env[0].value": true, "$.kubelet.imageCredentialProvider.config.providers[0]": false,
		"$.kubelet.imageCredentialProvider.config.providers.env": false, "$.kubelet.imageCredentialProvider.config.providers[0].environment": false,
	} {
		if got := nodeconfig.IsSecretPlace(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for _, name := range []string{"manifest-url", "manifest-url-header", "--manifest-url-header", "--manifest_url_header"} {
		if !nodeconfig.IsSecretFlag(name) {
			t.Errorf("%s is not a secret's path", name)
		}
	}
	if nodeconfig.IsSecretFlag("pod-manifest-path") {
		t.Error("a flag without a secret is one")
	}
}

// TestRedactedIsRefused: the placeholder of a secret is refused in every field for a secret.
func TestRedactedIsRefused(t *testing.T) {
	_, paths := filled(t, func(string) string { return canary })
	for _, path := range paths {
		for _, sign := range []string{nodeconfig.Redacted, nodeconfig.Redacted + "\n", " " + nodeconfig.Redacted} {
			full, _ := filled(t, func(at string) string {
				if at == path {
					return sign
				}
				return "x"
			})
			config, problems := nodeconfig.FromTree(full)
			nodeconfig.Default(config)
			problems = append(problems, nodeconfig.Repair(config)...)
			if !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
				return p.Fatal && p.Kind == nodeconfig.Invalid && strings.HasPrefix(path, p.Path) && strings.HasPrefix(p.Reason, "is [redacted], which stands for a secret")
			}) {
				t.Errorf("%s: %q is not refused: %v", path, sign, problems)
			}
		}
	}
	var c nodeconfig.ClientCertificate
	if err := json.Unmarshal([]byte(`{"key":"[redacted]"}`), &c); err == nil || !c.Key.IsZero() {
		t.Errorf("got %v, %v", c, err)
	}
	config := fullConfig()
	nodeconfig.Default(config)
	config.Proxy.HTTP = nodeconfig.NewSecret(nodeconfig.Redacted) // a program made this config in Go
	if !slices.ContainsFunc(nodeconfig.Repair(config), func(p nodeconfig.Problem) bool { return p.Fatal && p.Path == "$.proxy.http" }) {
		t.Error("a sign that was put in by hand is valid")
	}
}

func TestSecretIsNotLogged(t *testing.T) {
	for name, holder := range holders() {
		var out bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			log := slog.New(handler).With("with", holder)
			log.Info("x", "attr", holder, slog.Group("group", "any", slog.AnyValue(holder)), "error", fmt.Errorf("wrong: %v", holder))
		}
		if leaks(out.String()) {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}

func TestSecret(t *testing.T) {
	secret, empty := nodeconfig.NewSecret(canary), nodeconfig.NewSecret("")
	if secret.Reveal() != canary || secret.IsZero() || secret.String() != nodeconfig.Redacted {
		t.Errorf("got %q, %v, %q", secret.Reveal(), secret.IsZero(), secret.String())
	}
	for _, s := range []nodeconfig.Secret{empty, {}} {
		if s.Reveal() != "" || !s.IsZero() || s.String() != "" || fmt.Sprint(s) != "" {
			t.Errorf("got %q, %v, %q", s.Reveal(), s.IsZero(), s.String())
		}
	}
	var read nodeconfig.Secret
	if err := read.UnmarshalText([]byte(canary)); err != nil || read.Reveal() != canary {
		t.Errorf("got %q, %v", read.Reveal(), err)
	}
	if got, err := json.Marshal(nodeconfig.ClientCertificate{Certificate: "c"}); err != nil || string(got) != `{"certificate":"c"}` {
		t.Errorf("got %s, %v: an empty secret is left out", got, err)
	}
}
