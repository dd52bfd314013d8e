package launch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// pairs are nodes that run and nodes that are wanted: each file says what of both differs from the examples.
func pairs(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/drift/*.yaml")
	if err != nil || len(found) < 30 {
		t.Fatal("there are not enough pairs", len(found), err)
	}
	return found
}

// pairOf are the templates of a pair.
func pairOf(t testing.TB, path string) (running, wanted *launch.Template) {
	t.Helper()
	tree := parse(t, read(t, path))
	var both [2]*launch.Template
	for i, name := range []string{"running", "wanted"} {
		over, ok := tree.Get(name)
		if !ok {
			t.Fatalf("%s does not say %s", path, name)
		}
		cloud, request, problems := with(t, over).decode(t)
		tpl, found := launch.Render(cloud, request)
		if fatal := nodeconfig.Fatal(append(problems, found...)); len(fatal) > 0 {
			t.Fatalf("%s, %s: %v", path, name, fatal)
		}
		both[i] = tpl
	}
	return both[0], both[1]
}

// TestDrift compares whole differences, with what they take on the running node, and with what a compact record tells of them.
func TestDrift(t *testing.T) {
	for _, path := range pairs(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			running, wanted := pairOf(t, path)
			c, err := launch.Compare(running, wanted)
			if err != nil {
				t.Fatal(err)
			}
			got := showChanges(c.Class, c.Changes)
			if c.Node != nil {
				got += fmt.Sprintf("\nthe node: %s, restarts %v\n", c.Node.Class, c.Node.Restarts)
				for _, change := range c.Node.Changes {
					got += fmt.Sprintf("%s %s %s %s\n", change.Class, change.How, change.Kind, change.Name)
				}
			}
			kept, err := launch.ParseCompact(running.Compact())
			if err != nil {
				t.Fatal(err)
			}
			told := kept.Diff(wanted)
			got += "\nby the compact record: " + showChanges(launch.Greatest(told), told)
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, golden)); got != want {
				t.Errorf("differs from %s; make golden rewrites it:\n%s", golden, got)
			}
			// Records tell the same.
			if kept, err := launch.CompareRecords(running.Record(), wanted.Record()); err != nil || !reflect.DeepEqual(kept, c) {
				t.Errorf("the records tell %+v, %v", kept, err)
			}
			if same := running.Key() == wanted.Key(); same != (len(told) == 0) {
				t.Errorf("the key is the same: %t, and the compact record tells of %d changes", same, len(told))
			}
		})
	}
}

// showChanges are changes for a golden file.
func showChanges(class launch.Drift, changes []launch.Change) string {
	text := string(class) + "\n"
	for _, c := range changes {
		for _, v := range []*string{&c.Old, &c.New} {
			if strings.Contains(*v, "CERTIFICATE") {
				*v = "..."
			}
		}
		text += fmt.Sprintf("%s %s: %q -> %q (%s)\n", c.Class, c.Path, c.Old, c.New, c.Reason)
	}
	return text
}

// TestSecretsDiffer: a secret that differs is a change, and is not shown.
func TestSecretsDiffer(t *testing.T) {
	_, _, templates := rendered(t, "example")
	document := launch.Copied(&templates[0].Document)
	document.Node.Runtime.Containerd.RegistryHeaders["X-Meta-Source-Client"] = nodeconfig.NewSecret("canary")
	c, err := launch.Compare(launch.TemplateOf(launch.Copied(&templates[0].Document)), launch.TemplateOf(document))
	if err != nil || len(c.Changes) != 1 || c.Changes[0].New != "changed" || c.Class != launch.InPlace || c.Node == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	other := launch.TemplateOf(document)
	if _, err := other.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(other.Record())
	if shown := fmt.Sprintf("%+v %+v %v %s %+v %s", c, *c.Node, other, other, other, record); err != nil || strings.Contains(shown, "canary") {
		t.Errorf("a secret is shown: %v", err)
	}
}

// TestCompact: a compact record is small, and one that is damaged is unknown and never a difference.
func TestCompact(t *testing.T) {
	_, _, templates := rendered(t)
	for _, tpl := range templates {
		record := tpl.Compact()
		kept, err := launch.ParseCompact(record)
		if err != nil || len(record) > launch.MaxCompact || kept.Key() != tpl.Key() || len(kept.Diff(tpl)) != 0 {
			t.Errorf("%d bytes, %v", len(record), err)
		}
	}
	// However many values there are, it stays small, and tells that one differs.
	many := launch.Copied(&templates[0].Document)
	for i := range 500 {
		many.Machine.Tags[fmt.Sprintf("tag-%d", i)] = "value"
	}
	before := launch.TemplateOf(launch.Copied(many))
	many.Machine.Tags["tag-250"] = "other"
	kept, err := launch.ParseCompact(before.Compact())
	if err != nil {
		t.Fatal(err)
	}
	if changes := kept.Diff(launch.TemplateOf(many)); len(before.Compact()) > launch.MaxCompact || len(changes) != 1 || changes[0].Path != "$.machine.tags" || changes[0].Class != launch.InPlace {
		t.Errorf("%d bytes, %+v", len(before.Compact()), changes)
	}
	good := templates[0].Compact()
	for i := range good {
		for _, bad := range []string{good[:i], good[:i] + "_" + good[i:], good[:i] + string(good[i]^1) + good[i+1:]} {
			if c, err := launch.ParseCompact(bad); err == nil && bad != good || err != nil && (!errors.Is(err, launch.ErrUnknown) || c != nil) {
				t.Fatalf("%q: %v, %v", bad, c, err)
			}
		}
	}
}

// FuzzParseCompact: what is kept with a claim may be anything.
func FuzzParseCompact(f *testing.F) {
	_, _, templates := rendered(f, "example")
	f.Add(templates[0].Compact())
	f.Fuzz(func(t *testing.T, record string) {
		c, err := launch.ParseCompact(record)
		if err != nil {
			if !errors.Is(err, launch.ErrUnknown) {
				t.Error(err)
			}
			return
		}
		for _, change := range c.Diff(templates[0]) {
			if change.Path == "" || change.Reason == "" {
				t.Errorf("%+v", change)
			}
		}
	})
}

// TestEveryFieldHasAClass goes through all fields of a document by its types. Each, set alone, is in the difference, and changes
// the key unless a row says why it is ignored.
func TestEveryFieldHasAClass(t *testing.T) {
	seen := 0
	eachField(reflect.TypeFor[launch.Document](), "$", func(path string, set func(*launch.Document)) {
		seen++
		var with launch.Document
		set(&with)
		class, reason := launch.DriftOf(path)
		if reason == "" {
			t.Errorf("%s has no class", path)
		}
		none, other := launch.TemplateOf(new(launch.Document)), launch.TemplateOf(&with)
		if changes := launch.Diff(none.Record(), other.Record()); !slices.ContainsFunc(changes, func(c launch.Change) bool { return document.Within(c.Path, path) || document.Within(path, c.Path) }) {
			t.Errorf("%s: set, and the difference is %v", path, changes)
		}
		if told, err := launch.ParseCompact(none.Compact()); err != nil || (len(told.Diff(other)) > 0) != (class != launch.Ignore) {
			t.Errorf("%s: is of the class %q, and the compact record does not say so: %v", path, class, err)
		}
	})
	if seen < 200 {
		t.Errorf("only %d fields", seen)
	}
}

// eachField calls visit for each field within a type that holds a value, with a function that sets it.
func eachField(in reflect.Type, path string, visit func(path string, set func(*launch.Document))) {
	var within func(in reflect.Type, path string, at func(*launch.Document) reflect.Value)
	within = func(in reflect.Type, path string, at func(*launch.Document) reflect.Value) {
		switch in.Kind() {
		case reflect.Pointer:
			within(in.Elem(), path, func(d *launch.Document) reflect.Value {
				v := at(d)
				if v.IsNil() {
					v.Set(reflect.New(in.Elem()))
				}
				return v.Elem()
			})
			return
		case reflect.Struct:
			if in != reflect.TypeFor[nodeconfig.Secret]() {
				for i := range in.NumField() {
					if names := document.JSONNames(in.Field(i)); len(names) > 0 {
						within(in.Field(i).Type, document.FieldPath(path, names[0]), func(d *launch.Document) reflect.Value { return at(d).Field(i) })
					}
				}
				return
			}
		}
		visit(path, func(d *launch.Document) { launch.SetAny(at(d)) })
	}
	within(in, path, func(d *launch.Document) reflect.Value { return reflect.ValueOf(d).Elem() })
}
