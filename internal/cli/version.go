package cli

import (
	"runtime"
	"runtime/debug"
)

// Version is the release, set when it is built:
//
//	go build -ldflags "-X github.com/slipway-dev/slipway/internal/cli.Version=1.2.3"
var Version = "dev"

// Revision and Time are the commit and its time, set like Version when a release is built. A release has no record of version
// control (-buildvcs=false): that depends on the tags of the clone.
var Revision, Time string

// Build describes how a program was built.
type Build struct {
	Version   string `json:"version"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// Revision is the commit, Time its time. Both are empty if the build did not record them.
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	// Modified reports whether the sources differed from the commit.
	Modified bool `json:"modified,omitempty"`
}

// BuildInfo returns how this program was built.
func BuildInfo() Build {
	b := Build{Version: Version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Revision: Revision, Time: Time}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String formats the build in one line.
func (b Build) String() string {
	s := b.Version + " (" + b.GoVersion + ", " + b.Platform
	if b.Revision != "" {
		s += ", commit " + b.Revision[:min(12, len(b.Revision))]
		if b.Modified {
			s += ", modified"
		}
	}
	return s + ")"
}
