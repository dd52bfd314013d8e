package system

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// environment gives the contract's variables to services.
var environment = concern.Concern{
	Name:  "environment",
	Reads: []string{"$.system.environment"},
	Plan:  planEnvironment,
}

func planEnvironment(in *concern.Input, out *concern.Output) {
	services := in.Config.System.Environment
	for _, service := range slices.Sorted(maps.Keys(services)) {
		variables := environmentOf(services[service])
		if len(variables) == 0 {
			continue
		}
		path := document.FieldPath("$.system.environment", service)
		if service == nodeconfig.AllServices {
			out.Append(concern.ManagerDefaults(in.Family.Host.Environment, variables, true, resource.Restarting(concern.ContainerdUnit, concern.KubeletUnit), "the contract's variables, for all services"))
			out.AskedBy(path)
			continue
		}
		// It is a separate file, because systemd shows a unit's Environment= to every user (systemd.exec(5)).
		unit, file := service+".service", concern.EnvironmentDir+service+".env"
		out.Secret(resource.Base, file, textfile.Environment(variables...), "the contract's variables for "+service, unit)
		out.AskedBy(path)
		out.File(resource.Base, resource.UnitDir+"/"+unit+".d/"+in.Family.Host.Environment, 0o644,
			unitfile.File(unitfile.Section("Service"), unitfile.Set("EnvironmentFile", unitfile.Quote(file))), "gives "+service+" the contract's variables", unit)
		out.AskedBy(path)
	}
}

// environmentOf are variables by name.
func environmentOf(values map[string]nodeconfig.Secret) [][2]string {
	var variables [][2]string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		variables = append(variables, [2]string{name, values[name].Reveal()})
	}
	return variables
}
