package doctor

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
)

// Kubelet is how this machine's kubelet is set up, whatever has set it up: Slipway, kubeadm, AKS or EKS.
type Kubelet struct {
	// Service is the service with its command line: that of the running process, or else that of its unit.
	Service
	// Origin is where the settings are from: the process, the unit, or the paths of a family of nodes. It is empty if this
	// machine has no kubelet.
	Origin string
	// Kubeconfig, Bootstrap and Config are the paths of its files, and ConfigDropIns the directory of files that are merged
	// over Config.
	Kubeconfig, Bootstrap, Config, ConfigDropIns Found
	// Root is the directory of its data, and Certificates that of its certificates.
	Root, Certificates Found
	// Runtime is the endpoint of its container runtime.
	Runtime Found
	// Node is the name of its Node.
	Node Found
	// Authority is the file of the CA whose clients it serves: that of its cluster.
	Authority Found
	// Settings are its configuration, with the files in ConfigDropIns. If nil, it has none, or SettingsError says why it
	// cannot be read.
	Settings      *document.Node
	SettingsError error
}

// Found is a value with the place where it was found.
type Found struct{ Value, From string }

// kubeletDefault is the origin of the values that a kubelet has without settings.
const kubeletDefault = "the kubelet's default"

// maxConfig limits a file with settings.
const maxConfig = document.MaxBytes

// layout finds the kubelet's setup once.
type layout struct {
	once    sync.Once
	kubelet *Kubelet
}

// Kubelet is how the machine's kubelet is set up. The caller must not change it.
func (p *Patient) Kubelet() *Kubelet {
	p.known.layout.once.Do(func() { p.known.layout.kubelet = findKubelet(p.Machine) })
	return p.known.layout.kubelet
}

// findKubelet looks at the running process, then at the unit, then at the paths of the families.
func findKubelet(files Files) *Kubelet {
	k := &Kubelet{Service: findService(files, profile.KubeletUnit, "kubelet")}
	k.Origin = k.From
	flag := func(name string) Found {
		if value, has := k.Flag(name); has {
			return Found{value, k.From + ", --" + name}
		}
		return Found{}
	}
	k.Kubeconfig, k.Bootstrap, k.Config, k.ConfigDropIns = flag("kubeconfig"), flag("bootstrap-kubeconfig"), flag("config"), flag("config-dir")
	if k.Kubeconfig.Value == "" && k.Config.Value == "" {
		k.findFamily(files)
	}
	k.readSettings(files)
	k.Root = orDefault(flag("root-dir"), "/var/lib/kubelet")
	k.Certificates = orDefault(flag("cert-dir"), concern.KubeletCertDir)
	k.Runtime = orDefault(orSetting(flag("container-runtime-endpoint"), k, "$.containerRuntimeEndpoint"), concern.ContainerdSocket)
	k.Authority = orSetting(flag("client-ca-file"), k, "$.authentication.x509.clientCAFile")
	if k.Node = flag("hostname-override"); k.Node.Value == "" {
		k.Node = hostName(files)
	}
	k.Node.Value = strings.ToLower(strings.TrimSpace(k.Node.Value)) // k8s.io/component-helpers, node/util, GetHostname
	return k
}

// findFamily takes the paths of the first family of which this machine has a file with a credential or with settings: the
// machine has no command line of a kubelet, or one that a program of its image makes when it starts.
func (k *Kubelet) findFamily(files Files) {
	for _, family := range profile.All() {
		paths := family.Paths
		present := func(path string) bool {
			entry, err := files.Stat(path)
			return err == nil && entry.Kind != ""
		}
		if !slices.ContainsFunc([]string{paths.Kubeconfig, paths.BootstrapConfig, paths.KubeletConfig}, present) {
			continue
		}
		from := "the paths of the family " + family.Name
		if k.Origin == "" {
			k.Origin = from
		}
		k.Kubeconfig, k.Bootstrap = Found{paths.Kubeconfig, from}, Found{paths.BootstrapConfig, from}
		if present(paths.KubeletConfig) {
			k.Config = Found{paths.KubeletConfig, from}
			if paths.KubeletDropIn != "" {
				k.ConfigDropIns = Found{path.Dir(paths.KubeletDropIn), from}
			}
		}
		return
	}
}

func orDefault(found Found, value string) Found {
	if found.Value == "" {
		return Found{value, kubeletDefault}
	}
	return found
}

// orSetting is a value of the kubelet's configuration, unless a flag has one.
func orSetting(found Found, k *Kubelet, at string) Found {
	if found.Value != "" || k.Settings == nil {
		return found
	}
	if n := k.Settings.At(at); n != nil && n.Kind == document.String && n.Text != "" {
		return Found{n.Text, k.Config.Value}
	}
	return Found{}
}

// readSettings reads the configuration file, and merges those in the directory over it, by name (k8s.io/kubernetes v1.36.3
// cmd/kubelet/app/server.go, mergeKubeletConfigurations).
func (k *Kubelet) readSettings(files Files) {
	var all []*document.Node
	add := func(path string) bool {
		content, err := files.ReadLinked(path, maxConfig)
		var tree *document.Node
		if err == nil {
			tree, err = document.Parse(content)
		}
		if err != nil {
			k.SettingsError = err
			return false
		}
		all = append(all, tree)
		return true
	}
	if k.Config.Value != "" && !add(k.Config.Value) {
		return
	}
	if dir := k.ConfigDropIns.Value; dir != "" {
		names, _ := files.ReadDir(dir) // an empty or missing directory adds nothing
		for _, name := range names {
			if strings.HasSuffix(name, ".conf") && !add(path.Join(dir, name)) {
				return
			}
		}
	}
	if len(all) > 0 {
		k.Settings = &document.Merge(all...).Top
	}
}

// hostNames are the files with the host's name: the kernel's, and the configured one of a directory (hostname(5)).
var hostNames = []string{"/proc/sys/kernel/hostname", "/etc/hostname"}

func hostName(files Files) Found {
	for _, path := range hostNames {
		if content, err := files.ReadLinked(path, 4<<10); err == nil {
			for line := range strings.Lines(string(content)) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					return Found{line, path}
				}
			}
		}
	}
	return Found{}
}
