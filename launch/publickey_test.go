package launch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
)

// canaryKey is a key with a canary as its comment, canaryPrint its fingerprint by "ssh-keygen -l".
const (
	canaryKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBm66PX0sqd19cyotQWugcEJ9U+eHv2VwnKZLpKIu5FP canary@example"
	canaryPrint = "SHA256:M8Tl+L53hcl6/q06/XkMEMZM1jQKs9KmFmO8hTg2Hsc"
)

// TestPublicKey compares fingerprints with those of ssh-keygen.
func TestPublicKey(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		canaryKey:                               canaryPrint,
		`from="10.0.0.0/8",no-pty ` + canaryKey: canaryPrint,
		strings.TrimSuffix(canaryKey, " canary@example"): canaryPrint,
	} {
		if got := launch.PublicKey(text).String(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if a, b := launch.PublicKey("a").String(), launch.PublicKey("b").String(); a == b || !strings.HasPrefix(a, "SHA256:") || len(a) != len(canaryPrint) {
		t.Errorf("texts that are no key: %s, %s", a, b)
	}
}

// TestNothingSecretIsShown: canaries in the token, the key of who may log in, a script of the class's, and a registry's header are in the
// user data or the machine alone, and in nothing that is made for people or kept.
func TestNothingSecretIsShown(t *testing.T) {
	in := base(t)
	in.Settings = strings.Replace(in.Settings, "ssh-public-key: ", "ssh-public-key: "+canaryKey+" # ", 1)
	in.NodeClass = strings.Replace(in.NodeClass, "spec:\n", "spec:\n  userData: |\n    #!/bin/sh\n    echo canary\n", 1)
	in.Settings += "\nkubelet-bootstrap-token: " + token + ".0123456789canary\n"
	cloud, request, problems := in.decode(t)
	made := launch.Render(cloud, request)
	found := made.Problems()
	if made.Document().Machine.SSHPublicKey != canaryKey {
		t.Fatalf("the machine has another key: %q", string(made.Document().Machine.SSHPublicKey))
	}
	before, request, _ := base(t).decode(t)
	running := launch.Render(before, request)
	compared := comparedWith(t, running, made)
	machine, err := json.Marshal(made.Document().Machine)
	if err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(made.Record())
	if err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]string{
		"problems": fmt.Sprint(problems, found, made.Check(nil)), "explanation": show(made, found), "key": made.Key(),
		"record": string(record), "comparison": fmt.Sprintf("%+v", compared),
		"template": fmt.Sprintf("%+v", made), "machine": string(machine),
		"document": fmt.Sprintf("%v %+v", made.Document(), made.Document()), "class": fmt.Sprintf("%+v", cloud.Class), "settings' token": fmt.Sprintf("%+v", cloud.Settings.BootstrapToken),
	} {
		if shown == "" || strings.Contains(shown, "canary") || strings.Contains(shown, strings.Fields(canaryKey)[1]) {
			t.Errorf("the %s shows it: %s", name, shown)
		}
	}
	for name, shown := range map[string]string{"explanation": show(made, found), "record": string(record), "comparison": fmt.Sprintf("%+v", compared)} {
		if !strings.Contains(shown, canaryPrint) {
			t.Errorf("the %s lacks the fingerprint", name)
		}
	}
	contract, err := made.Contract(cloud.Settings.BootstrapToken)
	if err != nil || strings.Count(string(contract.Document), "canary") < 2 || len(contract.Parts) != 1 || string(contract.Parts[0].Content) != "#!/bin/sh\necho canary\n" {
		t.Errorf("the contract lacks the token, the header or the script: %v", err)
	}
}
