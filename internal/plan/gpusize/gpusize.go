// Package gpusize knows what Azure's machine sizes with graphics processors need: whose processors they have, which driver, which
// services, and which systems have that driver. It is a table. internal/plan, internal/cse and launch call it.
package gpusize

import (
	"slices"
	"strings"
)

// The makers of graphics processors, as the resources of Kubernetes have them.
const (
	NVIDIA = "nvidia"
	AMD    = "amd"
)

// The kinds of NVIDIA's driver.
const (
	gridV20Driver = "grid-v20"
	GridDriver    = "grid"
	CUDADriver    = "cuda"
	CUDALTSDriver = "cuda-lts"
)

// Systems are operating systems of node images.
type Systems uint8

const (
	Ubuntu Systems = 1 << iota
	AzureLinux2
	AzureLinux3
	newer = Ubuntu | AzureLinux3
	all   = newer | AzureLinux2
)

// fabric is whether switches, which a manager sets up, connect the devices of a size.
type fabric uint8

const (
	unswitched fabric = iota
	switched
	// unstated is for sizes whose fabric AKS does not document.
	unstated
)

// Size describes a machine size.
type Size struct {
	Maker string
	// Driver is the kind of the driver. Empty means that AKS installs none.
	Driver string
	// Systems are those on which AKS runs the size.
	Systems Systems
	fabric  fabric
}

// row is a series of sizes that need the same.
type row struct {
	sizes string
	Size
}

// rows are all sizes, in small letters (Karpenter for Azure: pkg/utils/supported-gpus.yaml, gpu.go; AKS node contract: driver kinds
// and fabric manager sizes; Azure: GPU accelerated sizes, for the AMD sizes of 2020 and 2023).
var rows = []row{
	{"nc6 nc12 nc24 nc24r", Size{NVIDIA, CUDADriver, Ubuntu, unswitched}},
	{"nc6s_v2 nc12s_v2 nc24s_v2 nc24rs_v2", Size{NVIDIA, CUDALTSDriver, Ubuntu, unswitched}},
	{"nc6s_v3 nc12s_v3 nc24s_v3 nc24rs_v3", Size{NVIDIA, CUDALTSDriver, all, unswitched}},
	{"nc4as_t4_v3 nc8as_t4_v3 nc16as_t4_v3 nc64as_t4_v3", Size{NVIDIA, CUDALTSDriver, all, unswitched}},
	{"nc8ads_a10_v4 nc16ads_a10_v4 nc32ads_a10_v4", Size{NVIDIA, GridDriver, newer, unswitched}},
	{"nc24ads_a100_v4 nc48ads_a100_v4 nc96ads_a100_v4", Size{NVIDIA, CUDALTSDriver, newer, unswitched}},
	{"nc40ads_h100_v5 nc80adis_h100_v5", Size{NVIDIA, CUDALTSDriver, newer, unswitched}},
	{"nc24ds_xl_rtxpro6000bse_v6 nc36ds_xl_rtxpro6000bse_v6 nc72ds_xl_rtxpro6000bse_v6 nc128ds_xl_rtxpro6000bse_v6 " +
		"nc144ds_xl_rtxpro6000bse_v6 nc256ds_xl_rtxpro6000bse_v6 nc288ds_xl_rtxpro6000bse_v6 nc320ds_xl_rtxpro6000bse_v6 " +
		"nc24lds_xl_rtxpro6000bse_v6 nc36lds_xl_rtxpro6000bse_v6 nc72lds_xl_rtxpro6000bse_v6 nc128lds_xl_rtxpro6000bse_v6 " +
		"nc144lds_xl_rtxpro6000bse_v6 nc256lds_xl_rtxpro6000bse_v6 nc288lds_xl_rtxpro6000bse_v6 nc320lds_xl_rtxpro6000bse_v6",
		Size{NVIDIA, gridV20Driver, Ubuntu, unswitched}},

	{"nd6s nd12s nd24s nd24rs", Size{NVIDIA, CUDALTSDriver, Ubuntu, unswitched}},
	{"nd40rs_v2 nd40s_v3", Size{NVIDIA, CUDALTSDriver, all, unswitched}},
	{"nd96asr_v4 nd112asr_a100_v4 nd120asr_a100_v4 nd96amsr_a100_v4 nd112amsr_a100_v4 nd120amsr_a100_v4 nd96ams_a100_v4 nd96ams_v4",
		Size{NVIDIA, CUDALTSDriver, newer, switched}},
	{"nd96ams_a100_flex_v4 nd96amsf_a100_v4 nd96amsrf_a100_v4", Size{NVIDIA, CUDALTSDriver, newer, unstated}},
	{"nd46s_h100_v5 nd48s_h100_v5 nd50s_h100_v5 nd92is_h100_v5 nd96is_h100_v5 nd100is_h100_v5 nd92isr_h100_v5 nd96isr_h100_v5 nd100isr_h100_v5",
		Size{NVIDIA, CUDALTSDriver, newer, switched}},
	{"nd96is_noib_h100_v5 nd96is_flex_h100_v5 nd96isf_h100_v5 nd96isrf_h100_v5", Size{NVIDIA, CUDALTSDriver, newer, unstated}},
	{"nd96is_h200_v5 nd96isr_h200_v5 nd96isrf_h200_v5", Size{NVIDIA, CUDALTSDriver, newer, switched}},
	{"nd96isf_h200_v5", Size{NVIDIA, CUDALTSDriver, newer, unstated}},
	{"nd128isr_ndr_gb200_v6 nd128isr_gb300_v6", Size{NVIDIA, CUDALTSDriver, Ubuntu, unstated}},
	{"nd96is_mi300x_v5 nd96isr_mi300x_v5", Size{AMD, "", Ubuntu, unswitched}},

	{"ng8ads_v620_v1 ng16ads_v620_v1 ng32ads_v620_v1 ng32adms_v620_v1", Size{AMD, "", Ubuntu, unswitched}},

	{"nv6 nv12 nv24 nv24r nv12s_v3 nv24s_v3 nv48s_v3", Size{NVIDIA, CUDALTSDriver, Ubuntu, unswitched}},
	{"nv4as_v4 nv8as_v4 nv16as_v4 nv32as_v4", Size{AMD, "", Ubuntu, unswitched}},
	{"nv6ads_a10_v5 nv12ads_a10_v5 nv18ads_a10_v5 nv36ads_a10_v5 nv36adms_a10_v5 nv72ads_a10_v5", Size{NVIDIA, GridDriver, newer, unswitched}},
	{"nv4ads_v710_v5 nv8ads_v710_v5 nv12ads_v710_v5 nv24ads_v710_v5 nv28adms_v710_v5", Size{AMD, "", Ubuntu, unswitched}},
}

// bySize are the rows by the names of sizes.
var bySize = func() map[string]*Size {
	sizes := make(map[string]*Size)
	for i := range rows {
		for name := range strings.FieldsSeq(rows[i].sizes) {
			sizes["standard_"+name] = &rows[i].Size
		}
	}
	return sizes
}()

// Of returns the description of a size in upper or lower case, or nil if no row has it. Sizes on offer end in "_Promo".
func Of(size string) *Size { return bySize[strings.TrimSuffix(strings.ToLower(size), "_promo")] }

// DriverKind is the kind of the driver for a size. A size that is not known has the usual one, as in AKS.
func DriverKind(size string) string {
	if known := Of(size); known != nil && known.Driver != "" {
		return known.Driver
	}
	return CUDALTSDriver
}

// HasFabric reports whether a size has devices that are connected by switches, which a manager sets up.
func HasFabric(size string) bool {
	known := Of(size)
	return known != nil && known.fabric == switched
}

// KnowsSize reports whether the table has the needs of a size with NVIDIA's devices.
func KnowsSize(size string) bool {
	known := Of(size)
	return known != nil && known.Maker == NVIDIA && known.fabric != unstated
}

// transcoderSizes have AMD's accelerator for video (AKS: setupAmdAma).
var transcoderSizes = []string{"standard_nm16ads_ma35d"}

func HasTranscoder(size string) bool { return slices.Contains(transcoderSizes, size) }
