package spec

import (
	"cmp"
	"strings"

	"github.com/slipway-dev/slipway/internal/versions"
)

// Range is a version, or several of which the newest is wanted.
type Range struct {
	text string
	kind byte // '~', '^', or 0 for one version
	from versions.Version
	// numbers is how many numbers the text has.
	numbers int
}

// ParseRange parses a version or a range.
func ParseRange(text string) (r Range, ok bool) {
	r.text = text
	bare := text
	if text != "" && (text[0] == '~' || text[0] == '^') {
		r.kind, bare = text[0], text[1:]
	}
	if !IsVersion(bare) {
		return Range{}, false
	}
	if r.from, ok = versions.Parse(bare); !ok {
		return Range{text: text}, r.kind == 0 // a version without an order is one version
	}
	digits, _, _ := strings.Cut(bare, "-")
	r.numbers = strings.Count(digits, ".") + 1
	return r, true
}

// String is the range as it was written.
func (r Range) String() string { return r.text }

// One reports whether it is one version.
func (r Range) One() bool { return r.kind == 0 }

// Has reports whether a version is in the range.
func (r Range) Has(text string) bool {
	if r.One() {
		return text == r.text
	}
	v, ok := versions.Parse(text)
	if !ok || v.Minor < 0 || v.Compare(r.from) < 0 || strings.Contains(v.String(), "-") {
		return false
	}
	if r.kind == '~' && r.numbers > 1 && v.Minor != r.from.Minor {
		return false
	}
	return v.Major == r.from.Major
}

// Compare orders two versions of a range. If they differ in a vendor's suffix only, the numbers in it decide.
func Compare(a, b string) int {
	v, _ := versions.Parse(a)
	w, _ := versions.Parse(b)
	return cmp.Or(v.Compare(w), versions.CompareNumbers(a, b), strings.Compare(a, b))
}
