// Package kubeletsetup finds how a machine's kubelet is set up, whatever has set it up: Slipway, kubeadm, AKS or EKS. It
// reads the running process, or else the unit with its drop-ins and environment files, or else the paths of the families,
// and the kubeconfigs. It only reads files; some of what it returns is secret. internal/doctor calls it.
package kubeletsetup

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
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

// Default is the origin of the values that a kubelet has without settings.
const Default = "the kubelet's default"

// MaxConfig limits a file with settings.
const MaxConfig = document.MaxBytes

// Files are the machine's files.
type Files interface {
	ReadFile(path string, limit int64) ([]byte, error)
	// ReadLinked also reads the file that a symbolic link at the last name leads to.
	ReadLinked(path string, limit int64) ([]byte, error)
	ReadDir(path string) ([]string, error)
	Stat(path string) (apply.Entry, error)
}

// Find looks at the running process, then at the unit, then at the paths of the families.
func Find(files Files) *Kubelet {
	k := &Kubelet{Service: FindService(files, profile.KubeletUnit, "kubelet")}
	k.Origin = k.From
	k.Kubeconfig, k.Bootstrap, k.Config, k.ConfigDropIns = k.Given("kubeconfig"), k.Given("bootstrap-kubeconfig"), k.Given("config"), k.Given("config-dir")
	if k.Kubeconfig.Value == "" && k.Config.Value == "" {
		k.findFamily(files)
	}
	k.readSettings(files)
	k.Root = k.Given("root-dir").Or("/var/lib/kubelet")
	k.Certificates = k.Given("cert-dir").Or(concern.KubeletCertDir)
	k.Runtime = k.Text("$.containerRuntimeEndpoint", "container-runtime-endpoint").Or(concern.ContainerdSocket)
	k.Authority = k.Text("$.authentication.x509.clientCAFile", "client-ca-file")
	if k.Node = k.Given("hostname-override"); k.Node.Value == "" {
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

// Or is a value that was found, or else the kubelet's default.
func (f Found) Or(value string) Found {
	if f.Value == "" {
		return Found{value, Default}
	}
	return f
}

// readSettings reads the configuration file, and merges those in the directory over it, by name (k8s.io/kubernetes v1.36.3
// cmd/kubelet/app/server.go, mergeKubeletConfigurations).
func (k *Kubelet) readSettings(files Files) {
	var all []*document.Node
	add := func(path string) bool {
		content, err := files.ReadLinked(path, MaxConfig)
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
