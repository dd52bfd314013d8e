package cases

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// The nodes that EKS's nodeadm makes from the same settings on the same machines, by case: the files that it writes, and its
// images' files for the same purpose (amazon-eks-ami 81fec2e8: nodeadm/internal, templates/al2023/runtime). Each line is a setting,
// a word of a command line, or a line of a unit.
var nodeadmCases = []string{"eks", "eks-1.31", "eks-nvidia"}

const (
	nodeadmTrees       = "testdata/nodeadm/"
	nodeadmDifferences = "testdata/nodeadm/differences"
	nodeadmTable       = "| what | nodeadm | Slipway | why | shown by |\n"
)

// Every setting in nodeadm's files is in the same file here, and there are no other settings, except those in the list, each with
// the row of docs/compatibility.md that explains it.
func TestFilesOfNodeadm(t *testing.T) {
	found := make(map[string][]string) // cases by difference
	for _, name := range nodeadmCases {
		nodeadm, here := plainFiles(t, nodeadmTrees+name+".tree"), plainFiles(t, name+"/want.tree")
		for file, want := range nodeadm {
			have := []string{}
			if text, is := here[file]; is {
				have = eksLines(t, file, text)
			}
			want := strings.Split(want, "\n")
			for _, line := range want {
				if !slices.Contains(have, line) {
					found[file+" -"+line] = append(found[file+" -"+line], name)
				}
			}
			for _, line := range have {
				if !slices.Contains(want, line) {
					found[file+" +"+line] = append(found[file+" +"+line], name)
				}
			}
		}
	}
	rows, listed := rowsOf(t, nodeadmTable), make(map[string]bool)
	for _, record := range records(t, nodeadmDifferences) {
		listed[record[0]+" "+record[1]] = true
		if !slices.Contains(rows, record[2]) {
			t.Errorf("%s %s: docs/compatibility.md has no row %q", record[0], record[1], record[2])
		}
	}
	for difference, cases := range found {
		if !listed[difference] {
			t.Errorf("%v: %s is not in %s", cases, difference, nodeadmDifferences)
		}
	}
	for difference := range listed {
		if found[difference] == nil {
			t.Errorf("%s is listed, and there is no such difference", difference)
		}
	}
}

// plainFiles are the texts of a tree's files, by path, each after a line with its mode.
func plainFiles(t *testing.T, tree string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, part := range strings.Split("\n"+string(read(t, tree)), "\n== ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		if mode, name, _ := strings.Cut(head, " "); mode != "link" && mode != "no" && !strings.HasSuffix(name, "/") {
			files[name] = "mode " + mode + "\n" + strings.TrimSuffix(text, "\n")
		}
	}
	return files
}

// eksLines are the settings of a file, by its kind.
func eksLines(t *testing.T, name, text string) []string {
	t.Helper()
	mode, text, _ := strings.Cut(text, "\n")
	all := []string{mode}
	var document map[string]any
	switch base := path.Base(name); {
	case path.Ext(base) == ".json" || base == "40-nodeadm.conf":
		numbers := json.NewDecoder(strings.NewReader(text))
		numbers.UseNumber()
		if err := numbers.Decode(&document); err != nil {
			t.Fatal(name, err)
		}
	case base == "kubeconfig":
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(name, err)
		}
	case path.Ext(base) == ".toml":
		if err := toml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(name, err)
		}
	case base == "environment":
		return append(all, strings.Fields(strings.ReplaceAll(text, "=--", "= --"))...)
	default:
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", ""), "\n") {
			if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, line)
			}
		}
		return all
	}
	return append(all, named("", document)...)
}

// named are the values of a document, each with its path. In the path, an item of a list has its name or nothing, because the order
// of these lists does not matter.
func named(at string, document any) []string {
	var all []string
	switch value := document.(type) {
	case map[string]any:
		for name, inner := range value {
			all = append(all, named(strings.TrimPrefix(at+"."+name, "."), inner)...)
		}
	case []any:
		for _, item := range value {
			at := at
			fields, _ := item.(map[string]any)
			for _, key := range []string{"destination", "name", "type"} {
				if own, has := fields[key].(string); has {
					at += "[" + own + "]"
					break
				}
			}
			all = append(all, named(at, item)...)
		}
	default:
		all = append(all, fmt.Sprintf("%s: %v", at, value))
	}
	return all
}
