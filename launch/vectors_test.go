package launch_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestVectors compares what Karpenter's provider for Azure accepts, refuses and decides, with test inputs of this project. A row has what
// differs from the examples, and the expected error or values. If a value differs from that provider's, the row has the reason.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/vectors/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, path := range files {
		rows, _ := parse(t, read(t, path)).Get("rows")
		for i := range rows.Items {
			row := &rows.Items[i]
			name := filepath.Base(path) + "/" + row.GetText("name")
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
			t.Run(name, func(t *testing.T) { checkVector(t, row) })
		}
	}
	if len(seen) < 225 {
		t.Errorf("only %d rows", len(seen))
	}
}

// checkVector renders a row, and compares what comes of it.
func checkVector(t *testing.T, row *document.Node) {
	t.Helper()
	in := with(t, row)
	settings := parse(t, []byte(in.Settings))
	for _, name := range textsOf(row, "without") {
		settings.Fields = slices.DeleteFunc(settings.Fields, func(f document.Field) bool { return f.Name == name })
	}
	in.Settings = string(settings.AppendJSON(nil))
	if sku, ok := row.Get("sku"); ok {
		in.sku(t, sku)
		if _, said := row.Get("nodeclaim"); !said { // the example's claim is of another type
			claim := parse(t, []byte(in.NodeClaim))
			claim.At("$.spec.requirements").Items = nil
			in.NodeClaim = string(claim.AppendJSON(nil))
		}
	}
	cloud, request, problems := in.decode(t)
	values := make(map[string]string)
	if len(nodeconfig.Fatal(problems)) == 0 {
		made := launch.Render(cloud, request)
		problems = made.Problems()
		for _, v := range made.Explain("") {
			values[v.Path] = v.Value
		}
	}
	var refused []string
	for _, p := range nodeconfig.Fatal(problems) {
		refused = append(refused, p.Path)
	}
	slices.Sort(refused)
	if want := textsOf(row, "refused"); !slices.Equal(slices.Compact(refused), want) {
		t.Errorf("refused at %q, want %q: %v", refused, want, nodeconfig.Fatal(problems))
	}
	if want, ok := row.Get("want"); ok {
		for i := range want.Fields {
			if path := want.Fields[i].Name; values[path] != want.Fields[i].Value.Text {
				t.Errorf("%s is %q, want %q", path, values[path], want.Fields[i].Value.Text)
			}
		}
	}
}

// textsOf are the texts of a list of a row.
func textsOf(row *document.Node, name string) (texts []string) {
	if list, ok := row.Get(name); ok {
		for _, item := range list.Items {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

// sku takes an instance type in place of the examples': its name and its capabilities.
func (in *inputs) sku(t *testing.T, row *document.Node) {
	t.Helper()
	var capabilities []map[string]string
	for _, f := range row.Fields {
		if f.Name != "name" {
			capabilities = append(capabilities, map[string]string{"name": f.Name, "value": f.Value.Text})
		}
	}
	in.Type = row.GetText("name")
	list, err := json.Marshal([]any{map[string]any{"name": in.Type, "capabilities": capabilities}})
	if err != nil {
		t.Fatal(err)
	}
	in.Types = list
}
