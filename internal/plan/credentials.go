package plan

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// credentials writes what the kubelet authenticates with, and tells it where that is.
var credentials = concern{
	name:  "credentials",
	joins: true,
	reads: []string{
		"$.cluster.server",
		"$.join.bootstrapToken",
		"$.join.clientCertificate",
		"$.join.exec",
		"$.kubelet.flags",
	},
	declines: []string{"$.join.attested"},
	plan:     planCredentials,
}

func planCredentials(in *input, out *output) {
	unusedCredentials(in.config.Join, out)
	if j := in.config.Join; j.Attested != nil || j.Method == nodeconfig.JoinAttested {
		p := notApplied("$.join.attested")
		if p.Fatal = j.Method == nodeconfig.JoinAttested; p.Fatal { // there is no other way
			p.Reason += "; give the node a token or a client certificate"
		} else {
			p.Reason += "; the node joins with its other credential"
		}
		out.report(p)
	}
	flags := "--kubeconfig=" + in.family.Paths.Kubeconfig
	entries := in.family.Kubelet.Entries
	switch j := in.config.Join; j.Method {
	case nodeconfig.JoinBootstrapToken:
		user := kubeUser{Token: j.BootstrapToken.Reveal()}
		own := retireCredential(in, out)
		out.add(resource.Resource{
			Phase:   resource.Join,
			Effects: resource.Restarting(kubeletUnit),
			Reason:  "joins with a bootstrap token; the kubelet writes its own kubeconfig then",
			Spec: &resource.File{
				Path: in.family.Paths.BootstrapConfig, Mode: 0o600, Secret: true, Until: own,
				Content: kubeconfigFile(in, "kubelet-bootstrap", entries.BootstrapContext, user),
			},
		})
		flags += " --bootstrap-kubeconfig=" + in.family.Paths.BootstrapConfig
	case nodeconfig.JoinClientCertificate:
		// A config that is not valid may lack the credential; its other problems are of interest all the same.
		pair := cmp.Or(j.ClientCertificate, &nodeconfig.ClientCertificate{})
		out.file(resource.Join, in.family.Paths.ClientCert, 0o644, []byte(pair.Certificate), "the kubelet's client certificate", kubeletUnit)
		out.secret(resource.Join, in.family.Paths.ClientKey, []byte(pair.Key.Reveal()), "the kubelet's client key", kubeletUnit)
		user := kubeUser{ClientCertificate: in.family.Paths.ClientCert, ClientKey: in.family.Paths.ClientKey}
		out.file(resource.Join, in.family.Paths.Kubeconfig, 0o600, kubeconfigFile(in, "client", entries.Context, user),
			"joins with a client certificate", kubeletUnit)
	case nodeconfig.JoinExec:
		out.secret(resource.Join, in.family.Paths.Kubeconfig, kubeconfigFile(in, "exec", entries.Context, execUser(cmp.Or(j.Exec, &nodeconfig.ExecCredential{}))),
			"joins with a credential plug-in", kubeletUnit)
	}
	kubeletDropIn(out, resource.Join, in.family.Kubelet.Kubeconfig, flags)
}

// unusedCredentials reports what the contract gives to join with, and the node's method does not use.
func unusedCredentials(j nodeconfig.Join, out *output) {
	pair := cmp.Or(j.ClientCertificate, &nodeconfig.ClientCertificate{})
	for _, credential := range []struct {
		path  string
		of    nodeconfig.JoinMethod
		given bool
	}{
		{"$.join.bootstrapToken", nodeconfig.JoinBootstrapToken, !j.BootstrapToken.IsZero()},
		{"$.join.clientCertificate.certificate", nodeconfig.JoinClientCertificate, pair.Certificate != ""},
		{"$.join.clientCertificate.key", nodeconfig.JoinClientCertificate, !pair.Key.IsZero()},
		{"$.join.exec", nodeconfig.JoinExec, j.Exec != nil},
	} {
		if credential.given && credential.of != j.Method {
			out.warn(nodeconfig.Dropped, credential.path, "is not used, because the node joins in another way")
		}
	}
}

// kubeconfig is client-go's configuration, as much of it as a kubelet needs.
type kubeconfig struct {
	APIVersion     string         `yaml:"apiVersion"`
	Kind           string         `yaml:"kind"`
	Clusters       []namedCluster `yaml:"clusters"`
	Users          []namedUser    `yaml:"users"`
	Contexts       []namedContext `yaml:"contexts"`
	CurrentContext string         `yaml:"current-context"`
}

type namedCluster struct {
	Name    string      `yaml:"name"`
	Cluster kubeCluster `yaml:"cluster"`
}

type kubeCluster struct {
	CertificateAuthority string `yaml:"certificate-authority"`
	Server               string `yaml:"server"`
}

type namedUser struct {
	Name string   `yaml:"name"`
	User kubeUser `yaml:"user"`
}

type kubeUser struct {
	Token             string    `yaml:"token,omitempty"`
	ClientCertificate string    `yaml:"client-certificate,omitempty"`
	ClientKey         string    `yaml:"client-key,omitempty"`
	Exec              *kubeExec `yaml:"exec,omitempty"`
}

type kubeExec struct {
	APIVersion string   `yaml:"apiVersion"`
	Command    string   `yaml:"command"`
	Args       []string `yaml:"args,omitempty"`
	Env        []envVar `yaml:"env,omitempty"`
	// InteractiveMode is required from client.authentication.k8s.io/v1 on.
	InteractiveMode string `yaml:"interactiveMode"`
}

type envVar struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

func execUser(e *nodeconfig.ExecCredential) kubeUser {
	exec := &kubeExec{APIVersion: e.APIVersion, Command: e.Command, InteractiveMode: "Never"}
	for _, arg := range e.Args {
		exec.Args = append(exec.Args, arg.Reveal())
	}
	for _, env := range e.Env {
		exec.Env = append(exec.Env, envVar{env.Name, env.Value.Reveal()})
	}
	return kubeUser{Exec: exec}
}

type namedContext struct {
	Name    string      `yaml:"name"`
	Context kubeContext `yaml:"context"`
}

type kubeContext struct {
	Cluster string `yaml:"cluster"`
	User    string `yaml:"user"`
}

func kubeconfigFile(in *input, user, context string, credential kubeUser) []byte {
	cluster := in.family.Kubelet.Entries.Cluster
	return yamlFile(kubeconfig{
		APIVersion: "v1",
		Kind:       "Config",
		Clusters: []namedCluster{{cluster, kubeCluster{
			CertificateAuthority: in.family.Paths.CA,
			Server:               in.config.Cluster.Server,
		}}},
		Users:          []namedUser{{user, credential}},
		Contexts:       []namedContext{{context, kubeContext{cluster, user}}},
		CurrentContext: context,
	})
}
