package nodeconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
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

// TestSecretIsNotMarshalled: neither the value nor a sign in its place, which would reach every machine of a pool.
func TestSecretIsNotMarshalled(t *testing.T) {
	for name, holder := range holders() {
		exported := name != "unexported field" && name != "pointer to struct" // the others are not looked at
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

// TestEncode: what is encoded has its secrets, and is read back as the same config.
func TestEncode(t *testing.T) {
	config := fullConfig()
	form := nodeconfig.Encode(config)
	if strings.Contains(string(form), nodeconfig.Redacted) {
		t.Errorf("a secret is not in %s", form)
	}
	again, problems := nodeconfig.Decode(form)
	if len(problems) > 0 || string(nodeconfig.Encode(again)) != string(form) {
		t.Errorf("%v\n%s\nbecame\n%s", problems, form, nodeconfig.Encode(again))
	}
}

// TestRedactedIsRefused: the sign that stands for a secret is refused wherever a secret is read.
func TestRedactedIsRefused(t *testing.T) {
	full := tree(t, fullConfig())
	secrets := 0
	contracts.Walk(full, func(path string, n *document.Node) {
		if !isSecret(path) {
			return
		}
		secrets++
		for _, sign := range []string{nodeconfig.Redacted, nodeconfig.Redacted + "\n", " " + nodeconfig.Redacted} {
			doc := contracts.Replace(full, path, &document.Node{Kind: document.String, Text: sign})
			_, problems := nodeconfig.FromTree(doc)
			contracts.Compare(t, problems, []nodeconfig.Problem{{Path: path, Kind: nodeconfig.Invalid, Fatal: true, Reason: "is [redacted], which stands for a secret"}})
		}
	})
	if secrets < 6 {
		t.Errorf("only %d secrets", secrets)
	}
	var c nodeconfig.ClientCertificate
	if err := json.Unmarshal([]byte(`{"key":"[redacted]"}`), &c); err == nil || !c.Key.IsZero() {
		t.Errorf("got %v, %v", c, err)
	}
	config := fullConfig()
	nodeconfig.Default(config)
	config.Proxy.HTTP = nodeconfig.NewSecret(nodeconfig.Redacted) // made in Go
	if !slices.ContainsFunc(nodeconfig.Validate(config), func(p nodeconfig.Problem) bool { return p.Fatal && p.Path == "$.proxy.http" }) {
		t.Error("a sign that was put in by hand is valid")
	}
}

// isSecret tells whether the field at a path is a Secret.
func isSecret(path string) bool {
	for _, end := range []string{".bootstrapToken", ".clientCertificate.key", ".env[0].value", ".proxy.http", ".proxy.https", ".realm.password", ".clientSecret"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
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
