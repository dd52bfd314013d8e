package kubeadm

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The fields of a kubeconfig without a field in a NodeConfig (k8s.io/client-go,
// tools/clientcmd/api/v1/types.go).
var (
	configRows = []row{
		{"preferences", false, "", kubectlReason},
		{"extensions", false, "", kubectlReason},
		{"discovery", false, "", joinReason},
		{"nodeRegistration", false, "", joinReason},
	}
	clusterRows = []row{
		{"insecure-skip-tls-verify", true, "", "takes any server for the cluster's; give the cluster's CA in certificate-authority-data"},
		{"certificate-authority", true, "", fileReason},
		{"tls-server-name", true, "", "is not possible: the API server's certificate must have the name from its URL"},
		{"proxy-url", true, "", "is not possible: the kubelet reaches its API server without a proxy"},
		{"disable-compression", false, "", "has no effect on a kubelet"},
		{"extensions", false, "", kubectlReason},
	}
	userRows = []row{
		{"tokenFile", true, "", fileReason},
		{"client-certificate", true, "", fileReason},
		{"client-key", true, "", fileReason},
		{"username", true, "", "is no credential that an API server takes"},
		{"password", true, "", "is no credential that an API server takes"},
		{"auth-provider", true, "", "is not in Kubernetes any more; use exec"},
		{"as", true, "", actingReason},
		{"as-uid", true, "", actingReason},
		{"as-groups", true, "", actingReason},
		{"as-user-extra", true, "", actingReason},
		{"exec.provideClusterInfo", true, "", "is not possible; name the cluster in the plug-in's arguments"},
		{"exec.installHint", false, "", kubectlReason},
		{"exec.interactiveMode", false, "Never", "has no effect: on a node, a plug-in cannot ask a user"},
		{"extensions", false, "", kubectlReason},
	}
)

const (
	joinReason    = "is a JoinConfiguration's, and has no effect in a kubeconfig"
	kubectlReason = "has no effect on a node: it is for kubectl"
	fileReason    = "names a file; put what is in it into the kubeconfig, with kubectl config view --raw --flatten"
	actingReason  = "impersonates another user; a node uses its own identity"
	currentPath   = `$["current-context"]`
)

// kubeconfig translates the current context of a kubeconfig.
func (t *translation) kubeconfig() {
	t.withoutPlace(configRows, t.tree, "$")
	in := &t.in
	current := slices.IndexFunc(in.Contexts, func(c Context) bool { return c.Name == in.CurrentContext })
	switch {
	case in.CurrentContext == "":
		t.Report(true, nodeconfig.Missing, currentPath, "is missing; name the context that the node takes")
		return
	case current < 0:
		t.Report(true, nodeconfig.Invalid, currentPath, "names no context of the kubeconfig")
		return
	}
	at, pair := document.IndexPath("$.contexts", current)+".context", in.Contexts[current].Context
	cluster := slices.IndexFunc(in.Clusters, func(c Cluster) bool { return c.Name == pair.Cluster })
	if cluster < 0 {
		t.Report(true, nodeconfig.Invalid, at+".cluster", "names no cluster of the kubeconfig")
	} else {
		t.server(in.Clusters[cluster].Cluster, document.IndexPath("$.clusters", cluster)+".cluster", item(t.tree, "clusters", cluster, "cluster"))
	}
	user := slices.IndexFunc(in.Users, func(u User) bool { return u.Name == pair.User })
	if user < 0 {
		t.Report(true, nodeconfig.Invalid, at+".user", "names no user of the kubeconfig")
	} else {
		t.credential(in.Users[user].User, document.IndexPath("$.users", user)+".user", item(t.tree, "users", user, "user"))
	}
	t.others("$.contexts", len(in.Contexts), current)
	t.others("$.clusters", len(in.Clusters), cluster)
	t.others("$.users", len(in.Users), user)
}

// item returns a field of a list's item.
func item(tree *document.Node, list string, i int, name string) *document.Node {
	items, _ := tree.Get(list)
	if items == nil || i >= len(items.Items) {
		return nil
	}
	n, _ := items.Items[i].Get(name)
	return n
}

// others reports the items that belong to other contexts.
func (t *translation) others(list string, n, chosen int) {
	for i := range n {
		if i != chosen {
			t.Report(false, nodeconfig.NoEffect, document.IndexPath(list, i), "has no effect: it is not of the current context")
		}
	}
}

func (t *translation) server(in Server, at string, n *document.Node) {
	t.withoutPlace(clusterRows, n, at)
	t.out.Cluster.Server, t.out.Cluster.CertificateAuthority = in.Server, in.CertificateAuthorityData
	t.moved("$.cluster.server", at+".server")
	t.moved("$.cluster.certificateAuthority", document.FieldPath(at, "certificate-authority-data"))
}

func (t *translation) credential(in Credential, at string, n *document.Node) {
	t.withoutPlace(userRows, n, at)
	certificate, key := document.FieldPath(at, "client-certificate-data"), document.FieldPath(at, "client-key-data")
	for to, from := range map[string]string{
		"$.join": at, "$.join.bootstrapToken": at + ".token", "$.join.exec": at + ".exec",
		"$.join.clientCertificate.certificate": certificate, "$.join.clientCertificate.key": key,
	} {
		t.moved(to, from)
	}
	given := 0
	if !in.Token.IsZero() {
		given++
		t.out.Join.BootstrapToken = in.Token
	}
	if in.ClientCertificateData != "" || !in.ClientKeyData.IsZero() {
		given++
		t.out.Join.ClientCertificate = &nodeconfig.ClientCertificate{Certificate: in.ClientCertificateData, Key: in.ClientKeyData}
	}
	if in.Exec != nil {
		given++
		t.out.Join.Exec = in.Exec
	}
	if given > 1 {
		t.Report(true, nodeconfig.Invalid, at, "has several credentials; keep the one that the node joins with")
	}
}
