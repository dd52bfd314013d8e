package plan

// kubeletConcerns are all of this subject.
var kubeletConcerns = []*concern{
	&capacities,
	&cgroups,
	&freeName,
	&imageCredentialProvider,
	&installed,
	&kubeadmFiles,
	&kubeletBinary,
	&kubeletCommandLine,
	&kubeletConfig,
	&kubeletData,
	&kubeletNetwork,
	&kubeletPrepare,
	&kubeletStart,
	&providerBinary,
	&reserved,
	&servingCertificate,
	&shutdown,
	&supported,
}
