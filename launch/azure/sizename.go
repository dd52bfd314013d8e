package azure

import (
	"slices"
	"strings"
)

// sizeName are the parts of a size's name (Azure: VM naming conventions): Standard_, family, subfamily, processors, features, then the
// accelerator and the version, each after an underscore: Standard_NC24ads_A100_v4.
type sizeName struct{ family, subfamily, features, accelerator, version string }

func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || c >= 'a' && c <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// sizeNameOf takes a name apart. It is not ok for a name of another form, of which nothing is said.
func sizeNameOf(size string) (n sizeName, ok bool) {
	rest, ok := strings.CutPrefix(size, standard)
	if !ok {
		return n, false
	}
	first, rest, _ := strings.Cut(rest, "_")
	letters, after := cutLeading(first, isUpper)
	if letters == "" {
		return n, false
	}
	cpus, after := cutLeading(after, isDigit)
	if constrained, ok := strings.CutPrefix(after, "-"); ok {
		_, after = cutLeading(constrained, isDigit)
	}
	if _, none := cutLeading(after, isLetter); cpus == "" || none != "" {
		return n, false
	}
	n = sizeName{family: letters[:1], subfamily: letters[1:], features: after}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, "_")
		switch {
		case len(part) == len("v5") && part[0] == 'v' && isDigit(part[1]):
			n.version = part[1:]
		case isAccelerator(part):
			n.accelerator = part
		}
	}
	return n, true
}

// cutLeading takes the leading bytes of a kind off a text.
func cutLeading(text string, is func(byte) bool) (leading, rest string) {
	n := 0
	for n < len(text) && is(text[n]) {
		n++
	}
	return text[:n], text[n:]
}

// isAccelerator reports whether a part of a name is a graphics processor's: letters and digits, a capital letter first, such as A100.
func isAccelerator(part string) bool {
	if part == "" || !isUpper(part[0]) {
		return false
	}
	_, rest := cutLeading(part, isLetter)
	_, other := cutLeading(rest, func(c byte) bool { return isLetter(c) || isDigit(c) })
	return rest != "" && other == ""
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
