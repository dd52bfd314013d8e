package join

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// credentials writes the kubelet's credentials, and passes their paths to it.
var credentials = concern.Concern{
	Name:  "credentials",
	Joins: true,
	Reads: []string{
		setting.AWSFIPS,
		"$.cluster.server",
		"$.join.attested",
		"$.join.aws",
		"$.join.bootstrapToken",
		"$.join.clientCertificate",
		"$.join.exec",
		"$.kubelet.flags",
	},
	Plan: planCredentials,
}

func planCredentials(in *concern.Input, out *concern.Output) {
	unusedCredentials(in, out)
	names := in.Family.Kubelet.Entries
	cluster := names.Cluster
	switch j := in.Config.Join; in.Method {
	case nodeconfig.JoinBootstrapToken, nodeconfig.JoinAttested:
		if in.Method == nodeconfig.JoinAttested && !in.FallsBack() {
			break // there is nothing before the client has got it
		}
		user := fieldsOf("token", j.BootstrapToken.Reveal())
		own, stays := ownCredentials(in), in.Family.Kubelet.KeepsBootstrap
		if !stays {
			retireCredential(in, out)
		}
		out.Append(resource.Resource{
			Phase:   resource.Join,
			Effects: resource.Restarting(concern.KubeletUnit),
			Reason:  "joins with a bootstrap token; the kubelet writes its own kubeconfig then",
			Spec: &resource.File{
				Path: in.Family.Paths.BootstrapConfig, Mode: 0o600, Secret: true, Until: own, Stays: stays,
				Content: kubeconfigFile(in, entries{cluster, names.BootstrapContext, "kubelet-bootstrap", ""}, user),
			},
		})
	case nodeconfig.JoinClientCertificate:
		// A config that is not valid may lack the credential; its other problems are of interest all the same.
		pair := cmp.Or(j.ClientCertificate, &nodeconfig.ClientCertificate{})
		out.File(resource.Join, in.Family.Paths.ClientCert, 0o644, []byte(pair.Certificate), "the kubelet's client certificate", concern.KubeletUnit)
		out.Secret(resource.Join, in.Family.Paths.ClientKey, []byte(pair.Key.Reveal()), "the kubelet's client key", concern.KubeletUnit)
		user := fieldsOf("client-certificate", in.Family.Paths.ClientCert, "client-key", in.Family.Paths.ClientKey)
		out.File(resource.Join, in.Family.Paths.Kubeconfig, 0o600, kubeconfigFile(in, entries{cluster, names.Context, "client", ""}, user),
			"joins with a client certificate", concern.KubeletUnit)
	case nodeconfig.JoinExec:
		out.Secret(resource.Join, in.Family.Paths.Kubeconfig, kubeconfigFile(in, entries{cluster, names.Context, "exec", ""}, execUser(cmp.Or(j.Exec, &nodeconfig.ExecCredential{}))),
			"joins with a credential plug-in", concern.KubeletUnit)
	case nodeconfig.JoinAWS:
		out.File(resource.Join, in.Family.Paths.Kubeconfig, 0o600, kubeconfigFile(in, entries{cluster, names.Context, "aws", ""}, execUser(awsCredential(in, out))),
			"joins with the machine's AWS identity (Amazon EKS: kubeconfig of a node)", concern.KubeletUnit)
	}
}

// unusedCredentials reports what the contract gives to join with, and the node's method does not use.
func unusedCredentials(in *concern.Input, out *concern.Output) {
	j := in.Config.Join
	pair := cmp.Or(j.ClientCertificate, &nodeconfig.ClientCertificate{})
	for _, credential := range []struct {
		path  string
		of    nodeconfig.JoinMethod
		given bool
	}{
		{"$.join.bootstrapToken", nodeconfig.JoinBootstrapToken, !j.BootstrapToken.IsZero() && j.Method != nodeconfig.JoinAttested},
		{"$.join.attested", nodeconfig.JoinAttested, j.Attested != nil},
		{"$.join.clientCertificate.certificate", nodeconfig.JoinClientCertificate, pair.Certificate != ""},
		{"$.join.clientCertificate.key", nodeconfig.JoinClientCertificate, !pair.Key.IsZero()},
		{"$.join.exec", nodeconfig.JoinExec, j.Exec != nil},
		{"$.join.aws", nodeconfig.JoinAWS, j.AWS != nil},
	} {
		if credential.given && credential.of != j.Method {
			out.Warn(nodeconfig.Dropped, credential.path, "is not used, because the node joins by another method")
		}
	}
}

func execUser(e *nodeconfig.ExecCredential) document.Node {
	exec := fieldsOf("apiVersion", e.APIVersion, "command", e.Command)
	var args, env []document.Node
	for _, arg := range e.Args {
		args = append(args, textOf(arg.Reveal()))
	}
	for _, v := range e.Env {
		env = append(env, fieldsOf("name", v.Name, "value", v.Value.Reveal()))
	}
	if len(args) > 0 {
		add(&exec, "args", document.Node{Kind: document.List, Items: args})
	}
	if len(env) > 0 {
		add(&exec, "env", document.Node{Kind: document.List, Items: env})
	}
	add(&exec, "interactiveMode", textOf("Never")) // required from client.authentication.k8s.io/v1 on
	var user document.Node
	add(&user, "exec", exec)
	return user
}
