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
	// Snapshotters is the path of the table with the snapshotter of all containers. Platforms is the table of images' snapshotters by
	// runtime; if empty, the runtime's own setting decides both.
	Snapshotters []string
	Platforms    string
	// systemdCgroup means that the default cgroup driver is systemd's.
	systemdCgroup bool
	// CDI means that the Container Device Interface is off by default (containerd: docs/cri/config.md, enable_cdi).
	// Version 1.6 has no such setting, and ignores settings that it does not know.
	CDI bool
}

// machineCapacity is what a machine can hold.
type machineCapacity struct {
	// Types are those that the machine can be of, sorted, each with its number of pods.
	Types []string
	Pods  map[string]int
	// Node is the capacity of the machine's own type; nil if the type is not known.
	Node *capacity.Node
	// Sized means that the number of processors is known, and so is the reservation for the system.
	Sized bool
	// Problems are types that are not known, by their index in the contract, or -1 for the machine's own.
	Problems map[int]error
}

// Count is the number of pods of the machine's own type.
func (c *machineCapacity) Count() string { return strconv.Itoa(c.Node.MaxPods) }
