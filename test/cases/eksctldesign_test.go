package cases

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The node in eksctl's own design, for a cluster like that in the case eksctl-al2-1.23: its paths, modes, variables, flags and
// settings (eksctl, docs/current-001-node_bootstrap.md and pkg/nodebootstrap, 2019), without comments and without the text of the
// script. The case is for the last minor version whose kubelet has the design's flags. In the tree of the design, a file begins
// with "== MODE PATH".
const (
	designTree        = "testdata/eksctl-2019.tree"
	designDifferences = "testdata/eksctl-2019.differences"
	designCase        = "eksctl-al2-1.23/want.tree"
)

// renamed are files with a new name.
var renamed = map[string]string{"/etc/systemd/system/kubelet.service.d/10-eksclt.al2.conf": "/etc/systemd/system/kubelet.service.d/10-eksctl.al2.conf"}

// Every line of a file in the design is in the same file here, and there are no other lines, except those in the list, each with
// the row of docs/compatibility.md that explains it.
func TestFilesOfEksctlsDesign(t *testing.T) {
	design, here := linesOf(t, designTree), linesOf(t, designCase)
	var found []string
	for name, want := range design {
		have := here[cmp.Or(renamed[name], name)]
		if have == nil {
			want = []string{"the file"}
		}
		if renamed[name] != "" {
			want = append(want, "name "+path.Base(name))
		}
		for _, line := range want {
			if !slices.Contains(have, line) {
				found = append(found, name+" -"+line)
			}
		}
		for _, line := range have {
			if !slices.Contains(want, line) {
				found = append(found, name+" +"+line)
			}
		}
	}
	rows := rowsOf(t, "| what | eksctl | Slipway | why | shown by |\n")
	listed := make(map[string]string)
	for _, record := range records(t, designDifferences) {
		listed[record[0]+" "+record[1]] = record[2]
		if !slices.Contains(rows, record[2]) {
			t.Errorf("%s %s: docs/compatibility.md has no row %q", record[0], record[1], record[2])
		}
	}
	for _, difference := range found {
		if listed[difference] == "" {
			t.Errorf("%s is not in %s", difference, designDifferences)
		}
	}
	for difference := range listed {
		if !slices.Contains(found, difference) {
			t.Errorf("%s is listed, and there is no such difference", difference)
		}
	}
}

// linesOf are the lines of a tree's files, by path, with one for the mode. A link has its target's lines. If the order of lines
// does not matter, as in YAML, a line is a setting with its path.
func linesOf(t *testing.T, tree string) map[string][]string {
	t.Helper()
	content, err := os.ReadFile(tree)
	if err != nil {
		t.Fatal(err)
	}
	files, links := make(map[string][]string), make(map[string]string)
	for _, part := range strings.Split("\n"+string(content), "\n== ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		kind, name, _ := strings.Cut(head, " ")
		if kind == "link" {
			from, to, _ := strings.Cut(name, " -> ")
			links[from] = to
			continue
		}
		if strings.HasSuffix(name, "/") || kind == "no" {
			continue
		}
		files[name] = append([]string{"mode " + kind}, lines(t, name, text)...)
	}
	for from, to := range links {
		if files[to] != nil {
			files[from] = append([]string{"a link"}, files[to]...)
		}
	}
	return files
}

// lines are those of a file.
func lines(t *testing.T, name, text string) []string {
	t.Helper()
	if path.Ext(name) == ".yaml" && path.Dir(name) == "/etc/eksctl" {
		var document any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		return settings("", document)
	}
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.TrimSuffix(line, `\`))
		if strings.HasPrefix(line, "--") {
			all = append(all, strings.Fields(line)...)
		} else if line != "" {
			all = append(all, line)
		}
	}
	return all
}

// settings are the values of a document, each with its path.
func settings(at string, document any) []string {
	var all []string
	switch value := document.(type) {
	case map[string]any:
		for name, inner := range value {
			all = append(all, settings(strings.TrimPrefix(at+"."+name, "."), inner)...)
		}
	case []any:
		for i, inner := range value {
			all = append(all, settings(fmt.Sprintf("%s[%d]", at, i), inner)...)
		}
	default:
		all = append(all, fmt.Sprintf("%s: %v", at, value))
	}
	return all
}

// records are those of a file with three columns, separated by tabs.
func records(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comma, r.Comment, r.FieldsPerRecord, r.LazyQuotes = '\t', '#', 3, true
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rowsOf are the first cells of the table in docs/compatibility.md with a given head.
func rowsOf(t *testing.T, head string) []string {
	t.Helper()
	content, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(content), head)
	if !found {
		t.Fatalf("docs/compatibility.md has no table with the head %s", head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var rows []string
	for line := range strings.SplitSeq(table, "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		rows = append(rows, cell)
	}
	return rows
}
