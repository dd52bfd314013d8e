package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/profile"
)

// networkPluginChecks are those of the network plug-in.
var networkPluginChecks = []Check{
	{
		Name: "network-plugin", Asks: "Has the runtime a network for pods?", Live: true, Deadline: 4 * time.Second, Needs: []string{"credential", "runtime-ready", "sandbox-image", "kubelet-health", "certificate-request"}, Look: lookNetworkPlugin,
		Causes: []Cause{
			{"no-pod", "no network plug-in is configured, and no pod of one is on this node", "install a network plug-in in the cluster; if it is there, see with kubectl describe daemonset why it has no pod on this node"},
			{"image", "the image of the network plug-in's pod cannot be pulled", "let the node reach the image's registry, with the credentials that it asks for"},
			{"crashes", "the network plug-in's pod ends again and again", "read its log with crictl logs and the container's ID, and correct what it names"},
			{"not-started", "the network plug-in's pod is on this node, and its container is not started", "see with kubectl describe pod what it waits for, and read journalctl -u kubelet"},
			{"waits", "the network plug-in's pod runs, and has written no configuration", "read its log with crictl logs and the container's ID: it usually waits for the API server or the cloud"},
			{"configuration", "the network plug-in's configuration cannot be used", "correct or remove the file that the verdict names; the network plug-in's pod writes it again"},
		},
	},
	{
		Name: "network-programs", Asks: "Are the network plug-in's programs there?", Needs: []string{"network-plugin"}, Look: lookNetworkPrograms,
		Causes: []Cause{
			{"missing", "the network plug-in's configuration names a program that is missing", "install the program in the directory that the verdict names; the network plug-in's pod or the package kubernetes-cni has it"},
		},
	},
}

// networkPods are the pods of known network plug-ins, by the name of their DaemonSet, with the container that writes the
// configuration. Each pod's name begins with that of its DaemonSet.
var networkPods = []struct{ daemonSet, source string }{
	{"azure-cns", "AKS, Azure CNI"},
	{"azure-cni-networkmonitor", "AKS, Azure CNI"},
	{"aws-node", "Amazon VPC CNI, config/master/aws-k8s-cni.yaml"},
	{"anetd", "Google, Dataplane V2"},
	{"calico-node", "Calico, manifests/calico.yaml"},
	{"canal", "Calico, manifests/canal.yaml"},
	{"cilium", "Cilium, install/kubernetes/cilium"},
	{"kube-flannel", "Flannel, Documentation/kube-flannel.yml"},
	{"weave-net", "Weave Net"},
	{"antrea-agent", "Antrea, build/yamls/antrea.yml"},
	{"kube-router", "kube-router, daemonset"},
	{"ovnkube-node", "OVN-Kubernetes, dist/templates"},
	{"kube-ovn-cni", "Kube-OVN, dist/images/install.sh"},
	{"kube-multus-ds", "Multus, deployments"},
	{"kindnet", "kind and kindnet"},
}

// notNetwork begin the names of pods that do not write a configuration, although their names look so.
var notNetwork = []string{"cilium-operator", "cilium-envoy", "calico-node-windows", "azure-cns-win"}

func lookNetworkPlugin(ctx context.Context, p *Patient) *Finding {
	socket := p.Kubelet().Socket()
	conditions, err := p.Machine.RuntimeConditions(ctx, socket)
	if err != nil {
		return unknownFor(err)
	}
	i := slices.IndexFunc(conditions, func(c cri.Condition) bool { return c.Type == cri.NetworkReady })
	if i < 0 || conditions[i].Status {
		return fine("the runtime reports that its network is ready")
	}
	reported := fmt.Sprintf("%s %s", conditions[i].Reason, conditions[i].Message)
	dir, _ := p.containerd().network()
	files, err := networkConfigs(p.Machine, dir)
	if err != nil {
		return unknownFor(err)
	}
	f := new(Finding).with(cri.NetworkReady, reported).with(dir, strings.Join(files, " "))
	for _, file := range files {
		if _, err := readNetworkConfig(p.Machine, dir+"/"+file); err != nil {
			return f.wrong("configuration", "the runtime has no network for pods: %s cannot be used: %v", dir+"/"+file, err)
		}
	}
	if len(files) > 0 {
		return f.wrong("configuration", "the runtime has no network for pods, although %s has %s: %s", dir, strings.Join(files, ", "), reported)
	}
	sandboxes, err := p.Machine.Sandboxes(ctx, socket)
	if err != nil {
		return unknownFor(err)
	}
	for _, s := range sandboxes {
		if isNetworkPod(s.Name) && s.Ready {
			return lookNetworkPod(ctx, p, s, dir, f)
		}
	}
	lines, _ := p.Machine.Search(ctx, profile.KubeletUnit, "CreatePodSandbox")
	for _, line := range slices.Backward(lines) {
		for _, known := range networkPods {
			if strings.Contains(line, "/"+known.daemonSet+"-") {
				return f.wrong("not-started", "no network plug-in is configured: %s has no configuration, and the kubelet cannot create the pod of %s: %s", dir, known.daemonSet, errorText(line))
			}
		}
	}
	return f.wrong("no-pod", "no network plug-in is configured: %s has no configuration, and none of the node's %d pods is one of a known network plug-in", dir, len(sandboxes))
}

// isNetworkPod reports whether a pod is one of a known network plug-in.
func isNetworkPod(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix+"-") }
	if slices.ContainsFunc(notNetwork, begins) {
		return false
	}
	for _, known := range networkPods {
		if begins(known.daemonSet) {
			return true
		}
	}
	return false
}

// lookNetworkPod finds out why a network plug-in's pod has written no configuration.
func lookNetworkPod(ctx context.Context, p *Patient, pod cri.Sandbox, dir string, f *Finding) *Finding {
	socket := p.Kubelet().Socket()
	containers, err := p.Machine.Containers(ctx, socket, pod.ID)
	if err != nil {
		return unknownFor(err)
	}
	name := pod.Namespace + "/" + pod.Name
	begin := fmt.Sprintf("no network plug-in is configured: %s has no configuration, and ", dir)
	lines, _ := p.Machine.Search(ctx, profile.KubeletUnit, "ImagePull", "pull image", "pulling image")
	for _, line := range slices.Backward(lines) {
		if strings.Contains(line, pod.Name) && isError(line) && !started(containers, line) {
			return f.wrong("image", "%san image of the pod %s cannot be pulled: %s", begin, name, errorText(line))
		}
	}
	var ended, running []*cri.Container
	for _, c := range latest(containers) {
		f.with(name, fmt.Sprintf("container %s, attempt %d: %s", c.Name, c.Attempt, stateName(c.State)))
		switch c.State {
		case cri.Exited:
			ended = append(ended, c)
		case cri.Running:
			running = append(running, c)
		}
	}
	for _, c := range ended {
		end, err := p.Machine.ContainerEnd(ctx, socket, c.ID)
		if err != nil {
			return unknownFor(err)
		}
		if end.Code == 0 {
			continue // a container that prepares the node
		}
		f.wrong("crashes", "%sthe container %s of the pod %s has ended with exit code %d (%s), %d times", begin, c.Name, name, end.Code, end.Reason, c.Attempt+1)
		if end.Message != "" {
			f.Says += ": " + end.Message
		}
		return f
	}
	switch {
	case p.since(pod.Created) < p.Patience(startTime):
		return f.undecided("the pod %s of the network plug-in starts", name)
	case len(running) > 0:
		return f.wrong("waits", "%sthe container %s of the pod %s runs, and has not written one", begin, running[0].Name, name)
	}
	return f.wrong("not-started", "%sno container of the pod %s runs", begin, name)
}

// started reports whether the container that a line of the kubelet is about has started since: its image has been pulled.
func started(containers []cri.Container, line string) bool {
	return slices.ContainsFunc(containers, func(c cri.Container) bool {
		return strings.Contains(line, `for "`+c.Name+`"`) || strings.Contains(line, `for \"`+c.Name+`\"`) || strings.Contains(line, `for \\\"`+c.Name+`\\\"`)
	})
}

// latest keeps the last attempt of each container, in the order of their names.
func latest(containers []cri.Container) []*cri.Container {
	last := make(map[string]*cri.Container)
	for i := range containers {
		c := &containers[i]
		if before := last[c.Name]; before == nil || c.Attempt > before.Attempt {
			last[c.Name] = c
		}
	}
	return slices.SortedFunc(maps.Values(last), func(a, b *cri.Container) int { return strings.Compare(a.Name, b.Name) })
}

// stateName is a container's state in words.
func stateName(state cri.ContainerState) string {
	switch state {
	case cri.Running:
		return "running"
	case cri.Exited:
		return "ended"
	}
	return "not running"
}

const (
	// maxNetworkFiles limits the configurations that are read, and maxNetworkFile the size of one.
	maxNetworkFiles, maxNetworkFile = 64, 1 << 20
)

// networkConfigs are the files that the runtime takes for configurations, in its order (containerd: go-cni, opts.go;
// libcni, ConfFiles).
func networkConfigs(files Files, dir string) ([]string, error) {
	names, err := files.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains([]string{".conf", ".conflist", ".json"}, path.Ext(name))
	})
	return names[:min(len(names), maxNetworkFiles)], nil
}

// networkConfig is the configuration of a network: of several plug-ins, or of one.
type networkConfig struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"`
	Plugins []networkConfig `json:"plugins"`
	IPAM    struct {
		Type string `json:"type"`
	} `json:"ipam"`
}

func readNetworkConfig(files Files, name string) (*networkConfig, error) {
	content, err := files.ReadLinked(name, maxNetworkFile)
	if err != nil {
		return nil, err
	}
	return parseNetworkConfig(content)
}

// parseNetworkConfig reads a configuration (CNI specification, "Configuration format").
func parseNetworkConfig(content []byte) (*networkConfig, error) {
	var config networkConfig
	if err := json.Unmarshal(content, &config); err != nil {
		return nil, fmt.Errorf("is not JSON of a network: %w", err)
	}
	if config.Type == "" && len(config.Plugins) == 0 {
		return nil, errors.New("names no plug-in")
	}
	for _, plugin := range config.Plugins {
		if plugin.Type == "" {
			return nil, errors.New("has a plug-in without a type")
		}
	}
	return &config, nil
}

// addressPrograms are the programs that plug-ins run for addresses. Other plug-ins have names there that are no programs
// (github.com/containernetworking/plugins, plugins/ipam; Azure CNI's azure-cns is not a program).
var addressPrograms = []string{"host-local", "dhcp", "static"}

// programs are the names of the programs that the runtime runs for a network.
func (c *networkConfig) programs() []string {
	var names []string
	for _, plugin := range append([]networkConfig{*c}, c.Plugins...) {
		if plugin.Type != "" {
			names = append(names, plugin.Type)
		}
		if slices.Contains(addressPrograms, plugin.IPAM.Type) {
			names = append(names, plugin.IPAM.Type)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func lookNetworkPrograms(_ context.Context, p *Patient) *Finding {
	dir, binaries := p.containerd().network()
	files, err := networkConfigs(p.Machine, dir)
	if err != nil {
		return unknownFor(err)
	}
	for _, file := range files { // the runtime takes the first one that it can use
		config, err := readNetworkConfig(p.Machine, dir+"/"+file)
		if err != nil {
			continue
		}
		for _, program := range config.programs() {
			if strings.ContainsAny(program, "/\x00") || !slices.ContainsFunc(binaries, func(dir string) bool {
				_, is := resolved(p.Machine, dir+"/"+program)
				return is
			}) {
				return wrong("missing", "%s names the network plug-in %s, and there is no such program in %s", dir+"/"+file, program, strings.Join(binaries, ", "))
			}
		}
		return fine("the programs of %s are there: %s", dir+"/"+file, strings.Join(config.programs(), ", "))
	}
	return skipped("%s has no configuration of a network", dir)
}
