package resource_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

// mixed are resources of both phases, in order.
func mixed() []resource.Resource {
	return []resource.Resource{
		{Phase: resource.Base, Spec: &resource.Directory{Path: "/a"}},
		{Phase: resource.Base, Spec: &resource.File{Path: "/a"}},
		{Phase: resource.Base, Spec: &resource.File{Path: "/a/b"}},
		{Phase: resource.Base, Spec: &resource.File{Path: "/b"}},
		{Phase: resource.Base, Spec: &resource.Unit{Unit: "z"}},
		{Phase: resource.Join, Spec: &resource.Check{Label: "x"}},
		{Phase: resource.Join, Spec: &resource.File{Path: "/"}},
		{Phase: resource.Join, Spec: &resource.Sysctl{Key: "a"}},
	}
}

func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		p := resource.Plan{Resources: mixed()}
		random.Shuffle(len(p.Resources), func(i, j int) { p.Resources[i], p.Resources[j] = p.Resources[j], p.Resources[i] })
		p.Sort()
		if !reflect.DeepEqual(p.Resources, mixed()) {
			t.Fatalf("got %v", p.Resources)
		}
	}
}

func TestOnly(t *testing.T) {
	whole := resource.Plan{Config: "c", Dialect: "d", Resources: mixed()}
	for phase, want := range map[resource.Phase]int{resource.Base: 5, resource.Join: 3, "other": 0} {
		part := whole.Only(phase)
		if len(part.Resources) != want || part.Config != "c" || part.Dialect != "d" {
			t.Errorf("%s: %v", phase, part)
		}
		if slices.ContainsFunc(part.Resources, func(r resource.Resource) bool { return r.Phase != phase }) {
			t.Errorf("%s: %v", phase, part.Resources)
		}
	}
	if !reflect.DeepEqual(whole.Resources, mixed()) {
		t.Error("the whole plan is another")
	}
}

func TestNames(t *testing.T) {
	seen := make(map[resource.ID]bool)
	for _, spec := range specs {
		id := resource.Resource{Spec: spec}.ID()
		if id != resource.IDOf(spec) || seen[id] || spec.Name() == "" {
			t.Errorf("%T has ID %s", spec, id)
		}
		if want := reflect.TypeOf(spec).Elem().Name(); spec.Kind() != want {
			t.Errorf("%T is of kind %s", spec, spec.Kind())
		}
		seen[id] = true
	}
}
