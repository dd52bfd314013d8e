package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// colour is the style that always colours.
var colour = Style{colour: true}

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
		want string
	}{
		{nil, 0, ""},
		{errors.New("no luck"), 1, "prog: no luck\n"},
		{Quit(7), 7, ""},
		{Usage("try again", "unknown flag %s", "--x"), 64, "prog: unknown flag --x\ntry again\n"},
		{fmt.Errorf("while doing: %w", &Error{Code: 3, Err: errors.New("no luck"), Hint: "try again"}), 3, "prog: while doing: no luck\ntry again\n"},
		{errors.New("a\x1b[31mb"), 1, "prog: a?[31mb\n"},
	} {
		var out bytes.Buffer
		if code := Report(&out, "prog", tt.err); code != tt.code || out.String() != tt.want {
			t.Errorf("%v is reported as %d, %q, want %d, %q", tt.err, code, out.String(), tt.code, tt.want)
		}
	}
}

func TestErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	if err := error(Usage("", "why: %w", cause)); !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if Quit(4).Error() == "" {
		t.Error("an error without words")
	}
}

func TestStyle(t *testing.T) {
	var plain Style
	for _, paint := range []func(Style, string) string{Style.Bold, Style.Dim, Style.Red, Style.Green, Style.Yellow, Style.Cyan} {
		if got := paint(plain, "x"); got != "x" {
			t.Errorf("plain style paints %q", got)
		}
		if got := paint(colour, "x"); !strings.HasPrefix(got, "\x1b[") || !strings.HasSuffix(got, "x\x1b[0m") {
			t.Errorf("colour style paints %q", got)
		}
		if got := paint(colour, ""); got != "" {
			t.Errorf("nothing is painted %q", got)
		}
	}
	if StyleOf(new(bytes.Buffer)) != plain {
		t.Error("a buffer is coloured")
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if StyleOf(file) != plain {
		t.Error("a file is coloured")
	}
}

func TestTable(t *testing.T) {
	table := Table{Indent: "  ", Widest: 6}
	table.Row(Cell{Text: "a"}, Cell{}, Cell{Text: "bb"}, Cell{Text: "c"})
	table.Row(Cell{Text: "aaaa"}, Cell{}, Cell{Text: "b"}, Cell{})
	table.Row(Cell{Text: "ää"}, Cell{}, Cell{Text: "far too wide", Paint: colour.Red}, Cell{Text: "c\nd"})
	want := "  a     bb  c\n  aaaa  b\n  ää    \x1b[31mfar too wide\x1b[0m  c d\n"
	if got := table.String(); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	if got := new(Table).String(); got != "" {
		t.Errorf("no rows are %q", got)
	}
}

func TestText(t *testing.T) {
	if got := Clean("a\x1b[1m\tb\r\nc\u202ed\u009b"); got != "a?[1m\tb\nc?d?" {
		t.Errorf("Clean: %q", got)
	}
	if got := Line(" a\n\tb "); got != "a b" {
		t.Errorf("Line: %q", got)
	}
	if got := Shorten("äöüäöü", 5); got != "äö..." {
		t.Errorf("Shorten: %q", got)
	}
	if got := Wrap("one two  three\nfour", 8); strings.Join(got, "|") != "one two|three|four" {
		t.Errorf("Wrap: %q", got)
	}
	if got := Wrap(" ", 8); got != nil {
		t.Errorf("Wrap of nothing: %q", got)
	}
	for _, tt := range []struct{ got, want string }{
		{Plural(1, "file"), "1 file"}, {Plural(0, "file"), "0 files"}, {Plural(2, "directory"), "2 directories"},
		{List(nil, "and"), ""}, {List([]string{"a"}, "and"), "a"}, {List([]string{"a", "b", "c"}, "or"), "a, b or c"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestProblems(t *testing.T) {
	problems := []nodeconfig.Problem{
		{Path: "$.cluster.server", Reason: "is missing", Fatal: true, Line: 3, Column: 11},
		{Path: "$.x", Reason: "unknown field, ignored"},
	}
	want := "node.yaml:3:11: error: $.cluster.server: is missing\nnode.yaml: warning: $.x: unknown field, ignored\n"
	if got := Problems("node.yaml", problems, Style{}); got != want {
		t.Errorf("problems are\n%s\nwant\n%s", got, want)
	}
	for n, want := range []string{"no problems", "1 error", "1 error, 1 warning"} {
		if got := CountProblems(problems[:n]); got != want {
			t.Errorf("%d problems are %q, want %q", n, got, want)
		}
	}
	if got := CountProblems(problems[1:]); got != "1 warning" {
		t.Errorf("a warning is %q", got)
	}
}

func TestWriteJSON(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, map[string]string{"a": "<b>"}); err != nil || out.String() != "{\n  \"a\": \"<b>\"\n}\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestBuild(t *testing.T) {
	b := Build{Version: "1.2.3", GoVersion: "go1", Platform: "p/q", Revision: "0123456789abcdef", Modified: true}
	if got, want := b.String(), "1.2.3 (go1, p/q, commit 0123456789ab, modified)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := BuildInfo(); got.Version != Version || got.GoVersion == "" {
		t.Errorf("%+v", got)
	}
}
