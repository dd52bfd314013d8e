package resource_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

// FuzzPlanJSON: a plan that was read stays the same when it is written and read again, and its text, too.
func FuzzPlanJSON(f *testing.F) {
	for _, spec := range specs {
		data, err := json.Marshal(planOf(spec))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, spec := range []string{
		`"File","spec":{"path":"/f","mode":"0600","secret":true,"fingerprint":"x","content":"y","base64":"eg=="}`,
		`"File","spec":{"mode":"37777777777","uid":-1,"base64":"/w=="}`, `"Directory","spec":{}`, `"Unit","spec":null`,
		`"Check","spec":{"apiServer":{},"exitCodes":{"dns":0}}`, `"Command","spec":{"argv":[],"env":{}}`,
	} {
		f.Add([]byte(`{"apiVersion":"slipway.dev/v1","kind":"Plan","resources":[{"id":"x","kind":` + spec + `}]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second resource.Plan
		if json.Unmarshal(data, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		again, err := json.Marshal(second)
		if err != nil || !bytes.Equal(written, again) {
			t.Fatalf("%v\n%s\n%s", err, written, again)
		}
		first.Sort()
		for _, r := range first.Resources {
			if r.ID() != resource.IDOf(r.Spec) {
				t.Fatal(r.ID())
			}
		}
	})
}
