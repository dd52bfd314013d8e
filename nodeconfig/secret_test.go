package nodeconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/nodeconfig"
)

const canary = "hunter2"

// holders are the places in which a Secret can be.
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

// TestSecretIsNotFormatted tries every verb, the wrong ones too, and none: what fmt has to say of these
// includes the value.
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

// leaks finds the canary as text, in hexadecimal, and as a list of bytes.
func leaks(s string) bool {
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), strings.Trim(fmt.Sprint([]byte(canary)), "[]")} {
		if strings.Contains(s, form) {
			return true
		}
	}
	return false
}

func TestSecretIsNotEncoded(t *testing.T) {
	for name, holder := range holders() {
		asJSON, err := json.Marshal(holder)
		if err != nil {
			t.Errorf("%s as JSON: %v", name, err)
		}
		asYAML, err := yaml.Marshal(holder)
		if err != nil {
			t.Errorf("%s as YAML: %v", name, err)
		}
		for _, got := range [][]byte{asJSON, asYAML} {
			if leaks(string(got)) {
				t.Errorf("%s: %s", name, got)
			}
		}
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
