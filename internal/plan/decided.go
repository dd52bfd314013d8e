package plan

import (
	"strconv"

	"github.com/slipway-dev/slipway/capacity"
)

// criSchema is how containerd's configuration spells the CRI plug-in, by containerd's main version.
type criSchema struct {
	major   string // containerd's main version
	version int64  // of the document
	images  string // plug-in that has the settings of images
	runtime string // plug-in that has the settings of runtimes
	// sandbox leads to the pause image, from images.
	sandbox []string
	// snapshotters leads to the table that has the snapshotter of all containers. platforms is the table of images' snapshotters by
	// runtime; empty where the runtime's own setting says both.
	snapshotters []string
	platforms    string
	// systemdCgroup says that the driver is systemd's even where the contract names none.
	systemdCgroup bool
	// cdi says that the Container Device Interface is off by default (containerd: docs/cri/config.md, enable_cdi).
	// Version 1.6 has no such setting, and passes over one that it does not know.
	cdi bool
}

// machineCapacity is what a machine can hold.
type machineCapacity struct {
	// types are those that the machine can be of, sorted, each with its number of pods.
	types []string
	pods  map[string]int
	// node is what the machine's own type holds; nil where it is not known which that is.
	node *capacity.Node
	// sized says that the number of its processors is known, and so what is kept back for the system.
	sized bool
	// problems are types that are not known, by their index in the contract, or -1 for the machine's own.
	problems map[int]error
}

// count is the number of pods of the machine's own type.
func (c *machineCapacity) count() string { return strconv.Itoa(c.node.MaxPods) }
