package plan

// KubeletUnit is the unit that makes a machine a node; ContainerdUnit is the one that its pods run under.
const (
	KubeletUnit    = kubeletUnit
	ContainerdUnit = containerdUnit
)

// Where networks of pods are configured, in every family.
const (
	NetworkDir      = cniConfDir
	NetworkTemplate = kubenetTemplate
)
