package userdata

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// renderers are all functions that take a contract, with one signature.
var renderers = map[string]func(Contract) (string, error){
	"MIME":               func(c Contract) (string, error) { b, err := MIME(c); return string(b), err },
	"CustomData":         CustomData,
	"CloudConfig":        func(c Contract) (string, error) { b, err := CloudConfig(c); return string(b), err },
	"Ignition":           func(c Contract) (string, error) { b, err := Ignition(c); return string(b), err },
	"IgnitionCustomData": IgnitionCustomData,
}

// The paths are those of the families of nodes: the agent finds a rendered contract.
func TestPlaces(t *testing.T) {
	for path, name := range map[string]string{AKSPath: nodeconfig.LayoutAKS, NativePath: nodeconfig.LayoutStandard, NativeYAMLPath: nodeconfig.LayoutStandard} {
		if family := profile.OfContract(path); family == nil || family.Name != name {
			t.Errorf("%s is not where family %s has its contract", path, name)
		}
	}
	if features := profile.Of(nodeconfig.LayoutAKS).Paths.Features; features != FeaturesPath {
		t.Errorf("the launcher's feature switches are at %s", features)
	}
}

func TestInvalid(t *testing.T) {
	features := func(pairs ...string) Contract {
		c := Contract{Document: []byte("x"), Path: AKSPath, Features: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			c.Features[pairs[i]] = pairs[i+1]
		}
		return c
	}
	type test struct {
		name     string
		contract Contract
		fields   []string
	}
	tests := []test{
		{"everything", Contract{Path: "/etc/passwd", Features: map[string]string{"b-c": "`id`", "a": "\n"}},
			[]string{"Document", "Path", `Features["a"]`, `Features["b-c"]`}},
		{"no path", Contract{Document: []byte("x")}, []string{"Path"}},
		{"path not clean", Contract{Document: []byte("x"), Path: "/etc/slipway/../slipway/config.json"}, []string{"Path"}},
		{"native with features", Contract{Document: []byte("x"), Path: NativePath, Features: map[string]string{"A": "1"}}, []string{"Features"}},
		{"yaml with features", Contract{Document: []byte("x"), Path: NativeYAMLPath, Features: map[string]string{"A": "1"}}, []string{"Features"}},
	}
	for _, name := range []string{"", "1A", "A-B", "A B", "A=B", "É", "A\n", "A\x00", "A$"} {
		tests = append(tests, test{fmt.Sprintf("name %q", name), features(name, "1"), []string{fmt.Sprintf("Features[%q]", name)}})
	}
	for _, value := range []string{"a\nb", "a\rb", "a\n", "a\x00"} {
		tests = append(tests, test{fmt.Sprintf("value %q", value), features("A", value), []string{`Features["A"]`}})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, render := range renderers {
				got, err := render(test.contract)
				var invalid *InvalidError
				if !errors.As(err, &invalid) || got != "" {
					t.Fatalf("%s: got %q, %v", name, got, err)
				}
				var fields []string
				for _, p := range invalid.Problems {
					fields = append(fields, p.Field)
					if p.Reason == "" || !strings.Contains(err.Error(), p.Field+": "+p.Reason) {
						t.Errorf("%s: the error does not tell %v: %v", name, p, err)
					}
				}
				if strings.Join(fields, " ") != strings.Join(test.fields, " ") {
					t.Errorf("%s: got %q, want %q", name, fields, test.fields)
				}
			}
		})
	}
}

// TestSecret prints a contract in every way that prints values.
func TestSecret(t *testing.T) {
	const secret = "hunter2hunter2hunter2"
	c := Contract{Document: []byte(secret), Path: AKSPath, Features: map[string]string{"A": secret}}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+verb+"\n", c, &c)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("", "contract", c, "pointer", &c)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("", "contract", c, "pointer", &c)
	if err := json.NewEncoder(&out).Encode(struct{ C Contract }{c}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Contract{
		{Document: []byte(secret), Path: "nowhere", Features: map[string]string{"A": "$" + secret, "B C": secret}},
		{Document: bytes.Repeat([]byte(secret), 5000), Path: AKSPath},
	} {
		for _, render := range renderers {
			if _, err := render(bad); err != nil {
				fmt.Fprintln(&out, err)
			}
		}
	}
	for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), "aHVudGVy", "104 117 110"} {
		if strings.Contains(out.String(), form) {
			t.Errorf("the contract shows as %s:\n%s", form, out.String())
		}
	}
	if !strings.Contains(out.String(), "contract for "+AKSPath+" (21 bytes) [redacted]") {
		t.Errorf("the contract is not named:\n%s", out.String())
	}
}
