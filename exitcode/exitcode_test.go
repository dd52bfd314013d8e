package exitcode

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTableIsSortedAndComplete(t *testing.T) {
	codes := All()
	if len(codes) < 142 {
		t.Errorf("the table has lost codes: it has %d", len(codes))
	}
	names := map[string]int{}
	for i, c := range codes {
		if i > 0 && codes[i-1].Number >= c.Number {
			t.Errorf("%d follows %d", c.Number, codes[i-1].Number)
		}
		if c.Number < 0 || c.Number > 255 {
			t.Errorf("%d is no exit code", c.Number)
		}
		if other, taken := names[c.Name]; taken {
			t.Errorf("%d and %d are both %s", other, c.Number, c.Name)
		}
		names[c.Name] = c.Number
		if c.Source != Slipway && c.Source != AKS {
			t.Errorf("%d has the source %q", c.Number, c.Source)
		}
	}
}

var name = regexp.MustCompile(`^(SUCCESS|ERR(_[A-Z0-9]+)+)$`)

func TestTextsKeepOneStyle(t *testing.T) {
	for _, c := range All() {
		if !name.MatchString(c.Name) {
			t.Errorf("%d: name %q", c.Number, c.Name)
		}
		for field, text := range map[string]string{"meaning": c.Meaning, "action": c.Action} {
			if first, _ := utf8.DecodeRuneInString(text); !unicode.IsLower(first) {
				t.Errorf("%d: %s does not start in lower case: %q", c.Number, field, text)
			}
			last, _ := utf8.DecodeLastRuneInString(text)
			if unicode.IsSpace(last) || (unicode.IsPunct(last) && last != ')') {
				t.Errorf("%d: %s ends with %q", c.Number, field, last)
			}
			if strings.ContainsAny(text, "\n\t") || strings.Contains(text, ". ") || strings.Contains(text, "  ") {
				t.Errorf("%d: %s is not one plain line: %q", c.Number, field, text)
			}
			if n := utf8.RuneCountInString(text); n < 8 || n > 140 {
				t.Errorf("%d: %s has %d characters", c.Number, field, n)
			}
		}
		if c.Meaning == c.Action {
			t.Errorf("%d: meaning and action are the same", c.Number)
		}
	}
}

// constants are the package's constants for codes, by name.
func constants(t *testing.T) map[string]int {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "exitcode.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	codes := make(map[string]int)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.INT {
				number, err := strconv.Atoi(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				codes[spec.Names[0].Name] = number
			}
		}
		return true
	})
	if codes["KubeletStartFailed"] != 34 || codes["ContractNotFound"] != 236 {
		t.Fatalf("the constants are not found: %v", codes)
	}
	return codes
}

// Slipway returns the codes that have a constant, and no others.
func TestConstantsAreWhatSlipwayReturns(t *testing.T) {
	var ours []int
	for name, number := range constants(t) {
		ours = append(ours, number)
		if code, ok := Lookup(number); !ok || code.Source != Slipway {
			t.Errorf("%s: Lookup(%d) = %+v, %t", name, number, code, ok)
		}
	}
	for _, c := range All() {
		if c.Source == Slipway && !slices.Contains(ours, c.Number) {
			t.Errorf("%d has the source Slipway but no constant", c.Number)
		}
	}
}

// AKS's consumers see its number instead of codes that AKS does not have, and every other code unchanged.
func TestForAKS(t *testing.T) {
	for _, c := range All() {
		want := c.Number
		if c.Number >= 236 && c.Number <= 239 {
			want = 240
		}
		if got := ForAKS(c.Number); got != want {
			t.Errorf("%d is %d to AKS, want %d", c.Number, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range All() {
		if got, ok := Lookup(c.Number); !ok || !reflect.DeepEqual(got, c) {
			t.Errorf("Lookup(%d) = %+v, %t", c.Number, got, ok)
		}
	}
	for _, n := range []int{-1, 11, 40, 126, 209, 256, 1 << 40} {
		if got, ok := Lookup(n); ok || !reflect.DeepEqual(got, Code{}) {
			t.Errorf("Lookup(%d) = %+v, %t", n, got, ok)
		}
	}
}

func TestAllIsACopy(t *testing.T) {
	All()[0].Name = "changed"
	if c, _ := Lookup(0); c.Name != "SUCCESS" {
		t.Error("a caller could change the table")
	}
}
