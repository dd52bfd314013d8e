package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// readable refuses a plan with a file that systemd would not read: one character makes it refuse the whole unit,
// or the whole environment file. Validation has refused such characters in a contract; what comes from a machine's
// facts, or from a caller that has not validated, ends here.
func (p *planner) readable() {
	for _, r := range p.plan.Resources {
		f, ok := r.Spec.(*resource.File)
		if !ok || f.Path != p.layout.kubeletEnv && !strings.HasPrefix(f.Path, resource.UnitDir+"/") {
			continue
		}
		if !utf8.Valid(f.Content) {
			p.fatal(nodeconfig.Invalid, "$", "%s would hold bytes that are no text, and systemd would not read it", f.Path)
		} else if i := strings.IndexFunc(string(f.Content), unreadable); i >= 0 {
			c, _ := utf8.DecodeRune(f.Content[i:])
			p.fatal(nodeconfig.Invalid, "$", "%s would hold the character %U, and systemd would not read it", f.Path, c)
		}
	}
}

// unreadable are the characters that systemd takes in no file (systemd: src/basic/utf8.c, unichar_is_valid).
func unreadable(r rune) bool { return r == 0 || unicode.Is(unicode.Noncharacter_Code_Point, r) }
