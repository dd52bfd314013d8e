// Package gpusize knows which driver and which services a machine's size of Azure's needs for its graphics processors. It is a table.
// internal/plan, internal/cse and launch call it.
package gpusize

import (
	"slices"
	"strings"
)

// gridSizes need the driver of the kind grid, gridV20Sizes that of the kind grid-v20 (AKS node contract, GPU: driver
// kind).
var (
	gridSizes = []string{
		"standard_nv6ads_a10_v5", "standard_nv12ads_a10_v5", "standard_nv18ads_a10_v5", "standard_nv36ads_a10_v5",
		"standard_nv72ads_a10_v5", "standard_nv36adms_a10_v5", "standard_nc8ads_a10_v4", "standard_nc16ads_a10_v4",
		"standard_nc32ads_a10_v4",
	}
	gridV20Sizes = []string{
		"standard_nc24ds_xl_rtxpro6000bse_v6", "standard_nc24lds_xl_rtxpro6000bse_v6",
		"standard_nc36ds_xl_rtxpro6000bse_v6", "standard_nc36lds_xl_rtxpro6000bse_v6",
		"standard_nc72ds_xl_rtxpro6000bse_v6", "standard_nc72lds_xl_rtxpro6000bse_v6",
		"standard_nc144ds_xl_rtxpro6000bse_v6", "standard_nc144lds_xl_rtxpro6000bse_v6",
		"standard_nc288ds_xl_rtxpro6000bse_v6", "standard_nc288lds_xl_rtxpro6000bse_v6",
		"standard_nc128ds_xl_rtxpro6000bse_v6", "standard_nc128lds_xl_rtxpro6000bse_v6",
		"standard_nc256ds_xl_rtxpro6000bse_v6", "standard_nc256lds_xl_rtxpro6000bse_v6",
		"standard_nc320ds_xl_rtxpro6000bse_v6", "standard_nc320lds_xl_rtxpro6000bse_v6",
	}
	// fabricManagerSizes are the sizes whose devices are connected by switches (AKS node contract, GPU: fabric manager
	// sizes).
	fabricManagerSizes = []string{
		"standard_nd96asr_v4", "standard_nd112asr_a100_v4", "standard_nd120asr_a100_v4", "standard_nd96amsr_a100_v4",
		"standard_nd112amsr_a100_v4", "standard_nd120amsr_a100_v4", "standard_nd96ams_a100_v4", "standard_nd96ams_v4",
		"standard_nd46s_h100_v5", "standard_nd48s_h100_v5", "standard_nd50s_h100_v5", "standard_nd92is_h100_v5",
		"standard_nd96is_h100_v5", "standard_nd100is_h100_v5", "standard_nd92isr_h100_v5", "standard_nd96isr_h100_v5",
		"standard_nd100isr_h100_v5", "standard_nd96is_h200_v5", "standard_nd96isr_h200_v5", "standard_nd96isrf_h200_v5",
	}
)

// The kinds of driver.
const (
	gridV20Driver = "grid-v20"
	GridDriver    = "grid"
	CUDADriver    = "cuda"
	CUDALTSDriver = "cuda-lts"
)

// DriverKind is the kind of the driver for a size in small letters, also where that has no graphics processor.
func DriverKind(size string) string {
	switch {
	case slices.Contains(gridV20Sizes, size):
		return gridV20Driver
	case slices.Contains(gridSizes, size):
		return GridDriver
	case strings.HasPrefix(size, "standard_nc") && !strings.Contains(size, "_v"):
		return CUDADriver
	}
	return CUDALTSDriver
}

// HasFabric reports whether a size, in small letters, has devices that are connected by switches, which a manager sets up.
func HasFabric(size string) bool { return slices.Contains(fabricManagerSizes, size) }

// transcoderSizes have AMD's accelerator for video (AKS: setupAmdAma).
var transcoderSizes = []string{"standard_nm16ads_ma35d"}

func HasTranscoder(size string) bool { return slices.Contains(transcoderSizes, size) }

// plainSizes are what the names begin with of sizes whose devices need no manager; of a size of the family ND that is in neither
// table it is not known (Azure: GPU accelerated virtual machine sizes).
var plainSizes = []string{"standard_nc", "standard_nv", "standard_nd6s", "standard_nd12s", "standard_nd24s", "standard_nd24rs", "standard_nd40"}

// KnowsSize reports whether it is known what a size of Azure's with NVIDIA's devices needs.
func KnowsSize(size string) bool {
	return HasFabric(size) || slices.ContainsFunc(plainSizes, func(prefix string) bool { return strings.HasPrefix(size, prefix) })
}
