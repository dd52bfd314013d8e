package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var (
	namePattern  = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$`)
	suitePattern = regexp.MustCompile(`^[a-z][a-z0-9.-]{0,62}$`)
	// packagePattern is Debian's, by Debian Policy 5.6.1.
	packagePattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]{1,127}$`)
	snapshotPattern = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z$`)
)

// maxComponents limits the components of an image.
const maxComponents = 200

func (d *Document) validate(out *problem.Collector) {
	if d.APIVersion != APIVersion {
		out.Fatal(nodeconfig.Invalid, "$.apiVersion", "want %s", APIVersion)
	}
	if d.Kind != Kind {
		out.Fatal(nodeconfig.Invalid, "$.kind", "want %s", Kind)
	}
	checkArchitectures(out, "$.architectures", d.Architectures, Architectures)
	CheckBase(out, d.Base)
	switch n := len(d.Components); {
	case n == 0:
		out.Fatal(nodeconfig.Missing, "$.components", "is missing: name at least one component")
	case n > maxComponents:
		out.Fatal(nodeconfig.Invalid, "$.components", "has %d components; the limit is %d", n, maxComponents)
		return
	}
	names := make(map[string]int)
	for i, c := range d.Components {
		at := document.IndexPath("$.components", i)
		if first, twice := names[c.Name]; twice {
			out.Fatal(nodeconfig.Invalid, at+".name", "is also the name of $.components[%d]: a name is of one component", first)
		} else if c.Name != "" {
			names[c.Name] = i
		}
		d.validateComponent(out, at, c)
	}
	d.validatePaths(out)
}

// CheckBase checks the base of a document or a lock. It may be nil.
func CheckBase(out *problem.Collector, b *Base) {
	if b == nil {
		return
	}
	if !suitePattern.MatchString(b.Suite) {
		out.Fatal(nodeconfig.Invalid, "$.base.suite", "want the name of a release, such as trixie")
	}
	if !snapshotPattern.MatchString(b.Snapshot) {
		out.Fatal(nodeconfig.Invalid, "$.base.snapshot", "want the time of a package archive, such as 20261101T000000Z")
	}
	for i, name := range b.Packages {
		if !packagePattern.MatchString(name) {
			out.Fatal(nodeconfig.Invalid, document.IndexPath("$.base.packages", i), "want the name of a package, such as nfs-common")
		}
	}
}

// checkArchitectures checks a list of architectures against the possible ones.
func checkArchitectures(out *problem.Collector, at string, list, possible []string) {
	for i, a := range list {
		switch here := document.IndexPath(at, i); {
		case !slices.Contains(possible, a):
			out.Fatal(nodeconfig.Invalid, here, "%s", document.WantWord(a, possible))
		case slices.Contains(list[:i], a):
			out.Fatal(nodeconfig.Invalid, here, "is there twice")
		}
	}
}

func (d *Document) validateComponent(out *problem.Collector, at string, c Component) {
	w := d.whole(c)
	switch {
	case c.Name == "":
		out.Fatal(nodeconfig.Missing, at+".name", "is missing")
	case !namePattern.MatchString(c.Name):
		out.Fatal(nodeconfig.Invalid, at+".name", "want small letters, digits, dots and hyphens")
	}
	switch {
	case w.Row != nil:
	case c.Kind == "":
		out.Fatal(nodeconfig.Missing, at+".kind", "is missing, because the name is not a kind: %s", document.WantWord(c.Name, kind.Names()))
		return
	default:
		out.Fatal(nodeconfig.Unknown, at+".kind", "is unknown: %s", document.WantWord(c.Kind, kind.Names()))
		return
	}
	if _, ok := ParseRange(c.Version); !ok {
		out.Fatal(nodeconfig.Invalid, at+".version", `want a version such as "1.36.4", or a range such as "~1.36", in quotes`)
	}
	if w.License == "" {
		out.Fatal(nodeconfig.Missing, at+".license", "is missing: name the licence by its SPDX expression, NOASSERTION if it is unknown")
	}
	for i, k := range c.Kubernetes {
		if _, ok := versions.Minor(k); !ok || strings.Count(k, ".") != 1 {
			out.Fatal(nodeconfig.Invalid, document.IndexPath(at+".kubernetes", i), `want a minor version, such as "1.36", in quotes`)
		}
	}
	checkArchitectures(out, at+".architectures", c.Architectures, d.Machines())
	w.validateSources(out, at)
	w.validateDigests(out, at)
	w.validateFiles(out, at)
}

// validateSources checks where a component comes from.
func (w *Whole) validateSources(out *problem.Collector, at string) {
	if len(w.Sources) == 0 {
		out.Fatal(nodeconfig.Missing, at+".sources", "is missing: name where the component is")
	}
	listed := w.Versions != ""
	for i, source := range w.Sources {
		here := document.IndexPath(at+".sources", i)
		if reason := w.sourceProblem(source); reason != "" {
			out.Fatal(nodeconfig.Invalid, here, "%s", reason)
			continue
		}
		listed = listed || PlaceOf(source) != Web
		if !w.Range.One() && !strings.Contains(source, "{version}") {
			out.Fatal(nodeconfig.Invalid, here, "has no {version}, so it is one version: name that version, and no range")
		}
		if len(w.Architectures) > 1 && w.Row.Program && PlaceOf(source) != Registry && !strings.Contains(source, "{arch}") {
			out.Fatal(nodeconfig.Invalid, here, "has no {arch}, so it is the same program for %s", strings.Join(w.Architectures, " and "))
		}
	}
	if !w.Range.One() && len(w.Sources) > 0 && !listed {
		out.Fatal(nodeconfig.Missing, at+".versions", "is missing: a range needs a list of versions, because a URL cannot be listed")
	}
	for _, f := range []struct{ name, value string }{{"versions", w.Versions}, {"checksums", w.Checksums}} {
		if f.value == "" {
			continue
		}
		reason := w.sourceProblem(f.value)
		if reason == "" && (PlaceOf(f.value) == Registry || strings.HasPrefix(f.value, "http:")) {
			reason = "want an https URL, or a path that begins with / or ./"
		}
		if reason == "" && f.name == "checksums" && w.Row.Image {
			reason = "an image has its digest in the registry: remove the field"
		}
		if reason != "" {
			out.Fatal(nodeconfig.Invalid, at+"."+f.name, "%s", reason)
		}
	}
}

// sourceProblem returns what is wrong with a source, or "". It repeats nothing of a URL, which may have a password.
func (w *Whole) sourceProblem(source string) string {
	if reason := checkTemplate(source); reason != "" {
		return reason
	}
	sample := Values{Name: "x", Version: "1.0.0", Arch: Architectures[0]}.Expand(source)
	switch PlaceOf(source) {
	case Web:
		u, err := url.Parse(sample)
		switch {
		case strings.HasPrefix(source, "oci://"):
			return "want a reference without oci://, such as registry.example/kubelet:v{version}"
		case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Host == "":
			return "want an https URL"
		case u.User != nil:
			return "has a login, which would be in the lock: remove it"
		case u.RawQuery != "" && source != w.Versions:
			return "has a query, which can be a signature and would be in the lock: use a URL without one"
		case w.Row.Image:
			return "a container image comes from a registry: want HOST/PATH:TAG"
		case u.Scheme == "http" && len(w.SHA256) == 0 && source != w.Versions && source != w.Checksums:
			return "comes by http, so sha256 must have the file's digest; or use https"
		}
	case Local:
		if w.Row.Image {
			return "a container image comes from a registry: want HOST/PATH:TAG"
		}
		if strings.ContainsAny(source, `*?[]\`) {
			return `has one of the characters *?[]\, which a path here must not have`
		}
	case Registry:
		repository, tag := TagOf(sample)
		if tag == "" || !strings.Contains(repository, "/") {
			return "want an https URL, a reference HOST/PATH:TAG, or a path that begins with / or ./"
		}
	}
	return ""
}

// IsSHA256 reports whether a text is a digest in hexadecimal, in small letters.
func IsSHA256(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == sha256.Size && strings.ToLower(text) == text
}

// validateDigests checks the digests that the author names.
func (w *Whole) validateDigests(out *problem.Collector, at string) {
	for _, arch := range slices.Sorted(maps.Keys(w.SHA256)) {
		here := document.FieldPath(at+".sha256", arch)
		switch {
		case !slices.Contains(w.Architectures, arch):
			out.Fatal(nodeconfig.Invalid, here, "%s", document.WantWord(arch, w.Architectures))
		case !IsSHA256(w.SHA256[arch]):
			out.Fatal(nodeconfig.Invalid, here, "want 64 hexadecimal digits, in small letters")
		case w.Row.Image:
			out.Fatal(nodeconfig.Invalid, here, "an image has its digest in the registry: name HOST/PATH:TAG@sha256:DIGEST as the source")
		case !w.Range.One():
			out.Fatal(nodeconfig.Invalid, here, "is of one file, and version is a range: name the version")
		}
	}
}

// validateFiles checks what is taken out, and where it goes.
func (w *Whole) validateFiles(out *problem.Collector, at string) {
	if w.Row.Image && len(w.Files) > 0 {
		out.Fatal(nodeconfig.Invalid, at+".files", "an image has no files to take out: remove the field")
		return
	}
	if !w.Row.Image && len(w.Take) == 0 {
		out.Fatal(nodeconfig.Missing, at+".files", "is missing: name the path in the image")
	}
	for i, f := range w.Files {
		here := document.IndexPath(at+".files", i)
		w.validateFile(out, here, f)
	}
}

func (w *Whole) validateFile(out *problem.Collector, at string, f File) {
	if _, err := path.Match(f.Member, ""); err != nil {
		out.Fatal(nodeconfig.Invalid, at+".member", "is not a pattern of a path")
	} else if reason := checkTemplate(f.Member); reason != "" {
		out.Fatal(nodeconfig.Invalid, at+".member", "%s", reason)
	}
	reason := checkTemplate(f.Path)
	if reason == "" {
		reason = CheckPath(f.Path)
	}
	if reason == "" && IsDirectory(f.Path) && f.Member == "" {
		reason = "is a directory, so member must say which files it gets"
	}
	if reason != "" {
		out.Fatal(nodeconfig.Invalid, at+".path", "%s", reason)
	}
	if f.Mode != "" && !IsMode(f.Mode) {
		out.Fatal(nodeconfig.Invalid, at+".mode", `want permission bits in octal, such as "0755", in quotes`)
	}
}

// IsMode reports whether a text is permission bits in octal.
func IsMode(text string) bool {
	mode, err := strconv.ParseUint(text, 8, 32)
	return err == nil && len(text) == 4 && mode <= 0o7777
}

// agent is the directory of Slipway's agent, which only an image brings.
const agent = "/opt/slipway/bin/"

// CheckPath returns why an image must not have a component's file at a path, or "".
func CheckPath(name string) string {
	if reason := pathProblem(name); reason != "" {
		return reason
	}
	switch {
	case strings.HasPrefix(name, agent):
		return ""
	case strings.HasPrefix(name, "/run/"):
		return "is in a file system that is empty at each boot"
	}
	// The mark of a finished image, and a cloud's own path of the agent, are reserved for those who make images.
	if slices.ContainsFunc(profile.All(), func(p *profile.Profile) bool {
		return p.Paths.Installed == name || p.Agent.Program == name
	}) {
		return ""
	}
	return place.Check(strings.TrimSuffix(placeholder.ReplaceAllString(name, "x"), "/"))
}

// validatePaths refuses two components with a file at the same path. The lock is checked again with the real versions.
func (d *Document) validatePaths(out *problem.Collector) {
	type owner struct {
		index         int
		architectures []string
	}
	owners := make(map[string][]owner)
	for i, c := range d.Components {
		w := d.whole(c)
		if w.Row == nil {
			continue
		}
		for _, f := range w.Take {
			if IsDirectory(f.Path) || strings.Contains(f.Path, "{version}") {
				continue
			}
			name := Values{Name: c.Name}.Expand(f.Path)
			for _, other := range owners[name] {
				if other.index != i && slices.ContainsFunc(w.Architectures, func(a string) bool { return slices.Contains(other.architectures, a) }) {
					out.Fatal(nodeconfig.Conflict, document.IndexPath("$.components", i), "would be at %s, as $.components[%d] is: name another path in files, such as one with {version}", name, other.index)
				}
			}
			owners[name] = append(owners[name], owner{i, w.Architectures})
		}
	}
}
