package launch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// ownTexts is user data of a class that has a text of every kind in its files, units and commands.
const ownTexts = `  userData: |
    apiVersion: slipway.dev/v1
    kind: NodeConfig
    files:
    - {path: /etc/example, content: canary1}
    - {path: /etc/encoded, base64: Y2FuYXJ5Mg==}
    - {path: /etc/secret, secret: canary3}
    units:
    - name: example.service
      content: "[Service]\nExecStart=/bin/echo canary4\n"
      dropIns: [{name: 10-a.conf, content: "[Service]\nEnvironment=A=canary5\n"}]
    commands: [{text: echo canary6}]
`

// TestOwnTexts: what a class's files, units and commands hold is in the contract alone. Every change of them is a difference, but for that
// of a secret in what is kept.
func TestOwnTexts(t *testing.T) {
	with := func(from, to string) *launch.Launch {
		in := base(t)
		in.NodeClass = strings.Replace(in.NodeClass, "spec:\n", "spec:\n"+strings.Replace(ownTexts, from, to, 1), 1)
		cloud, request, problems := in.decode(t)
		made := launch.Render(cloud, request)
		found := made.Problems()
		if fatal := nodeconfig.Fatal(append(problems, found...)); len(fatal) > 0 {
			t.Fatal(fatal)
		}
		return made
	}
	running := with("", "")
	contract, err := running.Contract(nodeconfig.NewSecret("abcdef.0123456789abcdef"))
	if err != nil || strings.Count(string(contract.Document), "canary") != 5 { // and one in base64
		t.Errorf("%v: the contract has not all of them: %s", err, contract.Document)
	}
	for _, change := range []struct {
		from, to, path string
		secret         bool
	}{
		{"canary1", "canaryA", "$.node.files", false},
		{"Y2FuYXJ5Mg==", "Y2FuYXJ5QQ==", "$.node.files", false},
		{"canary3", "canaryA", "$.node.files", true},
		{"/etc/secret", "/etc/other", "$.node.files", false},
		{"canary4", "canaryA", "$.node.units", false},
		{"canary5", "canaryA", "$.node.units", false},
		{"canary6", "canaryA", "$.node.commands", false},
	} {
		wanted := with(change.from, change.to)
		compared := comparedWith(t, running, wanted)
		if change.secret {
			if len(compared.Changes) > 0 {
				t.Errorf("%s: the record has a secret: %v", change.from, compared.Changes)
			}
		} else if len(compared.Changes) != 1 || compared.Changes[0].Path != change.path {
			t.Errorf("%s: the difference is %v", change.from, compared.Changes)
		}
		if n := compared.Node; !change.secret && (n == nil || len(n.Changes) == 0) {
			t.Errorf("%s: the plan of the node does not differ", change.from)
		}
		texts, err := json.Marshal([]any{wanted.Record(), compared})
		shown := show(wanted, nil) + string(texts) + fmt.Sprint(wanted)
		if err != nil || strings.Contains(shown, "canary") || strings.Contains(shown, "Y2FuYXJ5") {
			t.Errorf("%s: a text is shown: %s", change.from, shown)
		}
	}
}
