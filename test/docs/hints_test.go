package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// othersFlags are flags of other programs in the texts of the command lines, each with its program.
var othersFlags = map[string]string{"--flatten": "kubectl config view"}

var (
	// ofProgram matches a command of one of the programs in a text, up to the end of the command.
	ofProgram = regexp.MustCompile(`(?:^|[^a-z/.-])(slipway|slipway-node) ([a-z][a-z-]+)((?: [^\s;,:()"]+)*)`)
	aFlag     = regexp.MustCompile(`(?:^|[\s"'(])(--[a-z][a-z0-9-]+[a-z0-9])`)
)

// TestHintsNameExistingCommandsAndFlags reads the texts in the source: a message, hint or action that names a command or a flag of the
// programs names an existing one.
func TestHintsNameExistingCommandsAndFlags(t *testing.T) {
	seen, used := 0, make(map[string]bool)
	for _, dir := range []string{"cmd", "internal", "exitcode", "launch", "node", "nodeconfig", "status", "userdata"} {
		err := filepath.WalkDir(filepath.Join(repo, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			where, _ := filepath.Rel(repo, path)
			r := &reader{t: t, where: where}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Errorf("%s: %v", where, err)
				}
				seen += r.hint(text, used)
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("%d commands and flags were found in texts", seen)
	}
	for flag := range othersFlags {
		if !used[flag] {
			t.Errorf("no text names %s of %s", flag, othersFlags[flag])
		}
	}
}

// hint checks the commands and the flags that a text names, and returns their number.
func (r *reader) hint(text string, used map[string]bool) (seen int) {
	r.t.Helper()
	for _, m := range ofProgram.FindAllStringSubmatch(text, -1) {
		program, name, rest := m[1], m[2], strings.Fields(m[3])
		if !slices.Contains(r.commands(program), name) {
			if strings.Contains(m[3], " -") {
				r.t.Errorf("%s: %s has no command %q: %q", r.where, program, name, text)
			}
			continue // prose
		}
		seen++
		r.flags(program, append([]string{name}, rest...))
	}
	programs := map[string][]string{"cmd/slipway": {"slipway"}, "cmd/slipway-node": {"slipway-node"}, "internal/command": {"slipway", "slipway-node"}}[filepath.ToSlash(filepath.Dir(r.where))]
	if programs == nil {
		return seen
	}
	for _, flag := range found(aFlag, text) {
		if program := othersFlags[flag]; program != "" && strings.Contains(text, program) {
			used[flag] = true
			continue
		}
		seen++
		if !slices.ContainsFunc(programs, func(program string) bool { return r.hasFlag(program, flag) }) {
			r.t.Errorf("%s: %s has no flag %s: %q", r.where, strings.Join(programs, " and "), flag, text)
		}
	}
	return seen
}

// hasFlag reports whether a command of a program has a flag.
func (r *reader) hasFlag(program, flag string) bool {
	has := regexp.MustCompile(`(?m)^ .*` + regexp.QuoteMeta(flag) + `\b`)
	for _, command := range append([]string{""}, r.commands(program)...) {
		if has.MatchString(r.help(program, command)) {
			return true
		}
		if command == "" {
			continue
		}
		for _, below := range r.commandsOf(program, command) {
			if has.MatchString(r.help(program, command+" "+below)) {
				return true
			}
		}
	}
	return false
}
