package launch_test

import (
	"reflect"
	"testing"

	"github.com/slipway-dev/slipway/launch"
)

// TestOverrodeReasons: of each two sources the stronger value is taken, and the reason says by which rule.
func TestOverrodeReasons(t *testing.T) {
	const (
		same, fewer     = "the later of two values of one source is used", "a value that was set for fewer nodes is used before one for more"
		found, standard = "a value that was set is used before a detected one", "a value that was set is used before the default of all nodes"
		detected        = "a detected value is used before the default of all nodes"
	)
	for _, c := range []struct {
		stronger, weaker launch.Source
		reason           string
	}{
		{launch.Detected, launch.Hardcoded, detected}, {launch.Environment, launch.Hardcoded, standard}, {launch.Global, launch.Hardcoded, standard},
		{launch.Pool, launch.Hardcoded, standard}, {launch.Class, launch.Hardcoded, standard},
		{launch.Environment, launch.Detected, found}, {launch.Global, launch.Detected, found}, {launch.Pool, launch.Detected, found}, {launch.Class, launch.Detected, found},
		{launch.Global, launch.Environment, fewer}, {launch.Pool, launch.Environment, fewer}, {launch.Class, launch.Environment, fewer},
		{launch.Pool, launch.Global, fewer}, {launch.Class, launch.Global, fewer}, {launch.Class, launch.Pool, fewer},
		{launch.Global, launch.Global, same}, {launch.Hardcoded, launch.Hardcoded, same},
	} {
		layer := func(s launch.Source, zone string) launch.Layer {
			l := launch.Layer{Source: s, Origin: zone, Document: &launch.Document{Machine: launch.Machine{Zone: zone}}}
			l.AddLines(l.Document, "line "+zone)
			return l
		}
		layers := []launch.Layer{layer(c.weaker, "1"), layer(c.stronger, "2")}
		for range 2 {
			got := launch.Explain(layers)
			const path = "$.machine.zone"
			weaker := launch.Value{Value: "1", Source: c.weaker, Origin: "1", Place: "line 1", Reason: c.reason}
			want := launch.Value{Path: path, Value: "2", Source: c.stronger, Origin: "2", Place: "line 2", Overrode: []launch.Value{weaker}}
			if !reflect.DeepEqual(got, []launch.Value{want}) {
				t.Errorf("%s over %s: %+v", c.stronger, c.weaker, got)
			}
			if c.stronger == c.weaker {
				break
			}
			layers[0], layers[1] = layers[1], layers[0] // the order does not matter
		}
	}
}
