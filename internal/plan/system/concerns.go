// Package system plans the operating system: logins, the contract's files and units, kernel modules and parameters, swap,
// updates and trusted certificates. internal/plan composes it.
package system

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("system",
	&access,
	&additions,
	&bootstrappers,
	&commands,
	&distribution,
	&environment,
	&features,
	&files,
	&hugePages,
	&image,
	&imageUnits,
	&messageOfTheDay,
	&modules,
	&passwords,
	&realm,
	&swap,
	&sysctls,
	&trust,
	&units,
	&updates,
)
