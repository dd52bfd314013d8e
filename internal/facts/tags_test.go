package facts

import (
	"reflect"
	"strings"
	"testing"
)

// Each tag of the table describes its effect, and either sets something or has a reason not to. No two tags set the
// same, and other values set nothing.
func TestKnownTags(t *testing.T) {
	values := map[string]string{ServerAddressTag: "10.0.0.4"}
	set := make(map[Tags]string)
	for i, tag := range KnownTags {
		if tag.Name == "" || tag.Value == "" || tag.Changes == "" || tag.Source == "" {
			t.Errorf("%+v: its row is not whole", tag)
		}
		if i > 0 && strings.ToLower(KnownTags[i-1].Name) >= strings.ToLower(tag.Name) {
			t.Errorf("%s is not in order", tag.Name)
		}
		value := values[tag.Name]
		if value == "" {
			value = tag.Value
		}
		for _, spelling := range []string{tag.Name, strings.ToUpper(tag.Name), strings.ToLower(tag.Name)} {
			var got, none Tags
			got.Take(spelling, value)
			if unset := got == (Tags{}); unset != (tag.Unused != "") {
				t.Errorf("%s=%s is %+v, and unused because %q", spelling, value, got, tag.Unused)
			} else if other := set[got]; !unset && other != "" && other != tag.Name {
				t.Errorf("%s is the same as %s", tag.Name, other)
			}
			set[got] = tag.Name
			for _, bad := range []string{"", "false", "1", "yes", "true ", "x"} {
				none.Take(spelling, bad)
			}
			none.Take(spelling+"x", value)
			none.Take("x"+spelling, value)
			if none != (Tags{}) {
				t.Errorf("%s is %+v without a value", spelling, none)
			}
		}
	}
	// Each field has its tag, except Tagged.
	if fields := reflect.TypeFor[Tags]().NumField() - 1; len(set)-1 != fields {
		t.Errorf("%d tags set something, and there are %d fields", len(set)-1, fields)
	}
}

func TestTagsAfter(t *testing.T) {
	before := Tags{Tagged: true, APIServerAddress: "10.0.0.4", SkipGPUDriver: true}
	for _, c := range []struct{ now, want Tags }{
		{Tags{}, before},
		{Tags{Tagged: true}, Tags{Tagged: true, APIServerAddress: "10.0.0.4"}},
		{Tags{Tagged: true, APIServerAddress: "10.0.0.5"}, Tags{Tagged: true, APIServerAddress: "10.0.0.5"}},
	} {
		if got := c.now.After(before); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.now, got, c.want)
		}
	}
}
