package plan

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// readKubeconfig reads a kubeconfig as client-go does: its user, once all that refers to something
// else in it has been seen to.
func readKubeconfig(t *testing.T, f *resource.File) (user map[string]any, cluster map[string]any) {
	t.Helper()
	var config struct {
		APIVersion, Kind string
		CurrentContext   string `yaml:"current-context"`
		Clusters         []struct {
			Name    string
			Cluster map[string]any
		}
		Users []struct {
			Name string
			User map[string]any
		}
		Contexts []struct {
			Name    string
			Context struct{ Cluster, User string }
		}
	}
	if err := yaml.Unmarshal(f.Content, &config); err != nil {
		t.Fatalf("%v\n%s", err, f.Content)
	}
	if config.Kind != "Config" || len(config.Clusters) != 1 || len(config.Users) != 1 || len(config.Contexts) != 1 {
		t.Fatalf("is no kubeconfig of one user:\n%s", f.Content)
	}
	context := config.Contexts[0]
	if context.Name != config.CurrentContext || context.Context.Cluster != config.Clusters[0].Name || context.Context.User != config.Users[0].Name {
		t.Fatalf("refers to something else:\n%s", f.Content)
	}
	return config.Users[0].User, config.Clusters[0].Cluster
}

// hostileWords are texts that YAML reads as something else, or not as one text.
var hostileWords = []string{
	"abcdef.0123456789abcdef", "1", "0123456.0123456789", "1e3", "0x1f", "0o17", "1_000", "1:30", ".5", ".inf", "~", "null", "true", "yes", "on", "n",
	"-", "-a", "--", "---", "...", "?", ":", "a:b", "a:", "#a", "a#b", "&a", "*a", "!a", "!!str", "|", ">", "%a", "@a", "`a", "\"", "'", "\"a\"",
	"'a'", "a'b", "\\", "\\n", "{a}", "[a]", "{", "}", "[", "]", ",", "<<", "=", "2001-01-01", "$HOME", strings.Repeat("x", 2000),
}

func TestToken(t *testing.T) {
	for _, layout := range profile.Names() {
		for _, token := range hostileWords {
			c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
				c.Components.Layout = layout
			})
			c.Join.BootstrapToken = nodeconfig.NewSecret(token) // none that is valid, so that a mistake would show
			f := fileAt(t, first(New(c, facts.Facts{})), profile.Of(layout).Paths.BootstrapConfig)
			user, cluster := readKubeconfig(t, f)
			if !reflect.DeepEqual(user, map[string]any{"token": token}) {
				t.Errorf("%q became %q", token, user)
			}
			if !reflect.DeepEqual(cluster, map[string]any{"server": c.Cluster.Server, "certificate-authority": profile.Of(layout).Paths.CA}) {
				t.Errorf("the cluster is %v", cluster)
			}
			if !f.Secret || f.Mode != 0o600 {
				t.Errorf("the token is in a file that is secret: %v, of mode %04o", f.Secret, f.Mode)
			}
		}
	}
}

func TestExecPlugin(t *testing.T) {
	for _, word := range append(hostileWords, "", " ", "two words", "line\nbreak", "\ttab ", "é🙂") {
		c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
			c.Join = nodeconfig.Join{Exec: &nodeconfig.ExecCredential{
				Command: "/opt/bin/plugin", Args: []nodeconfig.Secret{nodeconfig.NewSecret("get-token"), nodeconfig.NewSecret(word)}, Env: []nodeconfig.EnvVar{{Name: "X", Value: nodeconfig.NewSecret(word)}},
			}}
		})
		p, _ := New(c, facts.Facts{})
		user, _ := readKubeconfig(t, fileAt(t, p, familyOf(c).Paths.Kubeconfig))
		want := map[string]any{"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1", "command": "/opt/bin/plugin", "interactiveMode": "Never",
			"args": []any{"get-token", word}, "env": []any{map[string]any{"name": "X", "value": word}},
		}}
		if !reflect.DeepEqual(user, want) {
			t.Errorf("%q became %q", word, user)
		}
		if planned(p, resource.ID("File:"+familyOf(c).Paths.BootstrapConfig)) {
			t.Error("there is a bootstrap kubeconfig")
		}
	}
}

func TestClientCertificate(t *testing.T) {
	c := contract(t, "aks/client-certificate.json")
	l := familyOf(c).Paths
	p, _ := New(c, facts.Facts{})
	user, _ := readKubeconfig(t, fileAt(t, p, l.Kubeconfig))
	if !reflect.DeepEqual(user, map[string]any{"client-certificate": l.ClientCert, "client-key": l.ClientKey}) {
		t.Errorf("the user is %v", user)
	}
	key := fileAt(t, p, l.ClientKey)
	if string(key.Content) != c.Join.ClientCertificate.Key.Reveal() || !key.Secret || key.Mode != 0o600 {
		t.Errorf("the key is secret: %v, of mode %04o", key.Secret, key.Mode)
	}
	if string(fileAt(t, p, l.ClientCert).Content) != c.Join.ClientCertificate.Certificate {
		t.Error("the certificate is another")
	}
}

// With the agent the call is the agent's own, whatever the image has. Without one it is that of the image's plug-in.
func TestAWSIdentity(t *testing.T) {
	agent := map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1", "command": "/opt/slipway/bin/slipway-node",
		"args": []any{"eks-token", "--cluster-name=prod", "--region=eu-west-1"},
	}
	cli := func(program string) map[string]any {
		return map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1beta1", "command": program,
			"args": []any{"eks", "get-token", "--cluster-name", "prod", "--region", "eu-west-1"},
		}
	}
	authenticator := map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "/usr/bin/aws-iam-authenticator", "args": []any{"token", "-i", "prod"},
		"env": []any{
			map[string]any{"name": "AWS_REGION", "value": "eu-west-1"}, map[string]any{"name": "AWS_STS_REGIONAL_ENDPOINTS", "value": "regional"},
		},
	}
	for _, c := range []struct {
		image, os string
		known     []string
		want      map[string]any
	}{
		{"nothing is known", "", nil, authenticator},
		{"EKS's image of Amazon Linux 2023", "amzn", nil, cli("/usr/bin/aws")},
		{"both", "", []string{"/usr/bin/aws", "/usr/bin/aws-iam-authenticator"}, authenticator},
		{"both, of Amazon Linux 2023", "amzn", []string{"/usr/bin/aws", "/usr/bin/aws-iam-authenticator"}, authenticator},
		{"the AWS CLI as a snap", "ubuntu", []string{"/snap/bin/aws"}, cli("/snap/bin/aws")},
		{"neither", "", []string{}, nil},
	} {
		config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Join = nodeconfig.Join{Method: nodeconfig.JoinAWS, AWS: &nodeconfig.AWSIdentity{ClusterName: "prod", Region: "eu-west-1"}}
			n.Cloud.Provider, n.Kubelet.NodeIPs = "aws", []string{"10.0.0.5"}
		})
		var known facts.Facts
		known.OS.ID, known.Hostname = c.os, "ip-10-0-0-5"
		if c.known != nil {
			known.Components = []components.Component{{Name: "kubelet", Version: config.Cluster.KubernetesVersion, Path: "/usr/bin/kubelet"}}
		}
		for _, program := range c.known {
			known.Components = append(known.Components, components.Component{Name: path.Base(program), Path: program})
		}
		for name, made := range map[string]struct {
			want map[string]any
			make func(*nodeconfig.NodeConfig, facts.Facts) (resource.Plan, []nodeconfig.Problem)
		}{"agent": {agent, New}, "no agent": {c.want, WithoutAgent}} {
			p, problems := made.make(config, known)
			if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
				if made.want != nil || fatal[0].Path != "$.join.method" {
					t.Errorf("%s, %s: %v", c.image, name, fatal)
				}
				continue
			}
			user, _ := readKubeconfig(t, fileAt(t, p, familyOf(config).Paths.Kubeconfig))
			if made.want == nil {
				t.Errorf("%s: it joins with %v", c.image, user)
				continue
			}
			want := maps.Clone(made.want)
			want["interactiveMode"] = "Never"
			if diff := cmp.Diff(map[string]any{"exec": want}, user); diff != "" {
				t.Errorf("%s, %s: the user differs:\n%s", c.image, name, diff)
			}
		}
	}
}

// The join method decides the kubelet's flags, and the agent's credential for the API server.
func TestJoinMethods(t *testing.T) {
	for _, c := range []struct {
		method           nodeconfig.JoinMethod
		bootstrap, token bool
		fatal            bool
	}{
		{method: nodeconfig.JoinBootstrapToken, bootstrap: true, token: true},
		{method: nodeconfig.JoinClientCertificate},
		{method: nodeconfig.JoinExec},
		{method: nodeconfig.JoinAWS},
		{method: nodeconfig.JoinAttested, bootstrap: true, token: true}, // it falls back on the token
	} {
		config := contract(t, "aks/client-certificate.json", func(n *nodeconfig.NodeConfig) {
			n.Join.Method = c.method
			n.Join.BootstrapToken = nodeconfig.NewSecret("abcdef.0123456789abcdef")
			n.Join.Exec = &nodeconfig.ExecCredential{Command: "/opt/bin/plugin"}
			n.Join.AWS = &nodeconfig.AWSIdentity{ClusterName: "prod", Region: "eu-west-1"}
		})
		p, problems := New(config, facts.Facts{})
		if fatal := len(nodeconfig.Fatal(problems)) > 0; fatal != c.fatal {
			t.Errorf("%s: fatal is %v: %v", c.method, fatal, problems)
		}
		argv, _, err := kubeletCommand(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(argv, " "), "--bootstrap-kubeconfig="+familyOf(config).Paths.BootstrapConfig); got != c.bootstrap {
			t.Errorf("%s: bootstraps: %v", c.method, got)
		}
		asked := slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
			check, ok := r.Spec.(*resource.Check)
			return ok && check.APIServer != nil && !check.APIServer.Token.IsZero()
		})
		if asked != c.token {
			t.Errorf("%s: the API server is asked with a token: %v", c.method, asked)
		}
	}
}
