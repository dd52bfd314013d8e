package containerdapi

import (
	"math"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/toml"
)

// Plug-ins that a translation leads to. The CRI plug-in of containerd 1 is three of containerd 2, and one of them has the old name.
const (
	CRI1    = "io.containerd.grpc.v1.cri"
	Images  = "io.containerd.cri.v1.images"
	Runtime = "io.containerd.cri.v1.runtime"

	cgroups1, cgroups2 = "io.containerd.monitor.v1.cgroups", "io.containerd.monitor.task.v1.cgroups"
	restart1, restart2 = "io.containerd.internal.v1.restart", "io.containerd.monitor.container.v1.restart"

	serverGRPC, serverTCP = "io.containerd.server.v1.grpc", "io.containerd.server.v1.grpc-tcp"
)

// place is the position of a key or a table in a release's file: in a plug-in, or, if the plug-in is empty, in the file itself.
type place struct{ plugin, path string }

func (p place) keys() []string {
	var keys []string
	if p.plugin != "" {
		keys = []string{"plugins", p.plugin}
	}
	if p.path != "" {
		keys = append(keys, strings.Split(p.path, ".")...)
	}
	return keys
}

// renamed are keys that have other names in other versions of the configuration, the place to prefer first. The configuration of
// containerd 1.7 is of version 2, that of 2.0 to 2.2 of version 3, and that of 2.3 and newer of version 4. The mapping is containerd's
// own: configMigration of plugins/cri/images/plugin.go and plugins/cri/runtime/plugin.go, and serviceMigrate of
// cmd/containerd/server/config/config.go, containerd 2.4.2. What containerd migrates to a newer version is here read in both directions.
var renamed = [][]place{
	{{Images, "pinned_images.sandbox"}, {CRI1, "sandbox_image"}},
	{{Images, "snapshotter"}, {CRI1, "containerd.snapshotter"}},
	{{Images, "disable_snapshot_annotations"}, {CRI1, "containerd.disable_snapshot_annotations"}},
	{{Images, "discard_unpacked_layers"}, {CRI1, "containerd.discard_unpacked_layers"}},
	// containerd 2.4 does not migrate the old name in the new plug-in, and does not read it.
	{{Runtime, "cni.bin_dirs"}, {Runtime, "cni.bin_dir"}, {CRI1, "cni.bin_dir"}},
	{{"", "grpc.tcp_address"}, {serverTCP, "address"}},
	{{"", "grpc.tcp_tls_ca"}, {serverTCP, "tls_ca"}},
	{{"", "grpc.tcp_tls_cert"}, {serverTCP, "tls_cert"}},
	{{"", "grpc.tcp_tls_key"}, {serverTCP, "tls_key"}},
	{{"", "grpc.tcp_tls_common_name"}, {serverTCP, "tls_common_name"}},
}

// moved are tables whose keys another version has elsewhere, by the same names. Each key moves separately, so a key that no release has
// stays where it is.
var moved = [][]place{
	{{Images, ""}, {CRI1, ""}},
	{{Runtime, ""}, {CRI1, ""}},
	// core/metrics/cgroups/cgroups.go and plugins/restart/monitor.go, ConfigMigration.
	{{cgroups2, ""}, {cgroups1, ""}},
	{{restart2, ""}, {restart1, ""}},
	{{"", "grpc"}, {serverGRPC, ""}},
	{{"", "ttrpc"}, {"io.containerd.server.v1.ttrpc", ""}},
	{{"", "debug"}, {"io.containerd.server.v1.debug", ""}},
	{{"", "metrics"}, {"io.containerd.server.v1.metrics", ""}},
	{{"", "metrics"}, {"io.containerd.metrics.v1.grpc-prometheus", ""}},
}

// Translate returns a configuration of any version from 2 to 4 in the releases' version. A key that they have stays, and so does a key
// for which the tables have no destination. A key that is set in both tables keeps the value in the releases' table. The result has no
// version: it is merged into a configuration that has one.
func (r Releases) Translate(doc *toml.Table) *toml.Table {
	doc = r.spelled(doc)
	doc.Delete("version")
	for _, places := range renamed {
		for _, from := range places {
			r.move(doc, from, places)
		}
	}
	for _, places := range moved {
		for _, from := range places {
			table, _ := doc.Get(from.keys()...).(*toml.Table)
			if table == nil {
				continue
			}
			for name := range table.Copy().All() {
				var named []place
				for _, p := range places {
					named = append(named, place{p.plugin, strings.TrimPrefix(p.path+"."+name, ".")})
				}
				r.move(doc, place{from.plugin, strings.TrimPrefix(from.path+"."+name, ".")}, named)
			}
		}
	}
	// Since containerd 2.4 CDI is always on (plugins/cri/runtime/plugin.go, migrateConfig).
	for _, name := range []string{CRI1, Runtime} {
		if p := (place{name, "enable_cdi"}); !r.has(Runtime, p.path) && !r.has(CRI1, p.path) && doc.Get(p.keys()...) == true {
			remove(doc, p)
		}
	}
	for _, list := range []string{"disabled_plugins", "required_plugins"} {
		if names, ok := doc.Get(list).([]any); ok {
			doc.Set(r.pluginNames(names), list)
		}
	}
	return doc
}

// move moves a value that other releases read to the first of the places that these read.
func (r Releases) move(doc *toml.Table, from place, places []place) {
	value := doc.Get(from.keys()...)
	if value == nil || r.has(from.plugin, from.path) || since(from.plugin, from.path) == "" {
		return
	}
	for _, to := range places {
		if !r.has(to.plugin, to.path) {
			continue
		}
		value, ok := r.fit(from, value, to)
		if !ok {
			continue
		}
		remove(doc, from)
		there := doc.Get(to.keys()...)
		below, isTable := there.(*toml.Table)
		if over, ok := value.(*toml.Table); ok && isTable {
			merged := over.Copy()
			merged.Merge(below)
			there = merged
		} else if there == nil {
			there = value
		}
		doc.Set(there, to.keys()...)
		return
	}
}

// fit is a value as another place takes it, if it does: bin_dir of the CNI, a text, is the list bin_dirs since containerd 2.1. A value
// that no release takes in its own place fits, so that it is refused in the other one.
func (r Releases) fit(from place, value any, to place) (any, bool) {
	kinds := r.kinds(to.plugin, to.path)
	if takesAny(kinds, value) {
		return value, true
	}
	if list, ok := value.([]any); ok && len(list) == 1 && takesAny(kinds, list[0]) {
		return list[0], true
	}
	if list := []any{value}; takesAny(kinds, list) {
		return list, true
	}
	return value, !takesAny(all.kinds(from.plugin, from.path), value)
}

// all are the releases of the table.
var all = Releases{span: span{0, math.MaxInt}}

// remove deletes a value and each table above it that is then empty.
func remove(doc *toml.Table, p place) {
	for keys := p.keys(); len(keys) > 0; keys = keys[:len(keys)-1] {
		doc.Delete(keys...)
		if above, ok := doc.Get(keys[:len(keys)-1]...).(*toml.Table); !ok || !above.Empty() {
			return
		}
	}
}

// pluginNames are plug-ins by the names that the releases have for them.
func (r Releases) pluginNames(names []any) []any {
	names = slices.Clone(names)
	for i, name := range names {
		text, _ := name.(string)
		for _, places := range moved {
			if text == "" || r.HasPlugin(text) || !slices.Contains(places, place{text, ""}) {
				continue
			}
			if at := slices.IndexFunc(places, func(p place) bool { return p.path == "" && r.HasPlugin(p.plugin) }); at >= 0 {
				names[i] = places[at].plugin
				break
			}
		}
	}
	return names
}

// spelled is a copy of a configuration whose keys are written as the table has them: containerd 2 does not distinguish upper and lower case
// in a key (github.com/pelletier/go-toml/v2, Unmarshal).
func (r Releases) spelled(doc *toml.Table) *toml.Table {
	t := known()
	var rename func(in *plugin, path string, table *toml.Table) *toml.Table
	rename = func(in *plugin, path string, table *toml.Table) *toml.Table {
		out := &toml.Table{Quoted: table.Quoted}
		for name, value := range table.All() {
			pattern := name
			if below := in.below[path]; slices.Contains(below, "*") {
				pattern = "*"
			} else if !slices.Contains(below, name) {
				if i := slices.IndexFunc(below, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 && table.Get(below[i]) == nil {
					name, pattern = below[i], below[i]
				}
			}
			if inner, ok := value.(*toml.Table); ok {
				at := strings.TrimPrefix(path+"."+pattern, ".")
				if in == t.plugins[""] && at == "plugins" {
					plugins := new(toml.Table)
					for id, settings := range inner.All() {
						if of, isTable := settings.(*toml.Table); isTable && t.plugins[id] != nil {
							settings = rename(t.plugins[id], "", of)
						}
						plugins.Set(settings, id)
					}
					value = plugins
				} else {
					value = rename(in, at, inner)
				}
			}
			out.Set(value, name)
		}
		return out
	}
	return rename(t.plugins[""], "", doc)
}
