package dialect

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig/kubeadm"
)

// Kubeadm is for the inputs that join a node to a kubeadm cluster: kubeadm join, its JoinConfiguration, or a kubeconfig.
const Kubeadm = "kubeadm"

var kubeadmJoin = Dialect{
	Name:     Kubeadm,
	Title:    "kubeadm's: a `JoinConfiguration`, which `kubeadm join` is read as, and a kubeconfig",
	Noun:     "kubeadm document",
	Document: new(kubeadm.Document),
	mark:     "the command line kubeadm join",
	forms:    []string{"kubeadm-join", "kubeconfig"},
	text:     kubeadm.ReadText,
	embedded: kubeadm.Embedded,
	detect:   kubeadm.Is,
	read: func(n *document.Node, _ Reading) translated {
		r := kubeadm.FromTree(n)
		return translated{config: r.NodeConfig, problems: r.Problems, origin: r.Origin, origins: alone(r.Origin), document: n}
	},
	unplanned: []Reader{
		{"$.apiVersion", false, "says which document it is"},
		{"$.kind", false, "says which document it is"},
		{"$.nodeRegistration.criSocket", false, "Slipway's nodes have containerd; another socket is refused"},
	},
}
