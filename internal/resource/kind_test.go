package resource_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A later run reads a generation's record: the kept resources have no secret, and no "[redacted]" instead of a secret,
// which the engine would take for the value. A kind with a [nodeconfig.Secret] has a Kept in its row.
func TestKeptHasNoSecretAndNoMarkOfOne(t *testing.T) {
	const canary = "canary-0123456789"
	secrets := 0
	for name, kind := range resource.Kinds {
		spec := kind.New()
		filled := fill(reflect.ValueOf(spec).Elem(), canary)
		if filled > 0 {
			secrets++
		}
		kept := resource.Kept(spec)
		if kept == nil {
			continue
		}
		if text := string(marshal(t, kept)); strings.Contains(text, nodeconfig.Redacted) || strings.Contains(text, canary) {
			t.Errorf("%s: a generation keeps %s", name, text)
		}
	}
	if secrets != 5 {
		t.Errorf("%d kinds have a secret; the test looks for them in vain, or correct the number", secrets)
	}
}

// fill sets each secret below a value, and returns their number.
func fill(v reflect.Value, text string) (filled int) {
	switch {
	case v.Type() == reflect.TypeFor[nodeconfig.Secret]():
		v.Set(reflect.ValueOf(nodeconfig.NewSecret(text)))
		return 1
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return fill(v.Elem(), text)
	case v.Kind() == reflect.Struct && v.Type().PkgPath() != "time":
		for i := range v.NumField() {
			filled += fill(v.Field(i), text)
		}
	}
	return filled
}

// A difference only in what a record does not keep is no difference between two plans. A machine's identity is not in a
// record that an image carries.
func TestPartsOfASpec(t *testing.T) {
	reach := resource.Reach{HTTP: resource.Hidden{Secret: nodeconfig.NewSecret("http://u:p@proxy")}, Authorities: "ca", Identity: &resource.RegistryIdentity{ClientID: "c"}}
	anonymous := reach
	anonymous.Identity = nil
	for name, c := range map[string]struct {
		part        func(resource.Spec) resource.Spec
		whole, want resource.Spec
	}{
		"a file that others take the place of is not kept": {resource.Kept, &resource.File{Path: "/a", Until: []string{"/b"}}, nil},
		"a file is kept":                           {resource.Kept, &resource.File{Path: "/a", Content: []byte("a")}, &resource.File{Path: "/a", Content: []byte("a")}},
		"a command with a secret is not kept":      {resource.Kept, &resource.Command{Label: "a", Stdin: resource.Hidden{Secret: nodeconfig.NewSecret("a")}}, nil},
		"a command is kept":                        {resource.Kept, &resource.Command{Label: "a"}, &resource.Command{Label: "a"}},
		"a unit's state is kept without its past":  {resource.Kept, &resource.UnitState{Unit: "a", Was: []string{"active"}}, &resource.UnitState{Unit: "a"}},
		"a download is kept without proxies":       {resource.Kept, &resource.Download{Reach: reach}, &resource.Download{Reach: resource.Reach{Authorities: "ca"}}},
		"a download is stored without an identity": {resource.Stored, &resource.Download{Reach: reach}, &resource.Download{Reach: anonymous}},
		"an image is stored without an identity":   {resource.Stored, &resource.Image{Reach: reach}, &resource.Image{Reach: anonymous}},
		"a sysctl is stored whole":                 {resource.Stored, &resource.Sysctl{Key: "a"}, &resource.Sysctl{Key: "a"}},
		"a check is compared without its token": {
			resource.Compared, &resource.Check{APIServer: &resource.APIServer{Server: "a", Token: resource.Hidden{Secret: nodeconfig.NewSecret("a")}}},
			&resource.Check{APIServer: &resource.APIServer{Server: "a"}},
		},
		"a file is compared without what is not on the machine": {
			resource.Compared, &resource.File{Path: "/a", Mode: 1, Content: []byte("a"), Until: []string{"/b"}}, &resource.File{Path: "/a", Mode: 1},
		},
	} {
		before := string(marshal(t, c.whole))
		if got := c.part(c.whole); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v", name, got)
		}
		if string(marshal(t, c.whole)) != before {
			t.Errorf("%s: the plan itself is changed", name)
		}
	}
}
