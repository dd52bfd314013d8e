package launch_test

import (
	"crypto/sha256"
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

// pairs returns the files with pairs of a running node and a wanted one. Each file has what differs from the examples in both.
func pairs(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/drift/*.yaml")
	if err != nil || len(found) < 30 {
		t.Fatal("there are not enough pairs", len(found), err)
	}
	return found
}

// pairOf are the templates of a pair.
func pairOf(t testing.TB, path string) (running, wanted *launch.Launch) {
	t.Helper()
	tree := parse(t, read(t, path))
	var both [2]*launch.Launch
	for i, name := range []string{"running", "wanted"} {
		over, ok := tree.Get(name)
		if !ok {
			t.Fatalf("%s does not say %s", path, name)
		}
		cloud, request, problems := with(t, over).decode(t)
		made := launch.Render(cloud, request)
		found := made.Problems()
		if fatal := nodeconfig.Fatal(append(problems, found...)); len(fatal) > 0 {
			t.Fatalf("%s, %s: %v", path, name, fatal)
		}
		both[i] = made
	}
	return both[0], both[1]
}

// comparedWith is what is kept of a node and what is wanted, compared as a program does it: the record has been an annotation.
func comparedWith(t testing.TB, running, wanted *launch.Launch) *launch.Comparison {
	t.Helper()
	kept, err := launch.ParseRecord([]byte(running.Record().Text()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := launch.Compare(kept, wanted)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDrift compares whole differences, with what they take on the running node.
func TestDrift(t *testing.T) {
	for _, path := range pairs(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			running, wanted := pairOf(t, path)
			c := comparedWith(t, running, wanted)
			got := showChanges(c.Class, c.Changes)
			if c.Node != nil {
				got += fmt.Sprintf("\nthe node: %s, restarts %v\n", c.Node.Class, c.Node.Restarts)
				for _, change := range c.Node.Changes {
					got += fmt.Sprintf("%s %s %s %s\n", change.Class, change.How, change.Kind, change.Name)
				}
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, golden)); got != want {
				t.Errorf("differs from %s; make golden rewrites it:\n%s", golden, got)
			}
			if running.Key() == wanted.Key() && len(c.Changes) > 0 {
				t.Errorf("the key is the same, and there are %d changes", len(c.Changes))
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

// A secret of a template is shown nowhere, and is in no record.
func TestSecretsAreNotRecorded(t *testing.T) {
	_, _, templates := rendered(t, "example")
	document := launch.Copied(templates[0].Document())
	document.Node.Runtime.Containerd.RegistryHeaders["X-Meta-Source-Client"] = nodeconfig.NewSecret("canary")
	other := launch.Of(document)
	c := comparedWith(t, launch.Of(launch.Copied(templates[0].Document())), other)
	if len(c.Changes) != 0 {
		t.Fatalf("%+v", c)
	}
	if _, err := other.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(other.Record())
	if shown := fmt.Sprintf("%+v %v %s %+v %s", c, other, other, other, record); err != nil || strings.Contains(shown, "canary") {
		t.Errorf("a secret is shown: %v", err)
	}
}

// TestRecord: a record has a limit, also where there is more to say, and one that is damaged is unknown and never a difference.
func TestRecord(t *testing.T) {
	_, _, templates := rendered(t)
	for _, made := range templates {
		text := made.Record().Text()
		kept, err := launch.ParseRecord([]byte(text))
		if err != nil || len(text) > launch.MaxRecord || kept.Key != made.Key() {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
	many := launch.Copied(templates[0].Document())
	for i := range 500 {
		many.Machine.Tags[fmt.Sprintf("tag-%d", i)] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	before := launch.Of(launch.Copied(many))
	if c := comparedWith(t, before, launch.Of(launch.Copied(many))); len(c.Changes) > 0 {
		t.Errorf("%+v", c)
	}
	many.Machine.Tags["tag-250"] = "other"
	c := comparedWith(t, before, launch.Of(many))
	if len(before.Record().Text()) > launch.MaxRecord || len(c.Changes) != 1 || c.Changes[0].Path != "$.machine.tags" || c.Class != launch.InPlace {
		t.Errorf("%d bytes, %+v", len(before.Record().Text()), c)
	}
	good := templates[0].Record().Text()
	for i := range good {
		for _, bad := range []string{good[:i], good[:i] + "_" + good[i:], good[:i] + string(good[i]^1) + good[i+1:]} {
			r, err := launch.ParseRecord([]byte(bad))
			if err == nil && r.Text() != good || err != nil && (!errors.Is(err, launch.ErrUnknown) || r != nil) { // the time in a header counts for nothing
				t.Fatalf("%q: %v", bad, err)
			}
		}
	}
}

// FuzzCompare: what is kept with a claim may be anything.
func FuzzCompare(f *testing.F) {
	_, _, templates := rendered(f, "example")
	data, err := json.Marshal(templates[0].Record())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(templates[0].Record().Text()))
	const head = `{"apiVersion":"slipway.dev/v1","kind":"LaunchTemplate","key":"k2-0",`
	f.Add([]byte(head + `"given":{"machine":{"zone":"eastus-2","":""},"node":null},"chosen":{}}`))
	f.Add([]byte(head + `"given":{},"chosen":{"node":{"kubelet":{"labels":{"empty":""}}}},"digests":{"$":"x","$.machine[":"y"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := launch.ParseRecord(data)
		if err == nil {
			if again, err := launch.ParseRecord([]byte(r.Text())); err != nil || again.Key != r.Key {
				t.Errorf("written again it is %v, %v", again, err)
			}
			var c *launch.Comparison
			if c, err = launch.Compare(r, templates[0]); err == nil {
				for _, change := range c.Changes {
					if change.Path == "" || change.Reason == "" || change.Class == "" {
						t.Errorf("%+v", change)
					}
				}
			}
		}
		if err != nil && !errors.Is(err, launch.ErrUnknown) {
			t.Error(err)
		}
	})
}

// TestEveryFieldHasAClass visits all fields of a document by its types. Each has a class and a reason. If one field is set, Compare
// finds it, unless its class is Ignore.
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
		c := comparedWith(t, launch.Of(new(launch.Document)), launch.Of(&with))
		found := slices.ContainsFunc(c.Changes, func(c launch.Change) bool { return document.Within(c.Path, path) || document.Within(path, c.Path) })
		if isSecret := strings.Contains(fmt.Sprint(launch.Values(&with)), nodeconfig.Redacted); !found && class != launch.Ignore && !isSecret && class == launch.Replace {
			t.Errorf("%s: set, and the difference is %v", path, c.Changes)
		}
	})
	if seen < 200 {
		t.Errorf("only %d fields", seen)
	}
}

// TestDriftDocument writes the table of docs/launch.md with what a difference takes.
func TestDriftDocument(t *testing.T) {
	const path, begin, end = "../docs/launch.md", "<!-- table: drift -->\n", "<!-- end -->\n"
	before := string(read(t, path))
	head, rest, found := strings.Cut(before, begin)
	_, tail, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("%s has no place for the table", path)
	}
	after := head + begin + launch.DriftTable() + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if after != before {
		t.Errorf("the table of %s is not what decides; go test ./launch -run TestDriftDocument -update rewrites it", path)
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
