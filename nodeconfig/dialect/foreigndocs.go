package dialect

import (
	"bytes"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// foreignDocuments are the documents of other programs that a user may take for a contract, by the prefix of their apiVersion, by a
// field that only they have, with dots between names, or by both. The first match counts.
var foreignDocuments = []struct {
	apiVersion, field string
	// is completes "the document ...", with what to do.
	is string
}{
	{apiVersion: "node.eks.aws/", field: "spec.hybrid", is: "is a NodeConfig of a hybrid node of EKS (node.eks.aws), whose machine is not in EC2; Slipway gets no identity for it"},
	{apiVersion: "node.eks.aws/", field: "spec.cluster.id", is: "is a NodeConfig of EKS's nodeadm (node.eks.aws) for a local cluster on an outpost; this version makes no node of one"},
	{apiVersion: "node.eks.aws/", is: "is a NodeConfig of EKS's nodeadm (node.eks.aws), which this version does not read"},
	{apiVersion: "kubelet.config.k8s.io/", is: "is a configuration of the kubelet's; it belongs in kubelet.config of a native contract"},
	{apiVersion: "kubeproxy.config.k8s.io/", is: "is a configuration of kube-proxy's, which runs as a pod"},
	{apiVersion: "karpenter.", is: "is an object of Karpenter's, which lives in the cluster"},
	{apiVersion: "cluster.x-k8s.io/", is: "is an object of Cluster API's, which lives in the management cluster"},
	{apiVersion: "bootstrap.cluster.x-k8s.io/", is: "is an object of Cluster API's, which lives in the management cluster"},
	{field: "variant", is: "is a Butane config, from which butane makes an Ignition config"},
	{field: "ignition", is: "is a config of Ignition's without a contract in it"},
	{field: "write_files", is: "is a cloud-config without a contract in it"},
	{field: "runcmd", is: "is a cloud-config without a contract in it"},
	{apiVersion: "v1", field: "data", is: "is a Secret or a ConfigMap of a cluster; give the contract that its data has"},
	{apiVersion: "v1", field: "stringData", is: "is a Secret of a cluster; give the contract that its data has"},
	{apiVersion: "v1", field: "metadata", is: "is an object of a cluster's API, which lives in the cluster"},
	{field: "clusters", is: "is a kubeconfig without its apiVersion v1 and kind Config"},
}

// windowsOnly is why user data that EC2 runs on Windows is refused.
const windowsOnly = "is for Windows, and Slipway makes Linux nodes"

// webPage is why HTML and XML are refused.
const webPage = "is HTML or XML, such as the error page of a server; check where the file is from"

// foreignTexts are texts that a user may take for a contract, by their beginning in lower case. The first match counts.
var foreignTexts = []struct {
	prefix string
	// is completes "the document ...", with what to do.
	is string
}{
	{"<powershell>", windowsOnly},
	{"<script>", windowsOnly},
	{"<persist>", windowsOnly},
	{"version: 1.0\ntasks:\n- task: executescript", windowsOnly},
	{"<!doctype", webPage},
	{"<html", webPage},
	{"<?xml", webPage},
	{"-----begin ", "is PEM, such as a certificate or a key; a contract names the cluster's certificate in cluster.certificateAuthority"},
	{"[settings.", "is a configuration of Bottlerocket, whose images make nodes without Slipway"},
}

// describeForeign describes a document of another program. It returns "" for an unknown document.
func describeForeign(tree *document.Node) string {
	for _, o := range foreignDocuments {
		if strings.HasPrefix(tree.GetText("apiVersion"), o.apiVersion) && (o.field == "" || hasField(tree, o.field)) {
			return o.is
		}
	}
	return ""
}

// hasField reports whether a document has a field, with dots between names.
func hasField(tree *document.Node, path string) (has bool) {
	for name := range strings.SplitSeq(path, ".") {
		if tree, has = tree.Get(name); !has {
			return false
		}
	}
	return true
}

// describeText describes a text that is no contract by its beginning. It returns "" for an unknown text.
func describeText(data []byte) string {
	begin := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 256)]))
	for _, o := range foreignTexts {
		if bytes.HasPrefix(begin, []byte(o.prefix)) {
			return o.is
		}
	}
	return ""
}
