package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wallClock are the names of package time that make a test depend on the machine's speed: sleeping, measuring, and durations below
// a second.
var wallClock = []string{"Sleep", "Since", "Millisecond", "Microsecond", "Nanosecond"}

// timed are the files and directories that may have them, with the reason. In a file that imports testing/synctest, time is
// simulated.
var timed = map[string]string{
	"internal/watch/":               "the fixture runs each test in a bubble of testing/synctest",
	"status/golden_test.go":         "a time in a document",
	"status/event_test.go":          "a time in a document",
	"test/crash/kill_test.go":       "some signals come a while after the last byte; whenever that is, all must end alike",
	"test/crash/scenario_test.go":   "the step of its own clock",
	"test/crash/rivals_test.go":     "processes are killed at moments left to chance; whatever those are, all must end alike",
	"test/crash/table_test.go":      "prints how long it took",
	"test/crosscheck/study_test.go": "prints how long it took",
	"test/bench/bench_test.go":      "measures",
	"test/bench/costs/":             "measures whole processes",
	"userdata/boothook_test.go":     "shells are killed at moments left to chance; a file is polled for, for minutes",
}

// A test does not assert wall-clock times, and has no limit below seconds: on a busy machine it would fail, and on an idle one it
// would wait.
func TestTestsHaveTheirOwnTime(t *testing.T) {
	used := make(map[string]bool)
	for _, source := range sources(t) {
		if !strings.HasSuffix(source, "_test.go") {
			continue
		}
		name := filepath.ToSlash(strings.TrimPrefix(source, "../../"))
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` }) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); !ok || of.Name != "time" || !slices.Contains(wallClock, selector.Sel.Name) {
				return true
			}
			excepted := name
			if dir := path.Dir(name) + "/"; timed[dir] != "" {
				excepted = dir
			}
			if used[excepted] = true; timed[excepted] == "" {
				t.Errorf("%s: time.%s: let the test have its own time, by testing/synctest, a context that it ends, or a channel",
					set.Position(n.Pos()), selector.Sel.Name)
			}
			return true
		})
	}
	for name := range timed {
		if !used[name] {
			t.Errorf("%s needs no exception", name)
		}
	}
}
