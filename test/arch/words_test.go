package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// idiom are words by which a sentence avoids naming its actor, or says something usual in an unusual way. A reader whose English is a second
// language stops at them. CONTRIBUTING.md says how this project writes.
var idiom = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`nobody`, `somebody`, `whoever`, `anew`, `knocks?`, `insists?`, `(is|are|was|were|be|been) told`, `(is|are) none`, `of (its|his|their) own([.,;:)]|$)`,
	`what (is|was) (said|told)`, `(is|are) said`, `in another way`,
}, "|") + `)`)

// mostIdiom is in how many of 1,000 comment lines the idiom may be.
const mostIdiom = 3

var comment = regexp.MustCompile(`(^\s*|\s)//( .*)`)

// Comments name the actor, and use the usual word.
func TestCommentsArePlain(t *testing.T) {
	lines, hits := 0, []string{}
	for _, path := range sources(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			text := comment.FindStringSubmatch(line)
			if text == nil {
				continue
			}
			if lines++; idiom.MatchString(text[2]) {
				hits = append(hits, path+": "+strings.TrimSpace(text[2]))
			}
		}
	}
	if len(hits)*1000 > mostIdiom*lines {
		t.Errorf("%d of %d comment lines do not name the actor, or not in usual words; at most %d in 1,000 may:\n%s", len(hits), lines, mostIdiom, strings.Join(hits, "\n"))
	}
}

// What a user reads has none of it.
func TestDocumentsArePlain(t *testing.T) {
	whole := func(line string) string { return line }
	wantPlain(t, whole, "../../docs/*.md", "../../README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md", "../../SECURITY.md", "../../CODE_OF_CONDUCT.md")
}

// title is the line of a case that says what it shows, or a comment in it.
var title = regexp.MustCompile(`^\s*(?:"description":|about:|- fault:)(.*)|(?:^|\s)# (.*)`)

// So has what a case of the tests says of itself.
func TestCasesArePlain(t *testing.T) {
	said := func(line string) string {
		if text := title.FindStringSubmatch(strings.TrimRight(line, "\n")); text != nil {
			return text[1] + text[2]
		}
		return ""
	}
	wantPlain(t, said, "../cases/*/case.json", "../e2e/cases/*/*.yaml", "../e2e/boot/variants/*/case.yaml", "../../examples/*/*.yaml")
}

// wantPlain demands that no line of the files has idiom in what read takes of it. Each pattern must match a file.
func wantPlain(t *testing.T, read func(line string) string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal("no file ", pattern, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for line := range strings.Lines(string(content)) {
				if n++; idiom.MatchString(read(line)) {
					t.Errorf("%s:%d: %s", path, n, strings.TrimSpace(line))
				}
			}
		}
	}
}
