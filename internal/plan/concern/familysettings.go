package concern

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// familySettings returns the family's own defaults in the kubelet's configuration file, or nil.
func (in *Input) familySettings() map[string]any {
	if in.Family.Kubelet.Settings == nil {
		return nil
	}
	settings := in.Family.Kubelet.Settings(in.Minor)
	set := func(field string) bool { return kubeletsetting.Field(in.Config.Kubelet, field) != nil }
	if slices.ContainsFunc(shutdownFields, set) {
		maps.DeleteFunc(settings, func(field string, _ any) bool { return slices.Contains(shutdownFields, field) })
	}
	return settings
}

// shutdownFields set how long a kubelet delays a shutdown. It does not start with the last one and another one (Kubernetes:
// pkg/kubelet/apis/config/validation/validation.go). So if a contract sets any of them, it replaces all of the family's.
var shutdownFields = []string{"shutdownGracePeriod", "shutdownGracePeriodCriticalPods", "shutdownGracePeriodByPodPriority"}

// FamilySets returns the family's own default of a field of that file, with dots between names, or nil.
func (in *Input) FamilySets(field string) any {
	return kubeletsetting.Field(nodeconfig.Kubelet{Config: in.FamilySettings}, field)
}
