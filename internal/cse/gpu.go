package cse

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/gpusize"
)

// sgxSizes have Intel's SGX; they are case-sensitive (AKS node contract, helper rules).
var sgxSizes = []string{"Standard_DC2s", "Standard_DC4s"}

// oldCuda is the driver's version for the sizes with a K80. The versions for all other kinds are in the image's list of components.
const oldCuda = "cuda-470.82.01"

// driver is the kind of driver for the machine's size.
func (v *view) driver() string { return gpusize.DriverKind(v.size()) }

// driverVersion is the driver's version, unless the image's list of components has it.
func (v *view) driverVersion() string {
	if v.driver() == gpusize.CUDADriver {
		return oldCuda
	}
	return ""
}

func (v *view) size() string { return strings.ToLower(v.written.Cloud.InstanceType) }
