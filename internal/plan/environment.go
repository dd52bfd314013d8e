package plan

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// environment gives the contract's variables to services.
var environment = concern{
	name:  "environment",
	reads: []string{"$.system.environment"},
	plan:  planEnvironment,
}

func planEnvironment(in *input, out *output) {
	services := in.config.System.Environment
	for _, service := range slices.Sorted(maps.Keys(services)) {
		variables := environmentOf(services[service])
		if len(variables) == 0 {
			continue
		}
		path := document.FieldPath("$.system.environment", service)
		if service == nodeconfig.AllServices {
			out.add(managerDefaults("20-slipway-environment.conf", variables, true, resource.Restarting(containerdUnit, kubeletUnit), "the contract's variables, for all services"))
			out.askedBy(path)
			continue
		}
		// A file of its own, because systemd shows what a unit has in Environment= to everybody (systemd.exec(5)).
		unit, file := service+".service", environmentDir+service+".env"
		out.secret(resource.Base, file, environmentFile(variables...), "the contract's variables for "+service, unit)
		out.askedBy(path)
		out.file(resource.Base, resource.UnitDir+"/"+unit+".d/20-slipway-environment.conf", 0o644,
			unitfile.File(unitfile.Section("Service"), unitfile.Set("EnvironmentFile", unitfile.Quote(file))), "gives "+service+" the contract's variables", unit)
		out.askedBy(path)
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
