package plan

import (
	"cmp"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The vendors.
const (
	nvidia = "nvidia"
)

// gpu is what the contract says of graphics processors; nothing where it says nothing.
func (in *input) gpu() *nodeconfig.GPU { return cmp.Or(in.config.System.GPU, &nodeconfig.GPU{}) }

// usesNVIDIA reports whether the node uses NVIDIA's devices.
func (in *input) usesNVIDIA() bool {
	return in.gpu().Vendor == nvidia && !(in.family.GPU.Tagged && skipsGPU(in.facts))
}

// skipsGPU reports whether the machine is one whose GPU is left alone (AKS: the configuration's no-GPU variant).
func skipsGPU(f facts.Facts) bool { return f.Instance != nil && f.Instance.SkipGPUDriver }

// managesGPU reports whether the device plug-in and the exporter of metrics are services of the node, and sharesGPU whether the
// driver for dynamic resource allocation is one, which takes the place of the plug-in.
func (in *input) managesGPU() bool {
	return in.usesNVIDIA() && (in.gpu().Managed || in.family.GPU.Tagged && in.instance().ManagedGPU)
}

func (in *input) sharesGPU() bool { return in.usesNVIDIA() && in.gpu().DynamicResourceAllocation }

// size is the machine's, in small letters: what its cloud says, or else the contract.
func (in *input) size() string {
	return strings.ToLower(cmp.Or(in.instance().Type, in.config.Cloud.InstanceType))
}

func (in *input) observesGPU() bool { return in.managesGPU() || in.sharesGPU() }

// transcodes reports whether the machine has AMD's accelerator for video: its size says so, and nobody has to ask for it.
func (in *input) transcodes() bool { return hasTranscoder(in.size()) }
