// Package components is the node image's component manifest: what is baked into an image, in which
// versions, where, and with which digests, and what nodes of it can be.
//
// It is for image builds, which write the manifest: a [Manifest] in JSON, at [Path]. The node reads it
// instead of running programs to ask for their versions, and whoever launches nodes compares it with what
// is wanted, before there is a machine. The package reads bytes, does no I/O and refuses to look whether
// the components are there. internal/facts and launch call it.
package components

import (
	"encoding/json"
	"fmt"
)

// Path is where an image holds its manifest.
const Path = "/opt/slipway/components.json"

// MaxBytes bounds a manifest.
const MaxBytes = 1 << 20

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
	// Abilities are what nodes of the image can be; nil where nobody has written it down. The node does not read it: it is
	// for programs that decide which image a node gets (launch.Launch.Check).
	Abilities *Abilities `json:"abilities,omitempty"`
}

// Abilities are what nodes of an image can be. A list that is nil is not known; one that is empty has nothing.
type Abilities struct {
	// AgentVersion is the version of Slipway's agent in the image; empty where that is not known.
	AgentVersion string `json:"agentVersion,omitempty"`
	// Dialects are those of the contracts that the agent reads: "native", "aks", ... An image without the agent has none.
	Dialects []string `json:"dialects,omitempty"`
	// Layouts are the families of nodes that the image is built for: "standard", "aks", ...
	Layouts []string `json:"layouts,omitempty"`
	// Snapshotters are those that start containers before their image has arrived: "overlaybd", "soci".
	Snapshotters []string `json:"snapshotters,omitempty"`
	// GPUs are the vendors whose drivers the image has or can install: "nvidia", "amd".
	GPUs []string `json:"gpus,omitempty"`
}

// Component is one program, in one version.
type Component struct {
	// Name is "kubelet", "containerd", "runc", ...
	Name string `json:"name"`
	// Version is its release, without a leading v: "1.36.3". It is empty where nobody has written it down.
	Version string `json:"version"`
	// Path is where its binary is.
	Path string `json:"path"`
	// SHA256 is the binary's digest, in hexadecimal.
	SHA256 string `json:"sha256,omitempty"`
}

// Parse reads a manifest.
func Parse(data []byte) (Manifest, error) {
	listed, err := List(data)
	if err != nil {
		return Manifest{}, err
	}
	var rest struct {
		Abilities *Abilities `json:"abilities"`
	}
	if err := json.Unmarshal(data, &rest); err != nil {
		return Manifest{}, fmt.Errorf("component manifest: %w", err)
	}
	return Manifest{APIVersion, Kind, listed, rest.Abilities}, nil
}

// List reads the components of a manifest, and nothing else of it. The node calls it, and so does not link what it has no use
// for.
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
		return nil, fmt.Errorf("component manifest is %q %q, not %q %q", m.APIVersion, m.Kind, APIVersion, Kind)
	}
	return m.Components, nil
}
