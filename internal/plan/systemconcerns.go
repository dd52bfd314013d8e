package plan

// systemConcerns are all of this subject.
var systemConcerns = []*concern{
	&access,
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
}
