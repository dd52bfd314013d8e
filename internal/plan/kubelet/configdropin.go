package kubelet

import (
	"maps"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// dropsIn reports whether the contract's own settings of the kubelet's configuration are in a file beside the defaults.
func dropsIn(in *concern.Input) bool {
	return in.Family.Paths.KubeletDropIn != "" && in.Reached(concern.ConfigDropIns) && in.Config.Kubelet.Config != nil
}

// kubeletConfigDir is the directory of that file; empty if the node has none.
func kubeletConfigDir(in *concern.Input) string {
	if !dropsIn(in) {
		return ""
	}
	return path.Dir(in.Family.Paths.KubeletDropIn)
}

// typed returns a kubelet configuration with its apiVersion and kind.
func typed(config map[string]any) map[string]any {
	return kubeletsetting.Merge(map[string]any{"apiVersion": nodeconfig.KubeletConfigVersion, "kind": nodeconfig.KubeletConfigKind}, config)
}

// planConfigDropIn writes the contract's own settings, which the kubelet merges over its configuration, and returns that: the
// defaults alone. Neither has a field that the whole configuration does not have.
func planConfigDropIn(in *concern.Input, out *concern.Output, defaults, whole map[string]any) map[string]any {
	own, lost := mergeable(in.Config.Kubelet.Config, in.Reached(concern.ConfigDropInsWhole))
	defaults = kubeletsetting.Merge(defaults, lost)
	own = fieldsIn(whole, typed(own))
	file := &resource.File{Path: in.Family.Paths.KubeletDropIn}
	names := make(map[string]string)
	addFields(names, "", own)
	out.Node.Over = &resource.Fields{Names: slices.Sorted(maps.Keys(names)), In: resource.IDOf(file)}
	plain, secret := nodeconfig.Revealed(own)
	out.Guarded(secret, resource.Join, file.Path, 0o600, textfile.JSON(plain), "the contract's own settings, over the kubelet's configuration", concern.KubeletUnit)
	return fieldsIn(whole, typed(defaults))
}

// fieldsIn are those of the fields that the whole configuration has.
func fieldsIn(whole, fields map[string]any) map[string]any {
	maps.DeleteFunc(fields, func(name string, _ any) bool { _, has := whole[name]; return !has })
	return fields
}

// mergeable splits settings into those that a kubelet takes from a drop-in, and those that it loses there, if it does not take every
// field: it merges the drop-in into its internal type, which has another name for one field, and in which null changes nothing
// (k8s.io/kubernetes v1.31.14 cmd/kubelet/app/server.go, mergeKubeletConfigurations, and pkg/kubelet/apis/config/types.go). What is
// null is in no file, for every kubelet: it has its default then.
func mergeable(settings map[string]any, every bool) (taken, lost map[string]any) {
	taken, lost = make(map[string]any), make(map[string]any)
	for name, value := range settings {
		below, isMap := value.(map[string]any)
		switch {
		case value == nil || name == concern.ResolverField && !every:
			lost[name] = value
		case isMap && len(below) > 0:
			in, out := mergeable(below, every)
			if len(in) > 0 {
				taken[name] = in
			}
			if len(out) > 0 {
				lost[name] = out
			}
		default:
			taken[name] = value
		}
	}
	return taken, lost
}

// addFields adds the fields of a configuration, and those within them, as flags of the same settings would have them. What is secret
// is redacted.
func addFields(fields map[string]string, prefix string, config map[string]any) {
	for name, value := range config {
		fields[prefix+name] = kubeletsetting.AsFlag(value)
		if below, ok := value.(map[string]any); ok {
			addFields(fields, prefix+name+".", below)
		}
	}
}
