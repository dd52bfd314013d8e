package lock

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Parse reads a lock. All problems are fatal.
func Parse(data []byte) (*Lock, []nodeconfig.Problem) {
	l := new(Lock)
	return l, spec.Decode(data, l, l.Validate)
}

// MaxSize limits a component's file.
const MaxSize = 4 << 30

// Validate reports what is wrong with a lock. A lock that is read can be written by anyone.
func (l *Lock) Validate(out *problem.Collector) {
	if l.APIVersion != APIVersion {
		out.Fatal(nodeconfig.Invalid, "$.apiVersion", "want %s", APIVersion)
	}
	if l.Kind != Kind {
		out.Fatal(nodeconfig.Invalid, "$.kind", "want %s", Kind)
	}
	spec.CheckBase(out, l.Base)
	names := make(map[string]bool)
	taken := make(map[[2]string]string) // the component by architecture and path
	for i := range l.Components {
		c, at := &l.Components[i], document.IndexPath("$.components", i)
		if names[c.Name] {
			out.Fatal(nodeconfig.Invalid, at+".name", "is there twice")
		}
		names[c.Name] = true
		if c.Name == "" || c.Version == "" {
			out.Fatal(nodeconfig.Missing, at, "has no name or no version")
		}
		row := kind.Named(c.Kind)
		if row == nil {
			out.Fatal(nodeconfig.Unknown, at+".kind", "is unknown: %s", document.WantWord(c.Kind, kind.Names()))
			continue
		}
		if row.Image != (c.Image != nil) {
			out.Fatal(nodeconfig.Invalid, at+".image", "is for the kind %s alone", kind.Image)
		}
		if c.Image != nil {
			if digest, ok := strings.CutPrefix(c.Image.Digest, digestPrefix); !ok || !spec.IsSHA256(digest) {
				out.Fatal(nodeconfig.Invalid, at+".image.digest", "want sha256: and 64 hexadecimal digits")
			}
		}
		if len(c.Artifacts) == 0 {
			out.Fatal(nodeconfig.Missing, at+".artifacts", "is missing")
		}
		for j := range c.Artifacts {
			validateArtifact(out, document.IndexPath(at+".artifacts", j), row, &c.Artifacts[j])
			for n, f := range c.Artifacts[j].Files {
				key := [2]string{c.Artifacts[j].Architecture, f.Path}
				if other := taken[key]; other != "" {
					out.Fatal(nodeconfig.Conflict, document.IndexPath(document.IndexPath(at+".artifacts", j)+".files", n)+".path", "is also a file of the component %s: two components cannot have the same path", other)
				}
				taken[key] = c.Name
			}
		}
	}
}

func validateArtifact(out *problem.Collector, at string, row *kind.Kind, a *Artifact) {
	if !slices.Contains(spec.Architectures, a.Architecture) {
		out.Fatal(nodeconfig.Invalid, at+".architecture", "%s", document.WantWord(a.Architecture, spec.Architectures))
	}
	if len(a.Sources) == 0 && !row.Image {
		out.Fatal(nodeconfig.Missing, at+".sources", "is missing")
	}
	if !spec.IsSHA256(a.SHA256) {
		out.Fatal(nodeconfig.Invalid, at+".sha256", "want 64 hexadecimal digits, in small letters")
	}
	if a.Size <= 0 || a.Size > MaxSize {
		out.Fatal(nodeconfig.Invalid, at+".size", "want a number of bytes from 1 to %d", int64(MaxSize))
	}
	if len(a.Files) == 0 && !row.Image {
		out.Fatal(nodeconfig.Missing, at+".files", "is missing")
	}
	for i, f := range a.Files {
		here := document.IndexPath(at+".files", i)
		if reason := spec.CheckPath(f.Path); reason != "" || spec.IsDirectory(f.Path) {
			if reason == "" {
				reason = "is a directory"
			}
			out.Fatal(nodeconfig.Invalid, here+".path", "%s", reason)
		}
		if !spec.IsMode(f.Mode) {
			out.Fatal(nodeconfig.Invalid, here+".mode", "want permission bits in octal, in quotes")
		}
		if !spec.IsSHA256(f.SHA256) || f.Size < 0 {
			out.Fatal(nodeconfig.Invalid, here+".sha256", "want the file's digest and its size")
		}
		if path.IsAbs(f.Member) {
			out.Fatal(nodeconfig.Invalid, here+".member", "want a path in the archive")
		}
	}
}
