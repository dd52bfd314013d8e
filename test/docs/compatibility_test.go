package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// evidence matches the last cell of a difference's row: links, and texts with or without "no".
var evidence = regexp.MustCompile("\\[([^\\]]+)\\]\\(([^)]+)\\)|(no )?`([^`]+)`")

// TestDifferences checks that each difference from AKS has its reason, and a case or a test that shows it.
func TestDifferences(t *testing.T) {
	wantShown(t, "docs/compatibility.md", "| what | AKS | Slipway | why | shown by |")
}

// TestDifferencesFromEksctl checks the same for eksctl's design.
func TestDifferencesFromEksctl(t *testing.T) {
	wantShown(t, "docs/compatibility.md", "| what | eksctl | Slipway | why | shown by |")
}

// TestDifferencesFromNodeadm checks the same for the program of EKS's images.
func TestDifferencesFromNodeadm(t *testing.T) {
	wantShown(t, "docs/compatibility.md", "| what | nodeadm | Slipway | why | shown by |")
}

// TestImages checks that a case or a test shows what happens on each kind of AKS's images.
func TestImages(t *testing.T) {
	wantShown(t, "docs/aks.md", "| image | what to send | what happens | shown by |")
}

// TestThreats checks that a case or a test shows each line of the threat model that Slipway claims.
func TestThreats(t *testing.T) {
	const document, least = "docs/threat-model.md", 9
	data, err := os.ReadFile(filepath.Join(repo, document))
	if err != nil {
		t.Fatal(err)
	}
	titles := regexp.MustCompile(`(?m)^\| .* \| shown by \|$`).FindAllString(string(data), -1)
	if len(titles) < least {
		t.Errorf("%s has %d tables with what shows their lines, want at least %d: one for each actor", document, len(titles), least)
	}
	for _, title := range titles {
		wantShown(t, document, title)
	}
}

// wantShown checks the table with a title row: it has no empty cell and no duplicate row, and the last cell of each row names what
// shows it.
func wantShown(t *testing.T, document, title string) {
	t.Helper()
	rows, columns := tableRows(t, document, title), strings.Count(title, "|")-1
	if len(rows) == 0 {
		t.Fatalf("%s: the table %q has no rows", document, title)
	}
	seen := make(map[string]bool)
	for _, cells := range rows {
		what := cells[0]
		if len(cells) != columns {
			t.Errorf("%s: %d cells, want %d: a | in a cell is written as &#124;", what, len(cells), columns)
			continue
		}
		for i, cell := range cells {
			if cell == "" {
				t.Errorf("%s: cell %d is empty", what, i+1)
			}
		}
		if seen[what] {
			t.Errorf("%s: there are two rows", what)
		}
		seen[what] = true
		shown(t, what, cells[columns-1])
	}
}

// shown checks everything that should show a difference.
func shown(t *testing.T, what, cell string) {
	t.Helper()
	tree, named := "", 0
	for _, m := range evidence.FindAllStringSubmatch(cell, -1) {
		name, target, absent, text := m[1], m[2], m[3] != "", m[4]
		if target == "" {
			if tree == "" {
				t.Errorf("%s: %q stands behind no case of test/cases", what, text)
			} else if strings.Contains(tree, text) == absent {
				t.Errorf("%s: the case has %q: %t", what, text, !absent)
			}
			continue
		}
		named++
		path := filepath.Join(repo, "docs", target)
		tree = ""
		switch dir, base := filepath.Split(target); {
		case dir == "../test/cases/" && base == name:
			tree = outputOf(t, path)
		case dir == "../test/e2e/cases/" && base == name:
			if _, err := os.Stat(filepath.Join(path, "case.yaml")); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case strings.HasSuffix(base, ".txtar") && base == name:
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case strings.HasSuffix(base, "_test.go"):
			if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s: %s has no test %s (%v)", what, target, name, err)
			}
		default:
			t.Errorf("%s: %s is no case and no test", what, target)
		}
	}
	if named == 0 {
		t.Errorf("%s: nothing shows it", what)
	}
}

// contractOnNode matches the section of a tree with the contract, which is the input and proves nothing.
var contractOnNode = regexp.MustCompile(`(?m)^== \d+ /opt/azure/containers/aks-node-controller-config\.json\n(?:[^=].*\n)*`)

// outputOf is the whole expected output of a case, with blanks and line ends as one blank.
func outputOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	found, err := filepath.Glob(filepath.Join(dir, "want.*"))
	if err != nil || len(found) == 0 {
		t.Errorf("%s expects nothing: %v", dir, err)
	}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		all.WriteString(contractOnNode.ReplaceAllString(string(data), ""))
	}
	return strings.Join(strings.Fields(all.String()), " ")
}

// tableRows are the rows of a document's table with the title row.
func tableRows(t *testing.T, document, title string) [][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repo, document))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), "\n"+title+"\n"+strings.Repeat("|---", strings.Count(title, "|")-1)+"|\n")
	if !found {
		t.Fatalf("%s has no table %q", document, title)
	}
	var rows [][]string
	for line := range strings.Lines(text) {
		row, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !isRow {
			break
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.TrimSuffix(row, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}
