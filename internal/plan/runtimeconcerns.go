package plan

// runtimeConcerns are all of this subject.
var runtimeConcerns = []*concern{
	&cni,
	&cniPlugins,
	&containerd,
	&isolated,
	&registries,
	&runtimePackages,
	&streaming,
}
