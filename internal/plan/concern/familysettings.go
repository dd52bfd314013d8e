package concern

import (
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// FamilySettings are the family's own defaults in the kubelet's configuration file; nil for none.
func (in *Input) FamilySettings() map[string]any {
	if settings := in.Family.Kubelet.Settings; settings != nil {
		return settings(in.Minor)
	}
	return nil
}

// FamilySets is the family's own default of a field of that file, with dots between names; nil for none.
func (in *Input) FamilySets(field string) any {
	return kubeletsetting.Field(nodeconfig.Kubelet{Config: in.FamilySettings()}, field)
}
