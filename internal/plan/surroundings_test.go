package plan

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// resourceAt is a resource of a plan, or the zero one.
func resourceAt(p resource.Plan, id resource.ID) resource.Resource { return p.ByID()[id] }

// certificateNames are the files of a plan with trusted certificates.
func certificateNames(p resource.Plan) []string {
	var names []string
	for _, r := range p.Resources {
		if f, ok := r.Spec.(*resource.File); ok && strings.Contains(f.Path, "/slipway-") && slices.Contains([]string{".crt", ".pem"}, path.Ext(f.Path)) {
			names = append(names, f.Path)
		}
	}
	return names
}

// Each certificate has a separate file, however often and wherever it is given, and containerd starts after all
// programs trust it. If no certificate store is known, the problem names the system, and nothing is planned.
func TestTrust(t *testing.T) {
	pair := contract(t, "aks/client-certificate.json").Join.ClientCertificate
	for id, c := range map[string]struct{ dir, program string }{
		"ubuntu":              {"/usr/local/share/ca-certificates", "update-ca-certificates"},
		"debian":              {"/usr/local/share/ca-certificates", "update-ca-certificates"},
		"azurelinux":          {"/etc/pki/ca-trust/source/anchors", "update-ca-trust"},
		"mariner":             {"/etc/pki/ca-trust/source/anchors", "update-ca-trust"},
		"azurecontainerlinux": {"/etc/pki/ca-trust/source/anchors", "update-ca-trust"},
		"flatcar":             {"/etc/ssl/certs", "update-ca-certificates"},
		"alpine":              {},
		"":                    {},
	} {
		config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Trust.Certificates = []string{n.Cluster.CertificateAuthority + pair.Certificate, strings.ReplaceAll(pair.Certificate, "\n", "\r\n")}
			n.Proxy.CertificateAuthority = pair.Certificate
		})
		p, problems := New(config, facts.Facts{OS: facts.OS{ID: id}})
		names := certificateNames(p)
		command, _ := resourceAt(p, "Command:trusted-certificates").Spec.(*resource.Command)
		if c.dir == "" {
			var paths []string
			for _, problem := range problems {
				if problem.Kind != nodeconfig.NotApplied || problem.Fatal != (id != "") || id != "" && !strings.Contains(problem.Reason, `"`+id+`"`) {
					t.Errorf("%q: %v", id, problem)
				}
				paths = append(paths, problem.Path)
			}
			if len(names) > 0 || command != nil || !slices.Equal(paths, []string{"$.proxy.certificateAuthority", "$.trust.certificates"}) {
				t.Errorf("%q: %q, %v, problems with %q", id, names, command, paths)
			}
			continue
		}
		store, _ := resourceAt(p, "TrustStore:trust-store").Spec.(*resource.TrustStore)
		if len(names) != 2 || len(problems) > 0 || command == nil || command.Argv[0] != c.program || store == nil || !slices.Equal(store.Added, names) {
			t.Fatalf("%s: %q, %v, %v, %v", id, names, problems, command, store)
		}
		for _, name := range names {
			f := resourceAt(p, resource.IDOf(&resource.File{Path: name}))
			content := string(f.Spec.(*resource.File).Content)
			if !strings.HasPrefix(name, c.dir+"/") || !command.Reads(name) || !store.Reads(name) || strings.Count(content, "BEGIN CERTIFICATE") != 1 || strings.Contains(content, "\r") ||
				!slices.Contains(f.Restarts, concern.ContainerdUnit) {
				t.Errorf("%s: %+v\n%s", id, f, content)
			}
		}
		// The agent makes what containerd reads. Nothing waits for the distribution's program, which waits for the kubelet.
		if unit := resourceAt(p, "Unit:containerd.service"); !slices.Contains(unit.Requires, "TrustStore:trust-store") {
			t.Errorf("%s: containerd requires only %q", id, unit.Requires)
		}
		for _, r := range p.Resources {
			if slices.Contains(slices.Concat(r.Requires, r.After), "Command:trusted-certificates") {
				t.Errorf("%s: %s waits for the distribution's program", id, r.ID())
			}
		}
		if after := resourceAt(p, "Command:trusted-certificates").After; !command.Advisory || !slices.Contains(after, "TrustStore:trust-store") || !slices.Contains(after, "Check:kubelet-active") {
			t.Errorf("%s: %+v runs after %q", id, command, after)
		}
		// A certificate that is removed takes its file with it, and changes no other file.
		config.Trust.Certificates, config.Proxy.CertificateAuthority = config.Trust.Certificates[1:], ""
		p, _ = New(config, facts.Facts{OS: facts.OS{ID: id}})
		if left := certificateNames(p); len(left) != 1 || !slices.Contains(names, left[0]) {
			t.Errorf("%s: %q is left of %q", id, left, names)
		}
	}
}

func withProxy(p nodeconfig.Proxy) func(*nodeconfig.NodeConfig) {
	return func(c *nodeconfig.NodeConfig) { c.Proxy = p }
}

// What reads the proxy gets the very values, and what a node must reach is reached directly.
func TestProxy(t *testing.T) {
	const address = "http://proxy.example:3128"
	for _, example := range []string{"native/minimal.yaml", "aks/azure-cni.json"} {
		c := contract(t, example, withProxy(nodeconfig.Proxy{HTTP: nodeconfig.NewSecret(address), NoProxy: []string{".example", "localhost"}}))
		p, problems := New(c, ubuntu(t))
		for _, problem := range problems {
			if strings.HasPrefix(problem.Path, "$.proxy") {
				t.Error(example, problem)
			}
		}
		direct := ".example,localhost,127.0.0.1,::1,169.254.169.254,api.cluster.example"
		if c.Cloud.Azure != nil {
			direct = ".example,localhost,127.0.0.1,::1,169.254.169.254,168.63.129.16,example-dns-0a1b2c3d.hcp.eastus.azmk8s.io"
		}
		want := map[string]string{"HTTP_PROXY": address, "http_proxy": address, "NO_PROXY": direct, "no_proxy": direct}
		for name, have := range map[string]map[string]string{
			"file":   readEnvironment(string(fileAt(t, p, concern.ProxyEnv).Content)),
			"block":  readEnvironment(resourceAt(p, "Block:/etc/environment#proxy").Spec.(*resource.Block).Content),
			"system": assigned(t, string(fileAt(t, p, "/etc/systemd/system.conf.d/"+"10-slipway-proxy.conf").Content)),
		} {
			if len(have) != len(want) {
				t.Errorf("%s: %s: %q", example, name, have)
			}
			for variable, value := range want {
				if have[variable] != value {
					t.Errorf("%s: %s: %s is %q, want %q", example, name, variable, have[variable], value)
				}
			}
		}
		if got := resourceAt(p, resource.IDOf(&resource.File{Path: concern.ProxyEnv})).Restarts; !slices.Equal(got, []string{concern.ContainerdUnit, concern.KubeletUnit}) {
			t.Errorf("restarts %q", got)
		}
		if got := string(fileAt(t, p, "/etc/apt/apt.conf.d/90-slipway-proxy").Content); got != "Acquire::http::Proxy \""+address+"\";\n" {
			t.Error(got)
		}
		if p, _ = New(c, facts.Facts{OS: facts.OS{ID: "azurelinux"}}); fileIn(p, "/etc/apt/apt.conf.d/90-slipway-proxy") != nil {
			t.Error("apt is configured on a system without apt")
		}
	}
}

// assigned reads a file of systemd's own configuration.
func assigned(t *testing.T, content string) map[string]string {
	t.Helper()
	variables := make(map[string]string)
	for _, s := range settings(content) {
		words, err := splitWords(s[1])
		if err != nil || len(words) != 1 || s[0] != "DefaultEnvironment" {
			t.Fatalf("%q: %q, %v", s, words, err)
		}
		name, value, _ := strings.Cut(strings.ReplaceAll(words[0], "%%", "%"), "=")
		variables[name] = value
	}
	return variables
}

// A password is only in files that root alone can read, and in nothing that every user can query.
func TestProxyWithPassword(t *testing.T) {
	const address = "http://user:canary%21@proxy.example:3128"
	c := contract(t, "native/minimal.yaml", withProxy(nodeconfig.Proxy{HTTPS: nodeconfig.NewSecret(address)}))
	p, problems := New(c, ubuntu(t))
	if len(problems) != 1 || problems[0].Path != "$.proxy.https" || problems[0].Kind != nodeconfig.NotApplied || problems[0].Fatal {
		t.Error(problems)
	}
	if got := readEnvironment(string(fileAt(t, p, concern.ProxyEnv).Content)); got["HTTPS_PROXY"] != address || got["https_proxy"] != address {
		t.Errorf("%q", got)
	}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case *resource.File:
			if strings.Contains(string(s.Content), "canary") && (!s.Secret || s.Mode != 0o600) {
				t.Errorf("%s is secret: %v, of mode %04o", s.Path, s.Secret, s.Mode)
			}
		case *resource.Block:
			t.Errorf("%s has the proxy", s.Path)
		}
	}
	if fileIn(p, "/etc/systemd/system.conf.d/"+"10-slipway-proxy.conf") != nil {
		t.Error("systemd would show the password to everybody")
	}
}

// What is not taken literally by all that read it is left out. Hosts that no proxy is for are nothing to warn of.
func TestProxyLeftOut(t *testing.T) {
	p, problems := New(contract(t, "native/minimal.yaml", withProxy(nodeconfig.Proxy{
		HTTP: nodeconfig.NewSecret("http://proxy.example:3128"), NoProxy: []string{`a"b`},
	})), ubuntu(t))
	if planned(p, "Block:/etc/environment#proxy") || len(problems) != 1 || problems[0].Path != "$.proxy" {
		t.Error(problems)
	}
	if got := assigned(t, string(fileAt(t, p, "/etc/systemd/system.conf.d/"+"10-slipway-proxy.conf").Content)); !strings.HasPrefix(got["NO_PROXY"], `a"b,localhost`) {
		t.Errorf("%q", got)
	}
	// A line that pam_env(8) does not read would take all that follow it along. Units have no such limit.
	long := strings.Repeat("host.example.com,", 8000/17+1)
	p, problems = New(contract(t, "native/minimal.yaml", withProxy(nodeconfig.Proxy{
		HTTP: nodeconfig.NewSecret("http://proxy.example:3128"), NoProxy: []string{long},
	})), ubuntu(t))
	if planned(p, "Block:/etc/environment#proxy") || len(problems) != 1 || problems[0].Path != "$.proxy.noProxy" {
		t.Error(problems)
	}
	if got := readEnvironment(string(fileAt(t, p, concern.ProxyEnv).Content)); !strings.HasPrefix(got["NO_PROXY"], long) {
		t.Errorf("%q", got)
	}
	p, problems = New(contract(t, "native/minimal.yaml", withProxy(nodeconfig.Proxy{NoProxy: []string{"10.0.0.0/8"}})), ubuntu(t))
	if fileIn(p, concern.ProxyEnv) != nil || len(problems) > 0 {
		t.Error(problems)
	}
}

// Services get the very values, and the files that have them are for root alone.
func TestEnvironment(t *testing.T) {
	values := map[string]string{"A": `50% "off" \n $now`, "B": "", "C": "ąę #;'`"}
	secrets := make(map[string]nodeconfig.Secret)
	for name, value := range values {
		secrets[name] = nodeconfig.NewSecret(value)
	}
	c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.System.Environment = map[string]map[string]nodeconfig.Secret{"default": secrets, "kubelet": secrets, "example": secrets, "empty": {}}
	})
	p, problems := New(c, ubuntu(t))
	if len(problems) > 0 {
		t.Error(problems)
	}
	const system = "/etc/systemd/system.conf.d/" + "20-slipway-environment.conf"
	for path, want := range map[string]struct {
		read     func(string) map[string]string
		restarts []string
	}{
		system:                                 {func(content string) map[string]string { return assigned(t, content) }, []string{concern.ContainerdUnit, concern.KubeletUnit}},
		concern.EnvironmentDir + "kubelet.env": {readEnvironment, []string{concern.KubeletUnit}},
		concern.EnvironmentDir + "example.env": {readEnvironment, []string{"example.service"}},
	} {
		f := fileAt(t, p, path)
		have := want.read(string(f.Content))
		for name, value := range values {
			if have[name] != value {
				t.Errorf("%s: %s is %q, want %q", path, name, have[name], value)
			}
		}
		if !f.Secret || f.Mode != 0o600 || !slices.Equal(resourceAt(p, resource.IDOf(f)).Restarts, want.restarts) {
			t.Errorf("%s is secret: %v, of mode %04o, restarts %q", path, f.Secret, f.Mode, resourceAt(p, resource.IDOf(f)).Restarts)
		}
	}
	if fileIn(p, concern.EnvironmentDir+"empty.env") != nil {
		t.Error("a file without variables")
	}
	// A contract must not change the agent's own units.
	c.System.Environment = map[string]map[string]nodeconfig.Secret{"slipway-watch": secrets}
	if _, problems = New(c, ubuntu(t)); len(nodeconfig.Fatal(problems)) != 1 || problems[0].Path != `$.system.environment["slipway-watch"]` {
		t.Error(problems)
	}
	// What systemd would not read is refused, wherever it is.
	for _, service := range []string{"default", "example"} {
		c.System.Environment = map[string]map[string]nodeconfig.Secret{service: {"A": nodeconfig.NewSecret("x\x00")}}
		if _, problems = New(c, ubuntu(t)); len(nodeconfig.Fatal(problems)) != 1 {
			t.Errorf("%s: %v", service, problems)
		}
	}
}

// A node trusts the cloud's certificates and the contract's, each once. If no store is known, the node is made
// without the cloud's, because no setting requires them.
func TestCloudAuthorities(t *testing.T) {
	pair := contract(t, "aks/client-certificate.json").Join.ClientCertificate
	config := contract(t, "aks/minimal.json", func(n *nodeconfig.NodeConfig) { n.Trust.Certificates = []string{pair.Certificate} })
	known := facts.Facts{OS: facts.OS{ID: "ubuntu"}, Platform: facts.Azure}
	if needs := Needs(config, known); !slices.Contains(needs, NeedAuthorities) {
		t.Errorf("the needs are %q", needs)
	}
	plain, _ := New(config, known)
	said := &facts.Authorities{Certificates: []string{config.Cluster.CertificateAuthority, pair.Certificate}}
	for _, c := range []struct {
		os, platform string
		said         facts.Authorities
		more         int
		problem      string
	}{
		{"ubuntu", facts.Azure, *said, 1, ""},
		{"ubuntu", facts.EC2, *said, 0, ""},
		{"ubuntu", facts.Azure, facts.Authorities{Unanswered: true}, 0, "has not said"},
		{"ubuntu", facts.Azure, facts.Authorities{Refused: []string{`"../a.crt"`}, Certificates: said.Certificates}, 1, `"../a.crt"`},
	} {
		p, problems := New(config, facts.Facts{OS: facts.OS{ID: c.os}, Platform: c.platform, Authorities: &c.said})
		if got := len(certificateNames(p)) - len(certificateNames(plain)); got != c.more {
			t.Errorf("%+v: %d more", c, got)
		}
		told := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return !p.Fatal && p.Path == "$.cloud.azure.location" && strings.Contains(p.Reason, c.problem)
		})
		if told != (c.problem != "") {
			t.Errorf("%+v: %v", c, problems)
		}
	}
	config.Trust.Certificates = nil
	p, problems := New(config, facts.Facts{OS: facts.OS{ID: "alpine"}, Platform: facts.Azure, Authorities: said})
	if len(certificateNames(p)) > 0 || len(nodeconfig.Fatal(problems)) > 0 || !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
		return p.Kind == nodeconfig.NotApplied && p.Path == "$.cloud.azure.location"
	}) {
		t.Errorf("without a store: %q, %v", certificateNames(p), problems)
	}
}
