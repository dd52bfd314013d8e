package concern

import (
	"strings"
	"testing"
)

// Names that distributions, Microsoft, Docker and containerd give to their packages, and names without a release or with a misleading one.
func TestPackageRelease(t *testing.T) {
	for place, want := range map[string]string{
		"https://x.example/moby-containerd_2.0.4-ubuntu24.04u1_amd64.deb":          "2.0.4",
		"https://x.example/a/moby-containerd_1.4.3%2Bazure-1_amd64.deb":            "1.4.3",
		"https://x.example/moby-containerd_1.7.28~rc.1-1_arm64.deb?sv=1&x=_9_.deb": "1.7.28",
		"https://x.example/containerd.io_1.7.27-1_amd64.deb":                       "1.7.27",
		"https://x.example/containerd_1%3a1.7.24-0ubuntu1~22.04.1_amd64.deb":       "1.7.24",
		"https://x.example/moby-containerd-1.7.20-1.azl3.x86_64.rpm":               "1.7.20",
		"https://x.example/containerd2-2.0.0-14.azl3.aarch64.rpm":                  "2.0.0",
		"https://x.example/containerd.io-1.7.27-3.1.el9.x86_64.rpm":                "1.7.27",
		"https://x.example/containerd-2.0.4-linux-amd64.tar.gz":                    "2.0.4",
		"https://x.example/containerd-static-2.1.0-rc.0-linux-arm64.tar.gz":        "2.1.0",
		"https://x.example/cri-containerd-cni-1.7.20-linux-amd64.tgz":              "1.7.20",
		"/opt/containerd/downloads/containerd-v2.0.4-linux-amd64.tar.xz":           "2.0.4",
		"registry.example/containerd:v2.0.4":                                       "2.0.4",
		"registry.example:5000/a/containerd:2.0.4-linux-amd64@sha256:0123":         "2.0.4",

		"": "", "/": "", "https://x.example": "", "registry.example:5000/containerd": "",
		"registry.example/containerd@sha256:0123":                                           "",
		"registry.example/containerd:latest":                                                "",
		"https://x.example/v2.0.4/containerd.deb":                                           "",
		"https://x.example/containerd_amd64.deb":                                            "",
		"https://x.example/containerd_1.7_to_2.0_amd64.deb":                                 "",
		"https://x.example/containerd_2.0.4amd64_amd64.deb":                                 "",
		"https://x.example/containerd_2..4_amd64.deb":                                       "",
		"https://x.example/containerd_.2.0_amd64.deb":                                       "",
		"https://x.example/containerd_2.0._amd64.deb":                                       "",
		"https://x.example/containerd_" + strings.Repeat("9", 33) + "_amd64.deb":            "",
		"https://x.example/containerd-x86_64.rpm":                                           "",
		"https://x.example/containerd-1.7-to-2.0-bridge-linux-amd64.tar.gz":                 "",
		"https://x.example/containerd-2.0.4.tar.gz":                                         "",
		"https://x.example/latest?name=containerd-2.0.4-linux-amd64.tar.gz":                 "",
		"https://x.example/containerd-2.0.4-linux-amd64.tar.gz/..%2fcontainerd_1_amd64.deb": "1",
		"https://x.example/%zz/containerd-2.0.4-linux-amd64.tar.gz":                         "2.0.4",
	} {
		if got := packageRelease(place); got != want {
			t.Errorf("%s: got %q, want %q", place, got, want)
		}
	}
}

// The release of a name consists of numbers and dots, and is a part of the name.
func FuzzPackageRelease(f *testing.F) {
	f.Add("https://x.example/moby-containerd_2.0.4-ubuntu24.04u1_amd64.deb")
	f.Add("https://x.example/moby-containerd-1.7.20-1.azl3.x86_64.rpm")
	f.Add("containerd-2.0.4-rc.1-linux-amd64.tar.gz")
	f.Add("registry.example/containerd:v2.0.4@sha256:00")
	f.Fuzz(func(t *testing.T, place string) {
		got := packageRelease(place)
		if got == "" {
			return
		}
		if len(got) > maxRelease || strings.Trim(got, "0123456789.") != "" || ReleaseIn(got) != got || MajorOf(got) == "" {
			t.Errorf("%q: %q is no version", place, got)
		}
		if !strings.Contains(place, got) && !strings.Contains(place, "%") {
			t.Errorf("%q: %q is not in it", place, got)
		}
	})
}
