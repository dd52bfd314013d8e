package concern

import (
	"net/url"
	"path"
	"strings"
)

// maxRelease bounds a version: containerd's longest has 8 characters.
const maxRelease = 32

// ReleaseIn returns the release at the beginning of a version, "2.0.4" of "v2.0.4-ubuntu24.04u1"; empty if the version begins with none.
func ReleaseIn(version string) string {
	version = strings.TrimPrefix(version, "v")
	number := version[:len(version)-len(strings.TrimLeft(version, "0123456789."))]
	rest := version[len(number):]
	if len(number) > maxRelease || rest != "" && !strings.ContainsAny(rest[:1], "-+~^") || strings.Contains("."+number+".", "..") {
		return ""
	}
	return number
}

// packageRelease returns the release in a package's path or URL; empty if it has none. A file has it in its name
// (deb-version(7), "Package file names"; RPM: NAME-VERSION-RELEASE.ARCH.rpm; containerd's releases: NAME-VERSION-OS-ARCH.tar.gz), an
// artifact of a registry in its tag.
func packageRelease(place string) string {
	name := path.Base(place)
	if strings.Contains(place, "://") {
		if u, err := url.Parse(place); err == nil {
			name = path.Base(u.Path) // the query is no part of the name
		}
	} else if !strings.HasPrefix(place, "/") {
		name, _, _ = strings.Cut(name, "@")
		_, tag, _ := strings.Cut(name, ":")
		return ReleaseIn(tag)
	}
	switch base := strings.TrimSuffix(name, path.Ext(name)); path.Ext(name) {
	case ".deb":
		if parts := strings.Split(base, "_"); len(parts) == 3 {
			return ReleaseIn(parts[1][strings.IndexByte(parts[1], ':')+1:]) // what precedes a colon is the epoch
		}
	case ".rpm":
		if parts := strings.Split(base, "-"); len(parts) > 2 {
			return ReleaseIn(parts[len(parts)-2])
		}
	default:
		base, _, released := strings.Cut(name, "-linux-")
		for _, pre := range []string{"-alpha.", "-beta.", "-rc."} {
			base, _, _ = strings.Cut(base, pre)
		}
		if dash := strings.LastIndexByte(base, '-'); released && dash >= 0 {
			return ReleaseIn(base[dash+1:])
		}
	}
	return ""
}
