package docs

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// aksFile is a file or link that AKS's own scripts make on a node.
type aksFile struct{ mode, stage, source string }

// aksFiles are all known ones, by path: test/cases/testdata/aks-files.tsv.
func aksFiles(t *testing.T) map[string]aksFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repo, "test/cases/testdata/aks-files.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]aksFile)
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 4 || slices.Contains(cells, "") || all[cells[0]] != (aksFile{}) {
			t.Fatalf("bad row: %q", line)
		}
		all[cells[0]] = aksFile{cells[1], cells[2], cells[3]}
	}
	return all
}

// treeEntry matches a file or link of a case's tree: its mode, or "link".
var treeEntry = regexp.MustCompile(`(?m)^== (\d{4}|link) (/\S*[^/\s])(?: -> .*)?$`)

// madeFiles are the files and links that Slipway makes on the nodes of all cases with an AKS contract: their modes, by path. Files
// that a case has before the run, or in its contract, do not count.
func madeFiles(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	found, err := filepath.Glob(filepath.Join(repo, "test/cases/*/case.json"))
	if err != nil || len(found) == 0 {
		t.Fatal("no cases", err)
	}
	for _, at := range found {
		var c struct {
			Example string
			Before  map[string]string
		}
		data, err := os.ReadFile(at)
		if err == nil {
			err = json.Unmarshal(data, &c)
		}
		if err != nil {
			t.Fatal(at, err)
		}
		if !strings.HasPrefix(c.Example, "aks/") {
			continue
		}
		tree, err := os.ReadFile(filepath.Join(filepath.Dir(at), "want.tree"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range treeEntry.FindAllStringSubmatch(string(tree), -1) {
			if _, before := c.Before[m[2]]; !before && !slices.Contains(all[m[2]], m[1]) {
				all[m[2]] = append(all[m[2]], m[1])
			}
		}
	}
	return all
}

var (
	codeSpan = regexp.MustCompile("`[^`]+`")
	// rowOf matches a reference to a row of the table of differences.
	rowOf = regexp.MustCompile(`see "([^"]+)"`)
	// unitLink matches the link of an enabled unit.
	unitLink = regexp.MustCompile(`^/etc/systemd/system/[^/]+\.wants/([^/]+)$`)
)

// names reports whether a row of the table names a path: in full, by the file name, by a directory above it that ends in "/", or by
// a pattern (path.Match).
func names(row []string, name string) bool {
	for _, span := range codeSpan.FindAllString(strings.Join(row, "|"), -1) {
		span = strings.Trim(span, "`")
		for word := range strings.FieldsSeq(span) {
			matches, _ := path.Match(word, name)
			short, _ := path.Match(word, path.Base(name))
			if word == name || matches || short || strings.HasSuffix(word, "/") && strings.HasPrefix(word, "/") && strings.HasPrefix(name, word) {
				return true
			}
		}
	}
	return false
}

// TestFilesOfAKS: each file, link or unit that only Slipway or only AKS makes on an AKS node, or that has another mode, has its
// row.
func TestFilesOfAKS(t *testing.T) {
	known, made := aksFiles(t), madeFiles(t)
	const document = "docs/compatibility.md"
	differences, files := tableRows(t, document, "| what | AKS | Slipway | why | shown by |"), tableRows(t, document, "| file or unit | AKS | Slipway | why |")
	rows := slices.Concat(differences, files)
	named := func(name string, also string) bool {
		return slices.ContainsFunc(rows, func(row []string) bool {
			return names(row, name) && strings.Contains(strings.Join(row, "|"), also)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		fact, has := known[name]
		if unit := unitLink.FindStringSubmatch(name); !has && unit != nil {
			// The link of an enabled unit is part of the unit.
			_, has = made["/etc/systemd/system/"+unit[1]]
		}
		if !has && !named(name, "") {
			t.Errorf("%s: AKS does not have it, and no row says so", name)
		}
		for _, mode := range made[name] {
			if fact.mode != "" && fact.mode != mode && !named(name, mode) {
				t.Errorf("%s: %s on AKS (%s), %s here, and no row says so", name, fact.mode, fact.source, mode)
			}
		}
	}
	for _, row := range files {
		for _, m := range rowOf.FindAllStringSubmatch(row[len(row)-1], -1) {
			if !slices.ContainsFunc(differences, func(r []string) bool { return strings.HasPrefix(r[0], m[1]) }) {
				t.Errorf("%s: there is no row %q", row[0], m[1])
			}
		}
		isOf := func(name string) bool { return names(row, name) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(known)), isOf) && !slices.ContainsFunc(slices.Collect(maps.Keys(made)), isOf) {
			t.Errorf("%s: neither AKS nor Slipway has it", row[0])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if _, has := made[name]; !has && !named(name, "") {
			t.Errorf("%s: AKS has it (%s), and no row explains why Slipway does not", name, known[name].source)
		}
	}
}
