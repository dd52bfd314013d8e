// Package components is the node image's component manifest: what is baked into an image, in which
// versions, where, and with which digests.
//
// It is for image builds, which write the manifest: a [Manifest] in JSON, at [Path]. The node reads it
// instead of running programs to ask for their versions. The package reads bytes, does no I/O and
// refuses to look whether the components are there. internal/facts calls it.
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
	var m Manifest
	if len(data) > MaxBytes {
		return m, fmt.Errorf("component manifest is larger than %d bytes", MaxBytes)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("component manifest: %w", err)
	}
	if m.APIVersion != APIVersion || m.Kind != Kind {
		return Manifest{}, fmt.Errorf("component manifest is %q %q, not %q %q", m.APIVersion, m.Kind, APIVersion, Kind)
	}
	return m, nil
}
