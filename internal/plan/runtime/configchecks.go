package runtime

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// configChecks find what in a merged configuration makes no node, or only a part of one.
var configChecks = []func(in *concern.Input, doc *toml.Table) []containerdapi.Finding{
	checkPlugins, checkSocket, checkDrivers, checkRegistry, checkDefaultRuntime, checkRuntimes, checkSnapshotters,
}

// runcRuntime is the type of a runtime that is runc's.
const runcRuntime = "io.containerd.runc.v2"

func refuses(reason string) []containerdapi.Finding {
	return []containerdapi.Finding{{Kind: nodeconfig.Invalid, Reason: reason, Fatal: true}}
}

// checkPlugins wants the plug-ins that the kubelet talks to, and those that they need (containerd: docs/man/containerd-config.toml.5.md,
// disabled_plugins).
func checkPlugins(in *concern.Input, doc *toml.Table) []containerdapi.Finding {
	disabled, _ := doc.Get("disabled_plugins").([]any)
	for _, plugin := range disabled {
		name, _ := plugin.(string)
		switch {
		case slices.Contains([]string{concern.CRI1, concern.CRI2Images, concern.CRI2Runtime}, name):
			return refuses("disables containerd's CRI plug-in in disabled_plugins, and the kubelet needs that")
		case in.Releases.Needs(name):
			return refuses("disables " + name + " in disabled_plugins: containerd's CRI plug-in does not start without it; leave it out")
		}
	}
	return nil
}

// sockets are the places of containerd's address. That of a plug-in has the last word (containerd:
// cmd/containerd/server/config/config.go, serviceMigrate).
var sockets = [][]string{{"grpc", "address"}, {"plugins", "io.containerd.server.v1.grpc", "address"}}

// checkSocket wants containerd to be where the kubelet looks for it. containerd takes a path alone.
func checkSocket(_ *concern.Input, doc *toml.Table) []containerdapi.Finding {
	for _, path := range sockets {
		address, isText := doc.Get(path...).(string)
		if isText && (!strings.HasPrefix(address, "/") || !place.SameSocket(address, concern.ContainerdSocket)) {
			return refuses("moves containerd's socket with " + strings.Join(path[len(path)-2:], ".") + ", and the kubelet looks for it at " + concern.ContainerdSocket)
		}
	}
	return nil
}

// runtimeTables are the runtimes of a configuration by their names.
func runtimeTables(in *concern.Input, doc *toml.Table) map[string]*toml.Table {
	tables := make(map[string]*toml.Table)
	if all, ok := doc.Get("plugins", in.Schema.Runtime, "containerd", "runtimes").(*toml.Table); ok {
		for name, runtime := range all.All() {
			if t, ok := runtime.(*toml.Table); ok {
				tables[name] = t
			}
		}
	}
	return tables
}

// checkDrivers wants every runtime to have the kubelet's cgroup driver (Kubernetes docs, Container Runtimes, "Cgroup
// drivers").
func checkDrivers(in *concern.Input, doc *toml.Table) []containerdapi.Finding {
	for _, t := range runtimeTables(in, doc) {
		options, _ := t.Get("options").(*toml.Table)
		if options == nil || t.Get("runtime_type") != runcRuntime {
			continue
		}
		for name, value := range options.All() {
			systemd, isSet := value.(bool)
			if strings.EqualFold(name, "SystemdCgroup") && isSet && systemd != (in.Driver == "systemd") { // containerd takes either case
				return refuses("has a runtime with another cgroup driver than the kubelet's, which is " + in.Driver +
					": leave SystemdCgroup out, and use runtime.cgroupDriver")
			}
		}
	}
	return nil
}

// insteadOfMirrors is the advice for authors who set registry.mirrors.
const insteadOfMirrors = "write each mirror as runtime.registries.NAME.mirrors[].url, which Slipway puts into " + concern.RegistriesDir + "/NAME/hosts.toml"

// checkRegistry refuses settings that containerd refuses together with a directory for registries (containerd: pkg/cri/config,
// ValidatePluginConfig), and another directory than the one for the contract's registries.
func checkRegistry(in *concern.Input, doc *toml.Table) (found []containerdapi.Finding) {
	registry, _ := doc.Get("plugins", in.Schema.Images, "registry").(*toml.Table)
	if registry == nil {
		return nil
	}
	path := registry.Get("config_path")
	list, _ := path.(string) // containerd takes several directories with colons between (containerd: docs/cri/registry.md)
	hasDir := slices.ContainsFunc(strings.Split(list, ":"), func(dir string) bool { return kubeletsetting.SamePath(dir, concern.RegistriesDir) })
	if !hasDir && len(in.Config.Runtime.Registries) > 0 {
		return refuses("has another registry.config_path than " + concern.RegistriesDir + ", where runtime.registries is written: leave one of them out")
	}
	if mirrors, ok := registry.Get("mirrors").(*toml.Table); ok && !mirrors.Empty() {
		switch {
		case path != "":
			found = append(found, refuses("has registry.mirrors, which containerd does not take beside registry.config_path: "+insteadOfMirrors)...)
		case in.Releases.AtLeast("2.2"):
			// A default config_path since 2.2, which "containerd config migrate" writes too (containerd: plugins/cri/images/plugin.go, and
			// its issue 12612).
			found = append(found, refuses("has registry.mirrors, and "+in.Releases.String()+" looks for mirrors in registry.config_path; "+
				"where both are set, its CRI plug-in does not start: "+insteadOfMirrors)...)
		default:
			found = append(found, containerdapi.Finding{Kind: nodeconfig.Deprecated, Reason: "has registry.mirrors, which is deprecated, and leaves out the mirrors in certs.d: " + insteadOfMirrors})
		}
	}
	configs, _ := registry.Get("configs").(*toml.Table)
	auths, _ := registry.Get("auths").(*toml.Table)
	if in.Schema.Major == "2" && (configs != nil && !configs.Empty() || auths != nil && !auths.Empty()) {
		found = append(found, containerdapi.Finding{Kind: nodeconfig.Deprecated, Reason: "has credentials of registries in registry.configs or registry.auths, " +
			"which containerd 2 still reads and a later one will not: use a credential provider of the kubelet, or pods' imagePullSecrets"})
	}
	if configs == nil {
		return found
	}
	for _, config := range configs.All() {
		// containerd 2 has no such key, and the key of containerd 1 excludes config_path.
		if t, ok := config.(*toml.Table); ok && t.Get("tls") != nil && (path != "" || in.Schema.Version > 2) {
			return append(found, refuses("has registry.configs with tls, which containerd 1 does not take beside registry.config_path, and containerd 2 does not read: "+insteadOfMirrors)...)
		}
	}
	return found
}

// elsewhere turns findings about what is missing into warnings if the configuration imports files, which may have it (containerd:
// docs/man/containerd-config.toml.5.md, imports).
func elsewhere(doc *toml.Table, f containerdapi.Finding) containerdapi.Finding {
	if imports, _ := doc.Get("imports").([]any); f.Fatal && len(imports) > 0 {
		f.Fatal = false
		f.Reason += ", unless a file of imports has it"
	}
	return f
}

// checkDefaultRuntime wants the default runtime to have a table. containerd's CRI plug-in does not start without (containerd:
// internal/cri/config/config.go, ValidateRuntimeConfig).
func checkDefaultRuntime(in *concern.Input, doc *toml.Table) []containerdapi.Finding {
	config, _ := doc.Get("plugins", in.Schema.Runtime, "containerd").(*toml.Table)
	if config == nil {
		return nil
	}
	if in.Schema.Major == "1" { // the table of older versions, which is the runtime "default"
		if kind, _ := config.Get("default_runtime", "runtime_type").(string); kind != "" {
			return nil
		}
	}
	name, isText := config.Get("default_runtime_name").(string)
	switch runtime := runtimeTables(in, doc)[name]; {
	case !isText:
		return nil
	case name == "":
		return refuses("has an empty default_runtime_name: containerd's CRI plug-in does not start with it; leave it out")
	case runtime == nil:
		return []containerdapi.Finding{elsewhere(doc, containerdapi.Finding{Kind: nodeconfig.Invalid, Fatal: true, Reason: "has a default_runtime_name that names no table of runtimes: containerd's CRI plug-in does not start; " +
			`add the table containerd.runtimes.NAME of that name to plugins."` + in.Schema.Runtime + `", or leave default_runtime_name out`})}
	case runtime.Get("runtime_type") == nil || runtime.Get("runtime_type") == "":
		return []containerdapi.Finding{elsewhere(doc, containerdapi.Finding{Kind: nodeconfig.Invalid, Fatal: true, Reason: "has a default runtime without a runtime_type, so no pod starts: set it, such as to " + runcRuntime})}
	}
	return nil
}

// removedTypes are runtimes of containerd 1 (containerd: RELEASES.md, "Deprecated features").
var removedTypes = []any{"io.containerd.runtime.v1.linux", "io.containerd.runc.v1"}

// forLinuxRuntime are settings that containerd 1's CRI plug-in takes for the first runtime of all alone (containerd 1.7:
// pkg/cri/config/config.go, ValidatePluginConfig).
var forLinuxRuntime = []string{"systemd_cgroup", "no_pivot"}

// checkRuntimes finds runtimes that containerd does not start with, or that no pod starts with.
func checkRuntimes(in *concern.Input, doc *toml.Table) (found []containerdapi.Finding) {
	add := func(fatal bool, reason string) {
		if f := (containerdapi.Finding{Kind: nodeconfig.Invalid, Reason: reason, Fatal: fatal}); !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	for _, name := range forLinuxRuntime {
		if in.Schema.Major == "1" && doc.Get("plugins", in.Schema.Runtime, name) == true {
			add(true, "has "+name+", which containerd takes for io.containerd.runtime.v1.linux alone: its CRI plug-in does not start with it; use a runtime's options")
		}
	}
	defaultName := doc.Get("plugins", in.Schema.Runtime, "containerd", "default_runtime_name")
	tables := runtimeTables(in, doc)
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		t := tables[name]
		kind := t.Get("runtime_type")
		if t.Get("privileged_without_host_devices_all_devices_allowed") == true && t.Get("privileged_without_host_devices") != true {
			add(true, "has a runtime with privileged_without_host_devices_all_devices_allowed and without privileged_without_host_devices: containerd's CRI plug-in does not start with it")
		}
		if in.Schema.Major == "2" && slices.Contains(removedTypes, kind) {
			add(name == defaultName, "has a runtime of a runtime_type that containerd 2 does not have: no pod starts with it; use "+runcRuntime)
		}
		if options, ok := t.Get("options").(*toml.Table); ok && kind == runcRuntime {
			found = append(found, in.Releases.CheckOptions(options)...)
		}
	}
	return found
}

// checkSnapshotters wants each snapshotter to be one of containerd's or of a proxy. Without the one of all containers, the CRI plug-in
// does not start (containerd: plugins/cri/images/plugin.go). Without that of a runtime, no pod of it does.
func checkSnapshotters(in *concern.Input, doc *toml.Table) (found []containerdapi.Finding) {
	lacks := func(at ...string) bool {
		name, _ := doc.Get(at...).(string)
		return name != "" && !in.Releases.HasSnapshotter(doc, name)
	}
	if lacks(append(slices.Clone(in.Schema.Snapshotters), "snapshotter")...) {
		found = append(found, elsewhere(doc, containerdapi.Finding{Kind: nodeconfig.Invalid, Fatal: true, Reason: "has a snapshotter that " + in.Releases.String() +
			" does not have: its CRI plug-in does not start; add it to proxy_plugins, or leave it out"}))
	}
	const plugin = "io.containerd.snapshotter.v1."
	name, _ := doc.Get(append(slices.Clone(in.Schema.Snapshotters), "snapshotter")...).(string)
	name = cmp.Or(name, "overlayfs") // containerd's default
	if disabled, _ := doc.Get("disabled_plugins").([]any); slices.Contains(disabled, any(plugin+name)) {
		found = append(found, refuses("disables the snapshotter of all containers in disabled_plugins: containerd's CRI plug-in does not start")...)
	}
	// plugins/snapshots/devmapper/plugin/plugin.go skips the plug-in without it.
	if pool, _ := doc.Get("plugins", plugin+"devmapper", "pool_name").(string); name == "devmapper" && pool == "" {
		found = append(found, elsewhere(doc, containerdapi.Finding{Kind: nodeconfig.Invalid, Fatal: true, Reason: "has the snapshotter devmapper without a pool_name: containerd's CRI plug-in " +
			`does not start; set pool_name in plugins."` + plugin + `devmapper"`}))
	}
	for name := range runtimeTables(in, doc) {
		if lacks("plugins", in.Schema.Runtime, "containerd", "runtimes", name, "snapshotter") {
			return append(found, elsewhere(doc, containerdapi.Finding{Kind: nodeconfig.NotInstalled, Reason: "has a runtime with a snapshotter that " + in.Releases.String() +
				" does not have: no pod of it starts; add it to proxy_plugins"}))
		}
	}
	return found
}
