package plan

import "github.com/slipway-dev/slipway/internal/plan/concern"

// KubeletUnit is the unit that makes a machine a node; ContainerdUnit runs its pods.
const (
	KubeletUnit    = concern.KubeletUnit
	ContainerdUnit = concern.ContainerdUnit
)

// Where networks of pods are configured, in every family.
const (
	NetworkDir      = concern.CNIConfDir
	NetworkTemplate = concern.KubenetFile
)
