package plan

import (
	"strings"
	"testing"

	reader "github.com/BurntSushi/toml"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A registry is a directory that containerd reads at the next pull: nothing restarts.
func TestRegistries(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Runtime.Registries = map[string]nodeconfig.Registry{
			"docker.io": {
				Mirrors: []nodeconfig.RegistryHost{
					{URL: "https://z.example:5000/docker", CertificateAuthority: c.Cluster.CertificateAuthority, OverridePath: true},
					{URL: "http://a.example", Capabilities: []string{"pull"}, SkipVerify: true, Username: nodeconfig.NewSecret("user"), Password: nodeconfig.NewSecret("pass:\"word\"")},
				},
				Server: &nodeconfig.RegistryHost{},
			},
			"registry.example:5000": {Server: &nodeconfig.RegistryHost{CertificateAuthority: c.Cluster.CertificateAuthority}},
			"_default":              {Mirrors: []nodeconfig.RegistryHost{{URL: "https://all.example"}}},
		}
	})
	p, problems := New(c, ubuntu(t))
	if len(nodeconfig.Fatal(problems)) > 0 {
		t.Fatal(problems)
	}
	for path, want := range map[string]string{
		"docker.io/hosts.toml": `server = "https://registry-1.docker.io"
capabilities = ["pull", "resolve"]

[host."https://z.example:5000/docker"]
capabilities = ["pull", "resolve"]
ca = "/etc/containerd/certs.d/docker.io/mirror-1.crt"
override_path = true

[host."http://a.example"]
capabilities = ["pull"]
skip_verify = true

[host."http://a.example".header]
Authorization = ["Basic dXNlcjpwYXNzOiJ3b3JkIg=="]
`,
		"docker.io/mirror-1.crt": c.Cluster.CertificateAuthority,
		"registry.example_5000_/hosts.toml": `server = "https://registry.example:5000"
capabilities = ["pull", "resolve"]
ca = "/etc/containerd/certs.d/registry.example_5000_/server.crt"
`,
		"registry.example_5000_/server.crt": c.Cluster.CertificateAuthority,
		"_default/hosts.toml": `
[host."https://all.example"]
capabilities = ["pull", "resolve"]
`[1:],
	} {
		f := fileAt(t, p, concern.RegistriesDir+"/"+path)
		if string(f.Content) != want {
			t.Errorf("%s is\n%s\nwant\n%s", path, f.Content, want)
		}
		if secret := strings.Contains(want, "Basic"); f.Secret != secret || secret != (f.Mode == 0o600) {
			t.Errorf("%s is secret: %v, of mode %04o", path, f.Secret, f.Mode)
		}
		if _, err := reader.Decode(string(f.Content), &map[string]any{}); strings.HasSuffix(path, ".toml") && err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	count := 0
	for _, r := range p.Resources {
		if strings.HasPrefix(r.Spec.Name(), concern.RegistriesDir+"/") {
			count++
			if r.Phase != resource.Base || len(r.Units()) > 0 || r.Class != resource.None || r.Why == "" {
				t.Errorf("%s: phase %v, effects %+v", r.ID(), r.Phase, r.Effects)
			}
		}
	}
	if count != 3+5 {
		t.Errorf("%d resources", count)
	}
}

// Registries are written where containerd looks for them, or not at all.
func TestRegistriesElsewhere(t *testing.T) {
	for text, refused := range map[string]bool{
		`config_path = "/etc/other"`:              true,
		`config_path = ""`:                        true,
		`config_path = "/etc/containerd/certs.d"`: false,
	} {
		c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
			c.Runtime.Registries = map[string]nodeconfig.Registry{"a": {Server: &nodeconfig.RegistryHost{}}}
			c.Runtime.Containerd.Config = nodeconfig.NewSecret("[plugins.\"io.containerd.cri.v1.images\".registry]\n" + text)
		})
		_, problems := New(c, facts.Facts{})
		found := false
		for _, p := range problems {
			found = found || p.Fatal && p.Path == "$.runtime.containerd.config" && strings.Contains(p.Reason, "runtime.registries")
		}
		if found != refused {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
