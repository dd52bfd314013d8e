package concern

import (
	"strconv"

	"github.com/slipway-dev/slipway/capacity"
)

// CRISchema is how containerd's configuration spells the CRI plug-in, by containerd's main version.
type CRISchema struct {
	Major   string // containerd's main version
	Version int64  // of the document
	Images  string // plug-in that has the settings of images
	Runtime string // plug-in that has the settings of runtimes
	// Sandbox leads to the pause image, from images.
	Sandbox []string
	// Snapshotters leads to the table that has the snapshotter of all containers. Platforms is the table of images' snapshotters by
	// runtime; empty where the runtime's own setting says both.
	Snapshotters []string
	Platforms    string
	// systemdCgroup says that the driver is systemd's even where the contract names none.
	systemdCgroup bool
	// CDI says that the Container Device Interface is off by default (containerd: docs/cri/config.md, enable_cdi).
	// Version 1.6 has no such setting, and passes over one that it does not know.
	CDI bool
}

// machineCapacity is what a machine can hold.
type machineCapacity struct {
	// Types are those that the machine can be of, sorted, each with its number of pods.
	Types []string
	Pods  map[string]int
	// Node is what the machine's own type holds; nil where it is not known which that is.
	Node *capacity.Node
	// Sized says that the number of its processors is known, and so what is kept back for the system.
	Sized bool
	// Problems are types that are not known, by their index in the contract, or -1 for the machine's own.
	Problems map[int]error
}

// Count is the number of pods of the machine's own type.
func (c *machineCapacity) Count() string { return strconv.Itoa(c.Node.MaxPods) }
