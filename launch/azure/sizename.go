package azure

import (
	"regexp"
	"slices"
	"strings"
)

// sizeName are the parts of a size's name (Azure: VM naming conventions): Standard_, family, subfamily, processors, features, then the
// accelerator and the version, each after an underscore: Standard_NC24ads_A100_v4.
type sizeName struct{ family, subfamily, features, accelerator, version string }

var (
	sizeForm        = regexp.MustCompile(`(?s)^` + standard + `([A-Z])([A-Z]*)[0-9]+(?:-[0-9]*)?([A-Za-z]*)(?:_(.*))?$`)
	versionForm     = regexp.MustCompile(`^v([0-9])$`)
	acceleratorForm = regexp.MustCompile(`^[A-Z][A-Za-z]*[0-9][0-9A-Za-z]*$`) // such as A100
)

// sizeNameOf splits a size's name into its parts. If the name has another form, ok is false.
func sizeNameOf(size string) (n sizeName, ok bool) {
	names := sizeForm.FindStringSubmatch(size)
	if names == nil {
		return n, false
	}
	n = sizeName{family: names[1], subfamily: names[2], features: names[3]}
	for part := range strings.SplitSeq(names[4], "_") {
		if version := versionForm.FindStringSubmatch(part); version != nil {
			n.version = version[1]
		} else if acceleratorForm.MatchString(part) {
			n.accelerator = part
		}
	}
	return n, true
}

// series is the name without what differs within a series: "NCads_v4".
func (n sizeName) series() string {
	if n.version == "" {
		return n.family + n.subfamily + n.features
	}
	return n.family + n.subfamily + n.features + "_v" + n.version
}

// gpuRow is the graphics processor of a series whose names do not have it.
type gpuRow struct{ family, version, gpu string }

// gpuRows are Azure's pages on the series NCv3, NDv2, ND A100 v4 and NVv3.
var gpuRows = []gpuRow{{"NC", "3", "V100"}, {"ND", "2", "V100"}, {"ND", "4", "A100"}, {"NV", "3", "M60"}}

// gpu returns the name of the graphics processor. Empty means unknown.
func (n sizeName) gpu() string {
	if n.accelerator != "" {
		return n.accelerator
	}
	if i := slices.IndexFunc(gpuRows, func(r gpuRow) bool { return r.family == n.family+n.subfamily && r.version == n.version }); i >= 0 {
		return gpuRows[i].gpu
	}
	return ""
}
