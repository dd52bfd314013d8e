package kubeadm

import (
	"net"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// joinRows are fields of a JoinConfiguration (k8s.io/kubernetes, cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go).
var joinRows = []row{
	{"discovery.file", true, "", "names a kubeconfig on the machine, or a URL, which Slipway does not read; give that kubeconfig itself as the contract, with the token as its user's"},
	{"dryRun", true, "", "asks that nothing be done; slipway-node provision --dry-run does that"},
	{"patches", true, "", "names a directory on the machine, which Slipway does not read; put what its files kubeletconfiguration* set into kubelet.config of a native contract"},
	{"caCertPath", false, "/etc/kubernetes/pki/ca.crt", "has no effect: the CA is in /etc/kubernetes/pki/ca.crt"},
	{"discovery.timeout", false, "", timeoutReason},
	{"timeouts", false, "", timeoutReason},
	{"skipPhases", false, "", "has no effect: Slipway has no such phases"},
	{"nodeRegistration.ignorePreflightErrors", false, "", "has no effect: Slipway has no such checks"},
	{"nodeRegistration.imagePullPolicy", false, "IfNotPresent", imagesReason},
	{"nodeRegistration.imagePullSerial", false, "true", imagesReason},
	{"current-context", false, "", configReason},
	{"contexts", false, "", configReason},
	{"clusters", false, "", configReason},
	{"users", false, "", configReason},
}

const (
	timeoutReason = "has no effect: checks.apiServerTimeout of a native contract says how long the API server is waited for"
	configReason  = "is a kubeconfig's, and has no effect in a JoinConfiguration"
	imagesReason  = "has no effect: no image is pulled before the kubelet starts"
)

// socket is containerd's.
const socket = "/run/containerd/containerd.sock"

const (
	tokenPath    = "$.discovery.bootstrapToken.token"
	endpointPath = "$.discovery.bootstrapToken.apiServerEndpoint"
	tlsPath      = "$.discovery.tlsBootstrapToken"
	hashesPath   = "$.discovery.bootstrapToken.caCertHashes"
	skipPath     = "$.discovery.bootstrapToken.unsafeSkipCAVerification"
	argsPath     = "$.nodeRegistration.kubeletExtraArgs"
)

// join translates a JoinConfiguration.
func (t *translation) join() {
	switch {
	case t.in.Kind != joinKind:
		t.Report(true, nodeconfig.Invalid, "$.kind", "is not of a worker node; use a JoinConfiguration, or the command line kubeadm join")
	case !slices.Contains(apiVersions, t.in.APIVersion):
		t.Report(true, nodeconfig.Invalid, "$.apiVersion", "is a version that is not read; kubeadm config migrate makes the newest of it")
	}
	t.known["$.controlPlane"] = true
	if n, ok := t.tree.Get("controlPlane"); ok && n.Kind != document.Null { // even an empty one makes a control plane node
		t.Report(true, nodeconfig.Invalid, "$.controlPlane", "describes a node of the control plane, and Slipway joins worker nodes")
	}
	t.withoutPlace(joinRows, t.tree, "$")
	for to, from := range map[string]string{
		"$.cluster.server": endpointPath, "$.cluster.certificateAuthorityHashes": hashesPath, "$.cluster.certificateAuthority": hashesPath,
		"$.cluster.unsafeSkipCAVerification": skipPath, "$.join.bootstrapToken": tokenPath, "$.kubelet.nodeName": "$.nodeRegistration.name", "$.kubelet.taints": "$.nodeRegistration.taints",
	} {
		t.moved(to, from)
	}
	t.discovery()
	in := &t.in.NodeRegistration
	t.out.Kubelet.NodeName, t.out.Kubelet.Taints = nodeName(in.Name), in.Taints
	if in.CRISocket != "" && !place.SameSocket(in.CRISocket, socket) {
		t.Report(true, nodeconfig.Invalid, "$.nodeRegistration.criSocket", "is not containerd's socket, and Slipway's nodes have containerd; use unix://"+socket)
	}
	t.extraArgs()
}

// discovery translates how the node finds the cluster.
func (t *translation) discovery() {
	discovery, _ := t.tree.Get("discovery")
	if file, _ := discovery.Get("file"); !isEmpty(file) { // it is refused, and contains what is missing here
		t.out.Join.Method = nodeconfig.JoinNone
		return
	}
	in := &t.in.Discovery.BootstrapToken
	token, other := in.Token.Reveal(), t.in.Discovery.TLSBootstrapToken.Reveal()
	switch {
	case token == "":
		t.Report(true, nodeconfig.Missing, tokenPath, "is missing; the cluster has signed its CA with it")
	case other != "" && other != token:
		t.out.Join.DiscoveryToken = in.Token
		t.moved("$.join.discoveryToken", tokenPath)
		t.moved("$.join.bootstrapToken", tlsPath)
	}
	t.out.Join.BootstrapToken = t.in.Discovery.TLSBootstrapToken
	if other == "" {
		t.out.Join.BootstrapToken = in.Token
	}
	switch host, port, err := net.SplitHostPort(in.APIServerEndpoint); {
	case in.APIServerEndpoint == "":
		t.Report(true, nodeconfig.Missing, endpointPath, "is missing; give the API server's HOST:PORT")
	case err != nil || host == "" || port == "" || strings.Contains(in.APIServerEndpoint, "/"):
		t.Report(true, nodeconfig.Invalid, endpointPath, "is not the API server's HOST:PORT")
	default:
		t.out.Cluster.Server = "https://" + in.APIServerEndpoint
	}
	switch pinned := len(in.CACertHashes) > 0; {
	case pinned && in.UnsafeSkipCAVerification:
		t.Report(false, nodeconfig.NoEffect, skipPath, "has no effect: the CA must have one of the hashes")
	case in.UnsafeSkipCAVerification:
		t.out.Cluster.UnsafeSkipCAVerification = true
	case !pinned:
		t.Report(true, nodeconfig.Missing, hashesPath, "is missing; give the hash of the cluster's CA, which kubeadm token create --print-join-command prints")
	}
	t.out.Cluster.CertificateAuthorityHashes = in.CACertHashes
}

// extraArgs translates the kubelet's flags, which are a map or a list of names and values. Flags with a field in a NodeConfig go to
// that field.
func (t *translation) extraArgs() {
	registration, _ := t.tree.Get("nodeRegistration")
	args, ok := registration.Get("kubeletExtraArgs")
	if !ok || args.Kind == document.Null {
		return
	}
	switch args.Kind {
	case document.Map:
		for i := range args.Fields {
			f := &args.Fields[i]
			t.extraArg(f.Name, &f.Value, document.FieldPath(argsPath, f.Name))
		}
	case document.List:
		for i := range args.Items {
			item, at := &args.Items[i], document.IndexPath(argsPath, i)
			if item.Kind != document.Map {
				t.Report(true, nodeconfig.WrongType, at, "is "+item.Kind.String()+", want a map with a name and a value")
				continue
			}
			value, _ := item.Get("value")
			t.extraArg(item.GetText("name"), value, at)
		}
	default:
		t.Report(true, nodeconfig.WrongType, argsPath, "is "+args.Kind.String()+", want a map, or a list of names and values")
	}
}

func (t *translation) extraArg(name string, value *document.Node, at string) {
	if value == nil || value.Kind == document.Null { // as in kubeadm, whose decoder leaves an empty string
		value = &document.Node{Kind: document.String}
	}
	if value.Kind != document.String {
		t.Report(true, nodeconfig.WrongType, at, "has a value that is not a string; put it in quotes")
		return
	}
	k := &t.out.Kubelet
	switch name {
	case "node-labels":
		if k.Labels == nil {
			k.Labels = make(map[string]string)
		}
		for pair := range strings.SplitSeq(value.Text, ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if key != "" {
				k.Labels[key] = value
			}
		}
		t.moved("$.kubelet.labels", at)
	case "node-ip":
		k.NodeIPs = nil
		for ip := range strings.SplitSeq(value.Text, ",") {
			if value.Text != "" {
				k.NodeIPs = append(k.NodeIPs, strings.TrimSpace(ip))
			}
		}
		t.moved("$.kubelet.nodeIPs", at)
	case "hostname-override":
		k.NodeName = nodeName(value.Text)
		t.moved("$.kubelet.nodeName", at)
	default:
		t.moved(document.IndexPath("$.kubelet.flags", len(k.Flags)), at)
		k.Flags = append(k.Flags, nodeconfig.Flag{Name: name, Value: value.Text})
	}
}

// nodeName normalizes a node's name as kubeadm and the kubelet do (k8s.io/component-helpers, node/util: GetHostname).
func nodeName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
