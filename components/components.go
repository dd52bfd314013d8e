// Package components has the node image's component manifest: the programs in an image, with their versions, paths and digests, and
// the kinds of nodes that the image can be.
//
// It is for image builds, which write the manifest: a [Manifest] in JSON, at [Path]. The node reads it instead of running programs
// to find out their versions, and programs that launch nodes compare it with a contract before the machine exists. The package
// parses bytes, does no I/O and does not check that the components exist. internal/facts and launch call it.
package components

import (
	"encoding/json"
	"fmt"
)

// Path is the path of an image's manifest.
const Path = "/opt/slipway/components.json"

// MaxBytes limits a manifest.
const MaxBytes = 1 << 20

// SignaturePath is the path of its signature, which an image may have. The signature is for the namespace SignedFor: "ssh-keygen -Y sign
// -n slipway-image".
const (
	SignaturePath = Path + ".sig"
	SignedFor     = "slipway-image"
)

// MaxProgram limits a program whose digest is compared, in bytes. A kubelet has less than a tenth of it.
const MaxProgram = 1 << 30

// APIVersion and Kind identify a manifest.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "ComponentManifest"
)

// Manifest lists an image's components.
type Manifest struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Components []Component `json:"components"`
	// Abilities are the kinds of nodes that the image can be. It is nil if they are unknown. The node does not read it: it is for
	// programs that decide which image a node gets (launch.Launch.Check).
	Abilities *Abilities `json:"abilities,omitempty"`
	// Made is what the image was made of. It is nil if that is unknown. The node does not read it.
	Made *Made `json:"made,omitempty"`
}

// Made is what an image was made of, and by which program. An empty field is unknown.
type Made struct {
	// Builder is the program and its version: "slipway 0.1.0".
	Builder string `json:"builder,omitempty"`
	// Architecture is "amd64" or "arm64".
	Architecture string `json:"architecture,omitempty"`
	// Lock is the SHA-256 digest of the components' lock, in hexadecimal. The image has the lock, too, beside the manifest.
	Lock string `json:"lock,omitempty"`
	// Suite is the distribution's release below the components, and Snapshot the time of its packages: "trixie", "20261101T000000Z".
	Suite    string `json:"suite,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	// SecureBoot reports whether the boot loader and the kernel are signed. It is nil if that is unknown.
	SecureBoot *bool `json:"secureBoot,omitempty"`
	// Files is the SHA-256 digest of the paths, modes, times and contents of the files of the image's root, in hexadecimal. The same inputs give
	// the same one: containerd's store is left out, because it has the times at which container images were imported. Only the manifest beside
	// the image has it.
	Files string `json:"files,omitempty"`
	// Disks are the files of the image. A manifest in an image cannot have them: only the one beside the image has.
	Disks []Disk `json:"disks,omitempty"`
}

// Disk is the file of an image.
type Disk struct {
	// Format is "raw", "qcow2" or "vhd".
	Format string `json:"format"`
	// SHA256 is the file's digest, in hexadecimal, and Bytes its size.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Abilities are the kinds of nodes that an image can be. A nil list is unknown; an empty one means that the image has none of the
// kind.
type Abilities struct {
	// AgentVersion is the version of Slipway's agent in the image. Empty means unknown.
	AgentVersion string `json:"agentVersion,omitempty"`
	// Dialects are the dialects that the agent reads: "native", "aks", ... An image without the agent has none.
	Dialects []string `json:"dialects,omitempty"`
	// Layouts are the families of nodes that the image is built for: "standard", "aks", ...
	Layouts []string `json:"layouts,omitempty"`
	// Snapshotters are those that start containers before their image is complete: "overlaybd", "soci".
	Snapshotters []string `json:"snapshotters,omitempty"`
	// GPUs are the vendors whose drivers the image has or can install: "nvidia", "amd".
	GPUs []string `json:"gpus,omitempty"`
}

// Component is one program, in one version.
type Component struct {
	// Name is "kubelet", "containerd", "runc", ...
	Name string `json:"name"`
	// Version is its release, without a leading v: "1.36.3". Empty means unknown.
	Version string `json:"version"`
	// Path is its path in the image.
	Path string `json:"path"`
	// SHA256 is the binary's digest, in hexadecimal.
	SHA256 string `json:"sha256,omitempty"`
	// License is its licence's SPDX expression, and Source where it came from. Empty means unknown.
	License string `json:"license,omitempty"`
	Source  string `json:"source,omitempty"`
}

// Parse parses a manifest.
func Parse(data []byte) (Manifest, error) {
	listed, err := List(data)
	if err != nil {
		return Manifest{}, err
	}
	var rest struct {
		Abilities *Abilities `json:"abilities"`
		Made      *Made      `json:"made"`
	}
	if err := json.Unmarshal(data, &rest); err != nil {
		return Manifest{}, fmt.Errorf("component manifest: %w", err)
	}
	return Manifest{APIVersion, Kind, listed, rest.Abilities, rest.Made}, nil
}

// List parses only the components of a manifest. The node calls it, and so does not link code that it does not need.
func List(data []byte) ([]Component, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("component manifest is larger than %d bytes", MaxBytes)
	}
	var m struct {
		APIVersion string      `json:"apiVersion"`
		Kind       string      `json:"kind"`
		Components []Component `json:"components"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("component manifest: %w", err)
	}
	if m.APIVersion != APIVersion || m.Kind != Kind {
		return nil, fmt.Errorf("component manifest is %.40q %.40q, not %q %q", m.APIVersion, m.Kind, APIVersion, Kind)
	}
	return m.Components, nil
}
