package runtime

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/toml"
)

// Where containerd 2 has the settings of the one CRI plug-in of containerd 1: these are its image plug-in's or stay where they are, the
// first list within the table "containerd". All others are its runtime plug-in's (containerd: plugins/cri/runtime/plugin.go,
// configMigration; plugins/cri/images/plugin.go).
var (
	movedToSnapshots = []string{"disable_snapshot_annotations", "discard_unpacked_layers", "snapshotter"}
	movedToImages    = []string{"image_decryption", "image_pull_progress_timeout", "image_pull_with_sync_fs", "max_concurrent_downloads", "registry", "stats_collect_period"}
	stayed           = []string{"disable_tcp_service", "enable_tls_streaming", "stream_idle_timeout", "stream_server_address", "stream_server_port", "x509_key_pair_streaming"}
)

// forSchema is a contract's configuration with the plug-ins of the machine's containerd, in parts that are merged one over the other. A
// setting of containerd 1's plug-in would have no effect with containerd 2, which passes over it (nodeadm: containerd config migrate).
// One that is set for both plug-ins has the value of containerd 2's.
func forSchema(schema *concern.CRISchema, over *toml.Table) []*toml.Table {
	old, _ := over.Get("plugins", concern.CRI1).(*toml.Table)
	if old == nil || schema.Images == concern.CRI1 {
		return []*toml.Table{over}
	}
	moved, rest := new(toml.Table), new(toml.Table)
	images, runtime := []string{"plugins", schema.Images}, []string{"plugins", schema.Runtime}
	for name, value := range old.All() {
		below, isTable := value.(*toml.Table)
		switch {
		case name == "sandbox_image":
			moved.Set(value, slices.Concat(images, schema.Sandbox)...)
		case name == "containerd" && isTable:
			for inner, value := range below.All() {
				if slices.Contains(movedToSnapshots, inner) {
					moved.Set(value, slices.Concat(images, []string{inner})...)
				} else {
					moved.Set(value, slices.Concat(runtime, []string{name, inner})...)
				}
			}
		case slices.Contains(movedToImages, name):
			moved.Set(value, slices.Concat(images, []string{name})...)
		case slices.Contains(stayed, name):
			rest.Set(value, "plugins", concern.CRI1, name)
		default:
			moved.Set(value, slices.Concat(runtime, []string{name})...)
		}
	}
	for name, value := range over.All() {
		if plugins, is := value.(*toml.Table); is && name == "plugins" {
			for plugin, value := range plugins.All() {
				if plugin != concern.CRI1 {
					rest.Set(value, name, plugin)
				}
			}
			continue
		}
		rest.Set(value, name)
	}
	return []*toml.Table{moved, rest}
}
