package integrity

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
)

// look is how the entries of a place are judged.
type look struct {
	kind Kind
	// at are directories, or files, of every machine. A node has others in its Places.
	at []string
	// deep means that the entries are one directory further down, and file that the path is a file.
	deep, file bool
	// takes reports whether programs read an entry of that name. If nil, they read every name.
	takes func(name string) bool
	// judge returns the effect of an entry; empty if it has none that matters.
	judge func(s *scan, at string) (what string, class Class)
}

// Directories of files in one order of their names.
var (
	managerDirs  = within("system.conf.d", "/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd") // systemd-system.conf(5)
	modprobeDirs = within("modprobe.d", "/etc", "/run", "/usr/local/lib", "/usr/lib")                                    // modprobe.d(5)
)

// within is a directory below each of several.
func within(name string, parents ...string) []string {
	dirs := make([]string, len(parents))
	for i, parent := range parents {
		dirs[i] = parent + "/" + name
	}
	return dirs
}

// looks are what is looked for. Programs of distributions below /usr are not: updates change them.
var looks = []look{
	// k8s.io/kubernetes v1.36.3 pkg/kubelet/config/file.go, extractFromDir: all files that do not begin with a dot.
	{kind: KindStaticPod, takes: func(name string) bool { return name[0] != '.' }, judge: says("is a static pod, which the kubelet runs")},
	// k8s.io/kubernetes v1.36.3 cmd/kubelet/app/server.go, mergeKubeletConfigurations.
	{kind: KindKubelet, takes: suffix(".conf"), judge: says("changes the kubelet's configuration")},
	// k8s.io/kubernetes v1.36.3 pkg/kubelet/certificate/bootstrap/bootstrap.go, writeKubeconfigFromBootstrapping: it has the server that the
	// kubelet has joined.
	{kind: KindKubeconfig, file: true, judge: (*scan).kubeconfig},
	// k8s.io/kubernetes v1.36.3 pkg/volume/flexvolume/probe.go. DaemonSets of networks and storage bring such programs.
	{kind: KindVolume, deep: true, judge: noting("is a volume plug-in, which the kubelet runs")},
	// containerd v2.2.1 docs/hosts.md: hosts.toml and certificates in a directory for each registry.
	{kind: KindRegistry, deep: true, judge: says("changes where images come from, and who may sign for it")},
	{kind: KindRuntime, takes: suffix(".toml"), judge: says("changes containerd's configuration")},
	{kind: KindNRI, judge: says("is an NRI plug-in, which containerd runs")},
	{kind: KindRuntimeBin, judge: says("is in the directory in which containerd looks first for runc and its shims")},
	// libcni, ConfFiles. The first file in the order of names is used (containerd v2.2.1 docs/cri/config.md, max_conf_num).
	{kind: KindNetwork, takes: suffix(".conf", ".conflist", ".json"), judge: (*scan).network},
	{kind: KindEnvironment, file: true, judge: (*scan).environment},
	{kind: KindPreload, file: true, at: []string{"/etc/ld.so.preload"}, judge: (*scan).preload},
	{kind: KindManager, file: true, at: []string{"/etc/systemd/system.conf", "/run/systemd/system.conf", "/usr/local/lib/systemd/system.conf"}, judge: (*scan).manager},
	{kind: KindManager, at: managerDirs, takes: suffix(".conf"), judge: (*scan).manager},
	// systemd.generator(7), systemd.environment-generator(7). A link to /dev/null turns one of the distribution off.
	{kind: KindGenerator, at: within("system-generators", "/etc/systemd", "/run/systemd", "/usr/local/lib/systemd"), judge: (*scan).generator},
	{kind: KindGenerator, at: within("system-environment-generators", "/etc/systemd", "/run/systemd", "/usr/local/lib/systemd"), judge: (*scan).generator},
	{kind: KindSysctl, at: resource.SysctlDirs, takes: suffix(".conf"), judge: (*scan).sysctl},
	{kind: KindModule, at: modprobeDirs, takes: suffix(".conf"), judge: (*scan).modules},
}

func says(what string) func(*scan, string) (string, Class) {
	return func(*scan, string) (string, Class) { return what, Counted }
}

func noting(what string) func(*scan, string) (string, Class) {
	return func(*scan, string) (string, Class) { return what, Noted }
}

func suffix(of ...string) func(name string) bool {
	return func(name string) bool { return slices.Contains(of, path.Ext(name)) }
}

// places finds what is in the directories and files that programs of the node read.
func (s *scan) places() {
	for i := range looks {
		look := &looks[i]
		for _, at := range look.at {
			s.place(look, at, nil)
		}
		for _, place := range s.node.Places {
			if place.Kind == look.kind && !slices.Contains(look.at, place.Path) {
				s.place(look, place.Path, []string{place.Unit})
			}
		}
	}
}

func (s *scan) place(look *look, at string, units []string) {
	if look.file {
		s.judge(look, at, units)
		return
	}
	for _, name := range s.list(at) {
		entry := path.Join(at, name)
		switch {
		case look.deep:
			for _, below := range s.list(entry) {
				s.judge(look, path.Join(entry, below), units)
			}
		case look.takes == nil || look.takes(name):
			s.judge(look, entry, units)
		}
	}
}

// judge adds what an entry does, if it is not the node's own.
func (s *scan) judge(look *look, at string, units []string) {
	if s.own[at] {
		return
	}
	if kind := s.stat(at).Kind; kind == apply.Absent || kind == apply.Directory {
		return
	}
	if what, class := look.judge(s, at); what != "" {
		s.add(Finding{Path: at, Kind: look.kind, What: what, Units: units, Class: class, Shared: len(look.at) > 0})
	}
}

// network judges a network's configuration. Usually the network's DaemonSet writes it, and what containerd cannot read leaves the node
// without a network (github.com/containerd/go-cni opts.go, loadFromConfDir).
func (s *scan) network(at string) (string, Class) {
	type plugin struct {
		Type string `json:"type"`
	}
	var config struct {
		plugin
		Plugins []plugin `json:"plugins"`
	}
	if json.Unmarshal(s.content(at), &config) != nil || config.Type == "" && len(config.Plugins) == 0 ||
		slices.ContainsFunc(config.Plugins, func(p plugin) bool { return p.Type == "" || strings.Contains(p.Type, "/") }) {
		return "is no network configuration: containerd has no network with it", Counted
	}
	for own := range s.own {
		if path.Dir(own) == path.Dir(at) && suffix(".conf", ".conflist", ".json")(own) && at < own {
			return "is a network configuration, and goes before " + path.Base(own), Noted
		}
	}
	return "is a network configuration", Noted
}

// kubeconfig judges the kubelet's own kubeconfig by its servers.
func (s *scan) kubeconfig(at string) (string, Class) {
	tree, err := document.Parse(s.content(at))
	if err != nil || s.node.Server == "" {
		return "", Counted // a half-written one is written again
	}
	clusters, _ := tree.Get("clusters")
	if clusters == nil {
		return "", Counted
	}
	for i := range clusters.Items {
		cluster, _ := clusters.Items[i].Get("cluster")
		if server := cluster.GetText("server"); server != "" && strings.TrimRight(server, "/") != strings.TrimRight(s.node.Server, "/") {
			return "has another API server than the node", Counted
		}
	}
	return "", Counted
}

// environment judges a file of variables that a unit of the node reads. A file without variables is a package's.
func (s *scan) environment(at string) (string, Class) {
	if slices.ContainsFunc(settings(string(s.content(at))), func(a assignment) bool { return strings.Trim(a.value, `"'`) != "" }) {
		return "has variables for a unit of the node", Counted
	}
	return "", Counted
}

// preloaded are libraries that known products preload into every program of a machine.
var preloaded = []string{
	"/$LIB/liboneagentproc.so", // Dynatrace docs, OneAgent on Linux: "/etc/ld.so.preload"
	"/opt/datadog-packages/datadog-apm-inject/stable/inject/launcher.preload.so", // Datadog docs, Single Step APM Instrumentation
}

// preload judges the list of libraries that every dynamically linked program loads (ld.so(8)).
func (s *scan) preload(at string) (string, Class) {
	for _, library := range strings.FieldsFunc(string(s.content(at)), func(r rune) bool { return strings.ContainsRune(" :\t\r\n", r) }) {
		if !slices.Contains(preloaded, library) {
			return "has a library that every program loads", Counted
		}
	}
	return "", Counted
}

// manager judges a file of systemd's own settings: which give all units variables.
func (s *scan) manager(at string) (string, Class) {
	for _, a := range settings(string(s.content(at))) {
		if (a.key == "DefaultEnvironment" || a.key == "ManagerEnvironment") && a.value != "" {
			return "gives all units variables", Counted
		}
	}
	return "", Counted
}

// generator judges a program that writes units at each boot, or variables for all of them.
func (s *scan) generator(at string) (string, Class) {
	class := Counted
	if strings.HasPrefix(at, "/usr/") {
		class = OfImage
	}
	if masks(s.stat(at)) {
		return "", class
	}
	return "is run by systemd, and may change every unit", class
}

// sysctl judges a file of kernel parameters by its effect at boot: if a later file sets a parameter of the node, its value counts.
func (s *scan) sysctl(at string) (string, Class) {
	var others []string
	for _, a := range settings(string(s.content(at))) {
		key := resource.ParameterName(strings.TrimPrefix(a.key, "-"))
		if own, ok := s.node.Parameters[key]; ok && path.Base(at) > own.File && fields(a.value) != own.Value {
			others = append(others, key)
		}
	}
	if len(others) == 0 {
		return "", Counted
	}
	slices.Sort(others)
	return "sets another value after the node's own: " + strings.Join(slices.Compact(others), ", "), Counted
}

// modules judges how modules are loaded: a command in place of loading, or no loading at all (modprobe.d(5)).
func (s *scan) modules(at string) (string, Class) {
	for line := range strings.Lines(string(s.content(at))) {
		words := strings.Fields(line)
		if len(words) >= 2 && (words[0] == "install" || words[0] == "blacklist") && slices.Contains(s.node.Modules, module(words[1])) {
			return "keeps the module " + module(words[1]) + " from being loaded, or runs a command for it", Counted
		}
	}
	return "", Counted
}
