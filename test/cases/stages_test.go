package cases

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// otherStages are the files that Slipway writes at another stage than AKS's scripts, with Slipway's phase. docs/compatibility.md
// has the reasons, in the row of pre_provision_only.
var otherStages = map[string]resource.Phase{
	"10-watchdog.conf":              resource.Base,
	"acr-mirror.service":            resource.Join,
	"acr-credential-provider":       resource.Base,
	"hosts":                         resource.Join,
	"localdns.corefile":             resource.Join,
	"localdns.service":              resource.Join,
	"localdns.slice":                resource.Join,
	"overlaybd-snapshotter.service": resource.Join,
	"overlaybd-tcmu.service":        resource.Join,
}

// The files that AKS's scripts write when an image is prepared (pre_provision_only) are in the image, and those that they write
// when a node joins are written then, except for the files above.
func TestStagesOfAKS(t *testing.T) {
	stages := make(map[string]string)
	for line := range strings.Lines(string(read(t, "testdata/aks-files.tsv"))) {
		if cells := strings.Split(line, "\t"); len(cells) == 4 {
			stages[cells[0]] = cells[2]
		}
	}
	found, err := filepath.Glob("*/case.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	compared, other := 0, make(map[string]resource.Phase)
	for _, at := range found {
		var c spec
		readJSON(t, at, &c)
		if !strings.HasPrefix(c.Example, "aks/") {
			continue
		}
		place, contract := c.contract(t)
		planned, _ := compile.ReadOne(place, contract).Plan(c.facts(t))
		for _, r := range planned.Resources {
			if !resource.OnDisk(r.Spec) {
				continue
			}
			want := map[string]resource.Phase{"base": resource.Base, "node": resource.Join}[stages[r.Spec.Paths()[0]]]
			if _, directory := r.Spec.(*resource.Directory); want == "" || directory {
				continue
			}
			if compared++; r.Phase != want {
				other[path.Base(r.Spec.Paths()[0])] = r.Phase
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d files were compared", compared)
	}
	if diff := cmp.Diff(otherStages, other); diff != "" {
		t.Errorf("files of another stage (-want +got):\n%s", diff)
	}
	document := string(read(t, "../../docs/compatibility.md"))
	_, row, hasRow := strings.Cut(document, "\n| `pre_provision_only`, other files |")
	row, _, _ = strings.Cut(row, "\n")
	for _, name := range slices.Sorted(maps.Keys(otherStages)) {
		if !hasRow || !strings.Contains(row, "`"+name+"`") && !strings.Contains(row, "/"+name+"`") {
			t.Errorf("%s: its stage is in no row of docs/compatibility.md", name)
		}
	}
}
