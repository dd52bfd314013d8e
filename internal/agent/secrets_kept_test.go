package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/test/detector"
)

// usable are the contracts with a canary in every secret from which a node can be made, each with the example of the
// node before.
var usable = map[string]string{
	"AKS, token": "aks/azure-cni.json", "AKS, certificate": "aks/client-certificate.json",
	"native, token": "native/minimal.yaml", "native, plug-in": "native/minimal.yaml", "native, certificate": "native/minimal.yaml",
}

// ways are the failures during a change.
var ways = map[string]func(op, name string) error{
	"nothing": func(string, string) error { return nil },
	"a check": func(op, name string) error {
		return map[bool]error{true: errors.New("not well")}[op == "Probe" && strings.HasPrefix(name, "health-")]
	},
	"a unit":      func(op, _ string) error { return map[bool]error{true: errors.New("failed")}[op == "RestartUnit"] },
	"a full disk": func(op, _ string) error { return map[bool]error{true: syscall.ENOSPC}[op == "Stage"] },
	"no way to record": func(op, name string) error {
		return map[bool]error{true: syscall.ENOSPC}[op == "WriteFileAtomic" && strings.HasPrefix(name, generation.Dir)]
	},
	"a defect in a check": func(op, name string) error {
		if op == "Probe" && strings.HasPrefix(name, "health-") {
			panic("defect")
		}
		return nil
	},
	"a defect in the store": func(op, name string) error {
		if op == "WriteFileAtomic" && strings.HasPrefix(name, generation.Dir+"/0") {
			panic("defect")
		}
		return nil
	},
}

// No secret is shown by a change, a rollback or their files: not in a difference, the index, a list, the log, the
// status or an error, whether it succeeds, fails or panics.
func TestSecretsOfChangesAreNotShown(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	shown := forms(t)
	for name, before := range usable {
		contract := secretContracts(t)[name]
		for way, hook := range ways {
			where := name + ", " + way + ": "
			n := newNode(t)
			n.Program = "/usr/bin/slipway-node"
			n.deliver(contract.path, example(t, before))
			if got := n.provision(); got.ExitCode != 0 {
				t.Fatal(got.Error)
			}
			var texts []string
			show := func(d *difference.Difference) {
				document, err := json.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, d.Text(cli.Style{}), string(document), fmt.Sprintf("%+v %#v", d, d))
			}
			keep := func(c Changed) {
				texts = append(texts, c.Refused, printed(t, c.Status), fmt.Sprintf("%+v %#v", c.Status, c.Status))
			}
			all := func(o *ChangeOptions) { o.Allow, o.Show, o.Force = difference.Replace, show, true }
			keep(n.change([]byte(contract.document), all, func(o *ChangeOptions) { o.DryRun = true }))
			keep(n.change([]byte(contract.document), func(o *ChangeOptions) { o.Allow = difference.None }))
			n.host.before = hook
			keep(n.change([]byte(contract.document), all, func(o *ChangeOptions) { o.Try = time.Hour }))
			keep(n.change(example(t, before), all))
			keep(n.Rollback(t.Context(), RollbackOptions{Allow: difference.Replace, Show: show}))
			drift, err := n.Drift(t.Context())
			texts = append(texts, fmt.Sprint(drift, err))
			entries, err := n.Generations()
			if err != nil || len(texts) < 10 {
				t.Errorf("%s%d texts, %v", where, len(texts), err)
			}
			list, _ := json.Marshal(entries)
			for what, text := range map[string]string{
				"what was shown": strings.Join(texts, "\n"), "the list": string(list), "the index": string(n.read(generation.Dir + "/index.json")),
				"the log": n.log.String(), "the status": string(n.read(state.Status.Path)), "the actions": string(n.read("/run/slipway/actions.jsonl")),
				"the intent": string(n.read("/var/lib/slipway/intent.json")), "events": fmt.Sprint(n.events()),
			} {
				clean(t, shown, where+what, text)
			}
		}
	}
}

// The generations hold the secrets that a rollback restores, in files that only the superuser reads. They do not hold
// the node's join credential.
func TestSecretsAreKept(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	keeps := map[string]string{"AKS, token": secretCanary, "AKS, certificate": keyCanary(t), "native, token": secretCanary, "native, plug-in": execCanary, "native, certificate": keyCanary(t)}
	for name, before := range usable {
		contract := secretContracts(t)[name]
		n := newNode(t)
		n.deliver(contract.path, []byte(contract.document))
		if got := n.provision(); got.ExitCode != 0 {
			t.Fatal(got.Error)
		}
		canaries := func() (list []string) {
			for path, content := range n.tree() {
				if path != contract.path && strings.Contains(content, keeps[name]) {
					list = append(list, path)
				}
			}
			slices.Sort(list)
			return list
		}
		arrived, files := canaries(), n.tree()
		all := func(o *ChangeOptions) { o.Allow, o.Force = difference.Replace, true }
		n.change(example(t, before), all)
		if len(arrived) == 0 || name != "AKS, certificate" && len(canaries()) > 0 { // whose example has the same key
			t.Errorf("%s: the secret is at %q, and was at %q", name, canaries(), arrived)
		}
		if got := n.Rollback(t.Context(), RollbackOptions{Number: 1, Allow: difference.Replace}); got.Status.ExitCode != 0 {
			t.Errorf("%s: %v", name, got.Status.Error)
		}
		for path, content := range n.tree() {
			if content != files[path] && !strings.Contains(path, "bootstrap-kube") {
				t.Errorf("%s: %s does not come back", name, path)
			}
		}
		for path, content := range n.snapshot() {
			if strings.HasPrefix(path, "/var/lib/slipway") && !strings.HasPrefix(content, "d") {
				for _, form := range append(forms(t)[:8], tokenCanary[7:]) { // those of the token
					if strings.Contains(content, form) {
						t.Errorf("%s: %s holds the bootstrap credential", name, path)
					}
				}
			}
		}
	}
}

// At no moment, whatever the umask, can anyone but the owner open a file with a secret.
func TestModesOfSecrets(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	shown := forms(t)
	secret := func(content string) bool {
		return slices.ContainsFunc(shown, func(form string) bool { return strings.Contains(content, form) })
	}
	for name, before := range usable {
		contract := secretContracts(t)[name]
		n := newNode(t)
		written, found := 0, 0
		n.host.written = func(path string, mode uint32, content []byte) {
			if !secret(string(content)) {
				return
			}
			if written++; mode&0o077 != 0 {
				t.Errorf("%s: %s is written with mode %04o", name, path, mode)
			}
		}
		look := func() {
			err := filepath.WalkDir(n.root, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				content, err := os.ReadFile(path)
				if err != nil || !secret(string(content)) {
					return err
				}
				info, err := d.Info()
				if err == nil && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s: %s has mode %v", name, path, info.Mode())
				}
				found++
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		n.host.before = func(op, _ string) error {
			switch op {
			case "Commit", "Sync", "RestartUnit", "Run": // when files are staged, renamed, and read
				look()
			}
			return nil
		}
		n.deliver(contract.path, []byte(contract.document))
		all := func(o *ChangeOptions) { o.Allow, o.Force = difference.Replace, true }
		if got := n.provision(); got.ExitCode != 0 {
			t.Fatal(got.Error)
		}
		n.change(example(t, before), all)
		n.Rollback(t.Context(), RollbackOptions{Number: 1, Allow: difference.Replace})
		look()
		if written < 2 || found < 50 {
			t.Errorf("%s: %d secrets are written, %d are found", name, written, found)
		}
	}
}
