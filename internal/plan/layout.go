package plan

import (
	"path"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// layout is a table of places on a node.
type layout struct {
	// installed is a file that an image holds that was built for the purpose; empty for none.
	installed string

	containerd       string // binary
	runc             string // binary
	kubelet          string // binary
	volumePlugins    string
	manifests        string // static pods
	kubeletEnv       string // environment file
	kubeletConfig    string // configuration file
	kubeconfig       string
	bootstrapConfig  string
	ca               string
	caMode           uint32
	serverCert       string
	clientCert       string
	clientKey        string
	cloudConfig      string // azure.json
	customCloud      string // environment of a custom cloud
	credentialConfig string // image credential provider
	sysctls          string
	forwarding       string // sysctls that container networking needs
	features         string

	// kubeletDefaults says that the kubelet always has a configuration file, with Slipway's
	// defaults; otherwise only where the contract asks for one, with what it says.
	kubeletDefaults bool
	// nodeIP says that the node's address is given to the kubelet where its version needs it.
	nodeIP bool
	// resolverLink makes /etc/resolv.conf systemd-resolved's own list on these distributions.
	resolverLink []string
}

// layouts are the known layouts.
var layouts = map[string]layout{
	// kubeadm: the paths of its constants (cmd/kubeadm/app/constants), binaries as packaged.
	nodeconfig.LayoutStandard: {
		containerd:       "/usr/bin/containerd",
		runc:             "/usr/bin/runc",
		kubelet:          "/usr/bin/kubelet",
		volumePlugins:    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
		manifests:        "/etc/kubernetes/manifests",
		kubeletEnv:       "/etc/default/kubelet",
		kubeletConfig:    "/var/lib/kubelet/config.yaml",
		kubeconfig:       "/etc/kubernetes/kubelet.conf",
		bootstrapConfig:  "/etc/kubernetes/bootstrap-kubelet.conf",
		ca:               "/etc/kubernetes/pki/ca.crt",
		caMode:           0o644,
		serverCert:       "/etc/kubernetes/pki/apiserver.crt",
		clientCert:       "/etc/kubernetes/pki/kubelet-client.crt",
		clientKey:        "/etc/kubernetes/pki/kubelet-client.key",
		cloudConfig:      "/etc/kubernetes/azure.json",
		customCloud:      "/etc/kubernetes/azure-environment.json",
		credentialConfig: "/etc/kubernetes/credential-provider.yaml",
		sysctls:          "/etc/sysctl.d/99-slipway.conf",
		forwarding:       "/etc/sysctl.d/99-kubernetes-cri.conf",
		features:         "/etc/slipway/features.env",
		kubeletDefaults:  true,
	},
	// AKS node contract, sections "on the node" and "completion files".
	nodeconfig.LayoutAKS: {
		installed:        "/opt/azure/vhd-install.complete",
		containerd:       "/usr/bin/containerd",
		runc:             "/usr/bin/runc",
		kubelet:          "/opt/bin/kubelet",
		volumePlugins:    "/etc/kubernetes/volumeplugins",
		manifests:        "/etc/kubernetes/manifests",
		kubeletEnv:       "/etc/default/kubelet",
		kubeletConfig:    "/etc/default/kubeletconfig.json",
		kubeconfig:       "/var/lib/kubelet/kubeconfig",
		bootstrapConfig:  "/var/lib/kubelet/bootstrap-kubeconfig",
		ca:               "/etc/kubernetes/certs/ca.crt",
		caMode:           0o600,
		serverCert:       "/etc/kubernetes/certs/apiserver.crt",
		clientCert:       "/etc/kubernetes/certs/client.crt",
		clientKey:        "/etc/kubernetes/certs/client.key",
		cloudConfig:      "/etc/kubernetes/azure.json",
		customCloud:      "/etc/kubernetes/akscustom.json",
		credentialConfig: "/var/lib/kubelet/credential-provider-config.yaml",
		sysctls:          "/etc/sysctl.d/999-sysctl-aks.conf",
		forwarding:       "/etc/sysctl.d/99-force-bridge-forward.conf",
		features:         "/opt/azure/containers/enabled_features.sh",
		nodeIP:           true,
		resolverLink:     []string{"ubuntu"},
	},
}

// files are the places of the layout's files, but for that of the image credential provider's configuration,
// which a contract may name itself.
func (l layout) files() []string {
	return []string{
		l.kubeletEnv, l.kubeletConfig, l.kubeconfig, l.bootstrapConfig, l.ca, l.serverCert, l.clientCert, l.clientKey,
		l.cloudConfig, l.customCloud, l.sysctls, l.forwarding, l.features,
	}
}

// directories are those that the kubelet expects.
func (l layout) directories() []string {
	return []string{"/var/lib/kubelet", path.Dir(l.ca), l.manifests, l.volumePlugins}
}

// layoutOf is the config's layout. One that is unknown is a problem that validation has; what else there is to
// say is said of the default.
func layoutOf(c *nodeconfig.NodeConfig) layout {
	if l, ok := layouts[c.Components.Layout]; ok {
		return l
	}
	return layouts[nodeconfig.DefaultLayout]
}
