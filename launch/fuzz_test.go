package launch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// mergeable are the sources that a layer of the fuzz target can have, the weakest first.
var mergeable = launch.Sources()

// layersOf returns a layer for each document, which is JSON. It returns nil if one of them cannot be decoded.
func layersOf(documents [][]byte, ranks ...uint8) (layers []launch.Layer) {
	for i, data := range documents {
		d := new(launch.Document)
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		if err := decoder.Decode(d); err != nil {
			return nil
		}
		d = launch.Copied(d) // the same values, but those that may be secret become secrets
		layers = append(layers, launch.Layer{Source: mergeable[int(ranks[i])%len(mergeable)], Origin: string(rune('a' + i)), Document: d})
	}
	return layers
}

// FuzzMerge merges layers with any values. Their order does not matter. Each merged value is the value of the strongest layer that has
// one. explain returns the merged values. The result shares nothing with a layer.
func FuzzMerge(f *testing.F) {
	_, _, templates := rendered(f, "example", "local-dns", "gpu")
	var documents [][]byte
	for _, made := range templates {
		machine, err := json.Marshal(made.Document().Machine)
		if err != nil {
			f.Fatal(err)
		}
		documents = append(documents, fmt.Appendf(nil, `{"node":%s,"machine":%s}`, nodeconfig.Encode(&made.Document().Node), machine))
	}
	f.Add(documents[0], documents[1], documents[2], uint8(0), uint8(3), uint8(5))
	f.Add([]byte(`{"machine":{"tags":{"a":"1","b":"2"},"zone":"z"}}`), []byte(`{"machine":{"tags":{"a":"3"},"maxPods":0}}`), []byte(`{}`), uint8(4), uint8(3), uint8(3))
	f.Add([]byte(`{"node":{"kubelet":{"config":{"evictionHard":{"memory.available":"1Mi"},"maxPods":1}}}}`),
		[]byte(`{"node":{"kubelet":{"config":{"evictionHard":{"nodefs.available":"1%"},"maxPods":null}}}}`), []byte(`{"node":{"kubelet":{"taints":[]}}}`), uint8(1), uint8(5), uint8(6))
	f.Fuzz(func(t *testing.T, first, second, third []byte, rank1, rank2, rank3 uint8) {
		layers := layersOf([][]byte{first, second, third}, rank1, rank2, rank3)
		if layers == nil {
			return
		}
		before := make([]map[string]string, len(layers))
		for i := range layers {
			before[i] = launch.Values(layers[i].Document)
		}
		merged := launch.Merged(layers)
		got := launch.Values(merged)

		// A value is that of the strongest layer that has the path; of two values of one source, of the later one.
		strongest := slices.Clone(layers)
		slices.SortStableFunc(strongest, func(a, b launch.Layer) int {
			return slices.Index(mergeable, a.Source) - slices.Index(mergeable, b.Source)
		})
		for _, l := range strongest[len(strongest)-1:] {
			for path, value := range launch.Values(l.Document) {
				if got[path] != value {
					t.Errorf("%s is %q, and the strongest layer says %q", path, got[path], value)
				}
			}
		}
		for path, value := range got {
			if !slices.ContainsFunc(before, func(b map[string]string) bool { return b[path] == value }) {
				t.Errorf("%s is %q, which no layer says", path, value)
			}
		}

		// The order of layers of different sources does not matter.
		if layers[0].Source != layers[1].Source && layers[1].Source != layers[2].Source && layers[0].Source != layers[2].Source {
			turned := []launch.Layer{layers[2], layers[0], layers[1]}
			if other := launch.Values(launch.Merged(turned)); !reflect.DeepEqual(other, got) {
				t.Errorf("in another order the layers make\n%v\n%v", other, got)
			}
		}
		explained := make(map[string]string)
		for _, v := range launch.Explain(layers) {
			explained[v.Path] = v.Value
		}
		for path, value := range got {
			if explained[path] != value {
				t.Errorf("%s is %q, and is explained as %q", path, value, explained[path])
			}
		}
		if again := launch.Values(launch.Copied(merged)); !reflect.DeepEqual(again, got) {
			t.Errorf("merged alone it is\n%v\n%v", again, got)
		}
		for path := range got {
			launch.Mutate(merged, path)
		}
		for i := range layers {
			if after := launch.Values(layers[i].Document); !reflect.DeepEqual(after, before[i]) {
				t.Errorf("a layer shares something with the merged document:\n%v\n%v", before[i], after)
			}
		}
	})
}
