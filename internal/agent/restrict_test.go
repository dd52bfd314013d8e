package agent

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/source"
)

// If a contract was delivered readable for all, only its owner can read it from the moment that the agent has seen it,
// whatever the outcome. A file that is not a contract stays as it is.
func TestContractIsReadableForOwnerOnly(t *testing.T) {
	t.Parallel()
	minimal := string(example(t, "native/minimal.yaml"))
	provision := func(opts ProvisionOptions) func(*node) {
		return func(n *node) {
			opts.Facts = ubuntu(n.T)
			n.Provision(n.Context(), opts)
		}
	}
	apply := func(dry bool) func(*node) {
		return func(n *node) {
			n.Change(n.Context(), ChangeOptions{Config: "/root/node.yaml", Facts: ubuntu(n.T), Allow: difference.Replace, DryRun: dry})
		}
	}
	for _, c := range []struct {
		name, path, content string
		mode, want          fs.FileMode
		do                  func(*node)
	}{
		{"cloud-config's", source.Paths[0], string(example(t, "aks/minimal.json")), 0o755, 0o600, provision(ProvisionOptions{})},
		{"a native one", source.Paths[1], minimal, 0o644, 0o600, provision(ProvisionOptions{})},
		{"an invalid one", source.Paths[1], strings.Replace(minimal, "slipway.dev/v1", "slipway.dev/v9", 1), 0o644, 0o600, provision(ProvisionOptions{})},
		{"half of one", source.Paths[2], `{"token": "abc`, 0o666, 0o600, provision(ProvisionOptions{})},
		{"one that is too large", source.Paths[1], minimal + strings.Repeat(" ", document.MaxBytes), 0o644, 0o600, provision(ProvisionOptions{})},
		{"one beside the one that counts", source.Paths[1], minimal, 0o644, 0o600, func(n *node) {
			n.deliver(source.Paths[0], example(n.T, "aks/minimal.json"))
			n.provision()
		}},
		{"one beside the one that is named", source.Paths[1], minimal, 0o644, 0o600, func(n *node) {
			n.deliver("/root/node.yaml", []byte(minimal))
			provision(ProvisionOptions{Config: "/root/node.yaml"})(n)
		}},
		{"one that is named", "/root/node.yaml", minimal, 0o644, 0o600, provision(ProvisionOptions{Config: "/root/node.yaml"})},
		{"one that is applied", "/root/node.yaml", minimal, 0o644, 0o600, apply(false)},
		{"a dry run", "/root/node.yaml", minimal, 0o644, 0o644, apply(true)},
		{"a dry provisioning", source.Paths[1], minimal, 0o644, 0o644, provision(ProvisionOptions{DryRun: true})},
		{"a path that is a mistake", "/etc/hosts", "127.0.0.1 localhost\n", 0o644, 0o644, provision(ProvisionOptions{Config: "/etc/hosts"})},
		{"a workstation's, tried on a directory", "/root/node.yaml", minimal, 0o644, 0o644, func(n *node) {
			n.Named = &tampered{Directory: n.host.Directory, before: fine}
			provision(ProvisionOptions{Config: "/root/node.yaml"})(n)
		}},
	} {
		n := newNode(t)
		n.deliver(c.path, []byte(c.content))
		if err := os.Chmod(n.root+c.path, c.mode); err != nil {
			t.Fatal(err)
		}
		c.do(n)
		info, err := os.Stat(n.root + c.path)
		if err != nil || info.Mode().Perm() != c.want {
			t.Errorf("%s: %04o, %v, want %04o", c.name, info.Mode().Perm(), err, c.want)
		}
		if got := string(n.read(c.path)); got != c.content {
			t.Errorf("%s: the content is another", c.name)
		}
		if said := strings.Contains(n.log.String(), "was readable for others"); said != (c.mode != c.want) {
			t.Errorf("%s: the log says so: %t", c.name, said)
		}
	}
}
