package azure

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// chosenTables are the tables by which a release chooses what no source says.
func chosenTables() map[string]reflect.Value {
	all := make(map[string]reflect.Value)
	for name, table := range map[string]any{
		"credential providers": &credentialProviders, "drivers": &driverRows, "families": &familyRows, "flags": &flagRows, "hardcoded": hardcoded.Document,
		"images": &definitions, "labels": &labelRows, "own cluster": own.Document, "placements": &placementRows, "plugins": &pluginRows,
		"scripts": &scriptRows, "tags": &ownTags,
	} {
		all[name] = reflect.ValueOf(table).Elem()
	}
	return all
}

// eachMutation changes each value of a table, one at a time, and calls visit while it is changed.
func eachMutation(name string, v reflect.Value, visit func(name string)) {
	change := func(value reflect.Value, other any) {
		before := reflect.New(value.Type()).Elem()
		before.Set(value)
		value.Set(reflect.ValueOf(other).Convert(value.Type()))
		visit(name)
		value.Set(before)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			eachMutation(name, v.Elem(), visit)
		} else if text, ok := v.Interface().(string); ok {
			change(v, text+"x")
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachMutation(fmt.Sprintf("%s[%d]", name, i), v.Index(i), visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			fresh := reflect.New(v.Type().Elem()).Elem()
			fresh.Set(v.MapIndex(key))
			eachMutation(name+"."+key.String(), fresh, func(name string) {
				before := v.MapIndex(key)
				v.SetMapIndex(key, fresh)
				visit(name)
				v.SetMapIndex(key, before)
			})
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[nodeconfig.Secret]() {
			return
		}
		for i := range v.NumField() {
			field := v.Field(i)
			eachMutation(name+"."+v.Type().Field(i).Name, reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem(), visit)
		}
	case reflect.Func:
		if v.IsNil() {
			return
		}
		original := reflect.ValueOf(v.Interface())
		change(v, reflect.MakeFunc(v.Type(), func(args []reflect.Value) []reflect.Value {
			results := original.Call(args)
			if results[0].Kind() == reflect.String && results[0].String() != "" {
				results[0] = reflect.ValueOf(results[0].String() + "x").Convert(results[0].Type())
			}
			return results
		}).Interface())
	case reflect.String:
		change(v, v.String()+"x")
	case reflect.Bool:
		change(v, !v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		change(v, v.Int()+1)
	}
}

// TestReleaseRollsNoFleet changes each value of each table by which a release chooses: no node that the build before has made differs from
// what is wanted.
func TestReleaseRollsNoFleet(t *testing.T) {
	for _, size := range []string{"Standard_D4ds_v5", "Standard_NC24ads_A100_v4"} {
		in := exampleInput(t)
		var err error
		if in.Type, err = ReadInstanceType(example(t, "skus.json"), size, "eastus"); err != nil {
			t.Fatal(err)
		}
		claim := new(launch.NodeClaim)
		document := strings.ReplaceAll(string(example(t, "nodeclaim.yaml")), "Standard_D4ds_v5", size)
		launch.Read([]byte(document), launch.KarpenterVersion, "NodeClaim", claim)
		render := func() (made *launch.Launch) {
			defer func() { _ = recover() }() // a table that decides of every node cannot do without its last row
			made = launch.Render(in, launch.Request{Claim: claim})
			return made
		}
		before := render()
		kept, mutations, other := before.Record().Text(), 0, 0
		for name, table := range chosenTables() {
			eachMutation(name, table, func(name string) {
				record, err := launch.ParseRecord([]byte(kept))
				if err != nil {
					t.Fatal(err)
				}
				wanted := render()
				if wanted == nil || wanted.Problems().Err() != nil { // no node is compared with what cannot be launched
					return
				}
				compared, err := launch.Compare(record, wanted)
				if err != nil {
					t.Fatal(name, err)
				}
				if len(compared.Changes) > 0 {
					t.Errorf("%s: %s: %s, %+v", size, name, compared.Class, compared.Changes)
				}
				if mutations++; wanted.Record().Text() != kept {
					other++
				}
			})
		}
		if mutations < 200 || other < 60 {
			t.Errorf("%d values changed, and %d of them changed the node", mutations, other)
		}
		if again := render(); again.Record().Text() != kept {
			t.Error("a change was not undone")
		}
	}
}

// TestDriftOnRelease: what an owner names is compared also where only the release has changed it.
func TestDriftOnRelease(t *testing.T) {
	in := exampleInput(t)
	before := rendered(t, in).Record()
	image := hardcoded.Document.Node.Runtime.SandboxImage
	defer func() { hardcoded.Document.Node.Runtime.SandboxImage = image }()
	for _, named := range [][]string{nil, {"gpuDriver"}, {"sandboxImage"}} {
		in.Class.Spec.DriftOnRelease = named
		hardcoded.Document.Node.Runtime.SandboxImage = image + "x"
		compared, err := launch.Compare(before, rendered(t, in))
		if err != nil {
			t.Fatal(err)
		}
		if found, wanted := len(compared.Changes) > 0, len(named) == 1 && named[0] == "sandboxImage"; found != wanted {
			t.Errorf("%q: %+v", named, compared)
		}
	}
}
