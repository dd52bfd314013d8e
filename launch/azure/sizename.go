package azure

import (
	"slices"
	"strings"
)

// sizeName are the parts of a size's name (Azure: VM naming conventions): Standard_, family, subfamily, processors, features, then the
// accelerator and the version, each after an underscore: Standard_NC24ads_A100_v4.
type sizeName struct{ family, subfamily, features, accelerator, version string }

const (
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// sizeNameOf takes a name apart. It is not ok for a name of another form, of which nothing is said.
func sizeNameOf(size string) (n sizeName, ok bool) {
	rest, ok := strings.CutPrefix(size, standard)
	if !ok {
		return n, false
	}
	first, rest, _ := strings.Cut(rest, "_")
	letters, after := cutSet(first, upper)
	if letters == "" {
		return n, false
	}
	cpus, after := cutSet(after, digits)
	if constrained, ok := strings.CutPrefix(after, "-"); ok {
		_, after = cutSet(constrained, digits)
	}
	if cpus == "" || strings.Trim(after, lower+upper) != "" {
		return n, false
	}
	n = sizeName{family: letters[:1], subfamily: letters[1:], features: after}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, "_")
		switch number, isVersion := strings.CutPrefix(part, "v"); {
		case isVersion && len(number) == 1 && strings.Contains(digits, number):
			n.version = number
		case part != "" && strings.Contains(upper, part[:1]) && strings.ContainsAny(part, digits) && strings.Trim(part, upper+lower+digits) == "":
			n.accelerator = part
		}
	}
	return n, true
}

// cutSet takes the leading bytes of a set off a text.
func cutSet(text, set string) (leading, rest string) {
	rest = strings.TrimLeft(text, set)
	return text[:len(text)-len(rest)], rest
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

// gpu is the name of the graphics processor; empty where it is not known.
func (n sizeName) gpu() string {
	if n.accelerator != "" {
		return n.accelerator
	}
	if i := slices.IndexFunc(gpuRows, func(r gpuRow) bool { return r.family == n.family+n.subfamily && r.version == n.version }); i >= 0 {
		return gpuRows[i].gpu
	}
	return ""
}
