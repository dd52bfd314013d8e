package spec

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// placeholders are the names that a source, a member and a path can have in braces.
var placeholders = []string{"version", "arch", "name"}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// checkTemplate returns what is wrong with a text that has placeholders, or "".
func checkTemplate(text string) string {
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(placeholders, found[1]) {
			return "has a placeholder that is unknown; " + document.WantWord(found[1], placeholders) + ", in braces"
		}
	}
	if strings.ContainsAny(placeholder.ReplaceAllString(text, ""), "{}") {
		return "has a brace without the other one; placeholders are {version}, {arch} and {name}"
	}
	return ""
}

// Values are what placeholders stand for.
type Values struct{ Name, Version, Arch string }

// Expand replaces the placeholders in a text.
func (v Values) Expand(text string) string {
	return strings.NewReplacer("{version}", v.Version, "{arch}", v.Arch, "{name}", v.Name).Replace(text)
}

// versionText matches a version. It can be a part of a path and of a URL: a list of versions is not trusted.
const versionText = `[0-9][0-9A-Za-z.+~_-]*`

var wholeVersion = regexp.MustCompile(`^` + versionText + `$`)

// IsVersion reports whether a text has the form of a version.
func IsVersion(text string) bool {
	return wholeVersion.MatchString(text) && !strings.Contains(text, "..")
}

// Matcher returns a function that finds the version in a text that was made from a template, for an architecture.
func (v Values) Matcher(template string) func(text string) (version string, ok bool) {
	v.Version = "{version}"
	parts := strings.Split(v.Expand(template), "{version}")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	pattern, err := regexp.Compile(`^` + strings.Join(parts, `(`+versionText+`)`) + `$`)
	return func(text string) (string, bool) {
		if err != nil { // the template is not UTF-8
			return "", false
		}
		found := pattern.FindStringSubmatch(text)
		if len(found) < 2 || slices.ContainsFunc(found[2:], func(other string) bool { return other != found[1] }) {
			return "", false
		}
		return found[1], IsVersion(found[1])
	}
}

// Place is the kind of a source.
type Place int

// The kinds of sources.
const (
	// Registry is an OCI registry.
	Registry Place = iota
	// Web is a URL.
	Web
	// Local is a path.
	Local
)

// PlaceOf returns the kind of a source.
func PlaceOf(source string) Place {
	switch {
	case strings.Contains(source, "://"):
		return Web
	case strings.HasPrefix(source, "/"), strings.HasPrefix(source, "./"), strings.HasPrefix(source, "../"):
		return Local
	}
	return Registry
}

// TagOf splits an OCI reference before its tag. The tag of a reference without one is empty.
func TagOf(reference string) (repository, tag string) {
	reference, _, _ = strings.Cut(reference, "@")
	at := strings.LastIndexByte(reference, ':')
	if at < 0 || strings.Contains(reference[at:], "/") {
		return reference, ""
	}
	return reference[:at], reference[at+1:]
}

// IsDirectory reports whether a path in the image is one of a directory.
func IsDirectory(name string) bool { return strings.HasSuffix(name, "/") }

// pathProblem returns what is wrong with a path in the image, or "".
func pathProblem(name string) string {
	bare := strings.TrimSuffix(placeholder.ReplaceAllString(name, "x"), "/")
	if !path.IsAbs(bare) || path.Clean(bare) != bare || strings.ContainsRune(bare, 0) {
		return "want an absolute path without . and .."
	}
	return ""
}
