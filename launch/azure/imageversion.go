package azure

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/versions"
)

// parts are the definition and the version in an ID.
func (v *ImageVersion) parts() (name, version string) {
	rest, version := cutLast(v.ID)
	rest, _ = cutLast(rest)
	_, name = cutLast(rest)
	return name, version
}

// isImage reports whether an ID is that of an image's version.
func isImage(id string) bool {
	rest, version := cutLast(id)
	rest, versions := cutLast(rest)
	rest, name := cutLast(rest)
	_, images := cutLast(rest)
	return strings.EqualFold(versions, "versions") && strings.EqualFold(images, "images") && isResourceName(name) && isResourceName(version)
}

// cutLast takes the last part off a path.
func cutLast(path string) (rest, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// CompareVersions orders two versions of images: by their numbers, then by how many there are. A version with something
// that is no number is before every other one, and two of those are alike (Karpenter for Azure: nodeimageversionsclient).
func CompareVersions(a, b string) int {
	ok, ok2 := isVersion(a), isVersion(b)
	switch {
	case !ok && !ok2:
		return 0
	case !ok:
		return -1
	case !ok2:
		return 1
	}
	return versions.CompareNumbers(a, b)
}

// isVersion reports whether a text is numbers with dots between.
func isVersion(version string) bool {
	for part := range strings.SplitSeq(version, ".") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return true
}
