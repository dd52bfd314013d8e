package cse

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/gpusize"
)

// sgxSizes have Intel's SGX; their case counts (AKS node contract, helper rules).
var sgxSizes = []string{"Standard_DC2s", "Standard_DC4s"}

// oldCuda is the version of the driver for the sizes with a K80; that of every other kind is in the image's list of
// components.
const oldCuda = "cuda-470.82.01"

// driver is the kind of the driver for the machine's size.
func (v *view) driver() string { return gpusize.DriverKind(v.size()) }

// driverVersion is the driver's version, where it is not the image's list of components that has it.
func (v *view) driverVersion() string {
	if v.driver() == gpusize.CUDADriver {
		return oldCuda
	}
	return ""
}

func (v *view) size() string { return strings.ToLower(v.written.Cloud.InstanceType) }
