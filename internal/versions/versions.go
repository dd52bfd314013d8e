// Package versions parses the versions of Kubernetes and containerd, and orders those of images, kernels and packages.
// It does no I/O.
//
// After the numbers, only alpha, beta and rc make a pre-release, which comes before its release. Any other suffix is a
// vendor's ("-eks-1fbb135", "-gke.100", "+k3s1", "-0ubuntu1"), and compares equal: Semantic Versioning would treat it
// as a pre-release.
package versions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Version is a version of Kubernetes or containerd.
type Version struct {
	// Major, Minor and Patch are its numbers. Minor is -1 if the version has only a main number.
	Major, Minor, Patch int
	// number is the text of the numbers, and pre the text of a pre-release, such as "rc.1".
	number, pre string
}

// preReleases are the kinds of pre-releases, in order. A release comes after all of them.
var preReleases = []string{"alpha", "beta", "rc"}

// Parse parses a version of one to three numbers, with an optional leading "v". ok is false if the text is not a
// version.
func Parse(text string) (v Version, ok bool) {
	text = strings.TrimPrefix(text, "v")
	suffix := ""
	if i := strings.IndexAny(text, "-+~"); i >= 0 {
		text, suffix = text[:i], text[i:]
	}
	if suffix != "" && len(suffix) < 2 {
		return Version{}, false
	}
	numbers := []*int{&v.Major, &v.Minor, &v.Patch}
	parts := strings.Split(text, ".")
	if len(parts) > len(numbers) {
		return Version{}, false
	}
	v.Minor = -1
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return Version{}, false
		}
		*numbers[i] = int(n)
	}
	v.number = text
	if suffix != "" && suffix[0] != '+' {
		v.pre = preRelease(suffix[1:])
	}
	return v, true
}

// preRelease is the pre-release at the beginning of a suffix: a kind, and numbers. It is empty for a vendor's suffix.
func preRelease(suffix string) string {
	for _, kind := range preReleases {
		if rest, ok := strings.CutPrefix(suffix, kind); ok {
			rest = rest[:len(rest)-len(strings.TrimLeft(rest, ".0123456789"))]
			end := len(kind) + len(rest)
			if end == len(suffix) || strings.ContainsAny(suffix[end:end+1], "-+~") {
				return suffix[:end]
			}
		}
	}
	return ""
}

// String is the version without "v" and without a vendor's suffix.
func (v Version) String() string {
	if v.pre == "" {
		return v.number
	}
	return v.number + "-" + v.pre
}

// Compare orders two versions.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch),
		cmp.Compare(kind(v.pre), kind(w.pre)), CompareNumbers(v.pre, w.pre))
}

// kind is the position of a pre-release's kind in the order.
func kind(pre string) int {
	at := slices.IndexFunc(preReleases, func(kind string) bool { return strings.HasPrefix(pre, kind) })
	if at < 0 {
		return len(preReleases)
	}
	return at
}

// AtLeast reports whether a version of Kubernetes is 1.minor.0 or later. If the text is not a version, the result is
// false.
func AtLeast(text string, minor int) bool {
	v, ok := Parse(text)
	return ok && v.Compare(Version{Major: 1, Minor: minor}) >= 0
}

// Minor is the minor of a version of Kubernetes 1.
func Minor(text string) (minor int, ok bool) {
	v, ok := Parse(text)
	return v.Minor, ok && v.Major == 1 && v.Minor >= 0
}

// CompareNumbers orders versions of images, kernels and packages number by number, with numbers of any length: 1.10.0
// comes after 1.9.2. Letters between the numbers come before any number, and are equal to each other. If one version
// begins with the other, the shorter comes first.
func CompareNumbers(a, b string) int {
	return slices.CompareFunc(parts(a), parts(b), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
}

// parts are the numbers of a version, each with one leading zero, and "" for letters.
func parts(text string) (all []string) {
	const digits = "0123456789"
	for text != "" {
		number := text[:len(text)-len(strings.TrimLeft(text, digits))]
		text = text[len(number):]
		if number != "" {
			all = append(all, "0"+strings.TrimLeft(number, "0"))
		}
		between := text
		if i := strings.IndexAny(text, digits); i >= 0 {
			between = text[:i]
		}
		if text = text[len(between):]; strings.ContainsFunc(between, unicode.IsLetter) {
			all = append(all, "")
		}
	}
	return all
}
