package launch_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

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

// TestDrift compares whole differences, with what they take on the running node, and with what a compact record shows of them.
func TestDrift(t *testing.T) {
	for _, path := range pairs(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			running, wanted := pairOf(t, path)
			c, err := launch.CompareRecords(running.Record(), wanted.Record())
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
			if same := running.Key() == wanted.Key(); same != (len(told) == 0) {
				t.Errorf("the key is the same: %t, and the compact record has %d changes", same, len(told))
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
	document := launch.Copied(&templates[0].Document)
	document.Node.Runtime.Containerd.RegistryHeaders["X-Meta-Source-Client"] = nodeconfig.NewSecret("canary")
	other := launch.TemplateOf(document)
	c, err := launch.CompareRecords(templates[0].Record(), other.Record())
	if err != nil || len(c.Changes) != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := other.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(other.Record())
	if shown := fmt.Sprintf("%+v %v %s %+v %s", c, other, other, other, record); err != nil || strings.Contains(shown, "canary") {
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
	// However many values there are, it stays small, and shows that one differs.
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

// TestCompactShows: what a compact record shows of each pair, in both directions, is what the whole records show: the same paths, or that
// of the map that a field was in, and what they were, where it has that.
func TestCompactShows(t *testing.T) {
	olds, exact := 0, 0
	for _, path := range pairs(t) {
		running, wanted := pairOf(t, path)
		for _, both := range [][2]*launch.Template{{running, wanted}, {wanted, running}} {
			kept, err := launch.ParseCompact(both[0].Compact())
			if err != nil {
				t.Fatal(err)
			}
			all := launch.Diff(both[0].Record(), both[1].Record())
			for _, told := range kept.Diff(both[1]) {
				i := slices.IndexFunc(all, func(c launch.Change) bool { return document.Within(c.Path, told.Path) && c.Class == told.Class })
				switch {
				case i < 0 || told.Path == "$" || told.Reason == "":
					t.Errorf("%s: reports %+v", path, told)
				case told.Path == all[i].Path:
					exact++
				}
				if told.Old != "" && i >= 0 {
					olds++
					if told.Old != all[i].Old {
						t.Errorf("%s: reports that %s was %q, and it was %q", path, told.Path, told.Old, all[i].Old)
					}
				}
			}
		}
	}
	if olds < 15 || exact < 120 {
		t.Errorf("reports %d paths and %d values of before", exact, olds)
	}
}

// TestCompactNames: the name of a user's own label, tag or parameter is told when it is gone; where there is no room for a name, the map that had it.
func TestCompactNames(t *testing.T) {
	render := func(over string) *launch.Template {
		cloud, request, problems := with(t, parse(t, []byte(over))).decode(t)
		tpl, found := launch.Render(cloud, request)
		if fatal := nodeconfig.Fatal(append(problems, found...)); len(fatal) > 0 {
			t.Fatal(fatal)
		}
		return tpl
	}
	for over, want := range map[string]string{
		"nodeclaim: {metadata: {labels: {example.com/tier: web}}}":                                                             `refresh $.node.kubelet.labels["example.com/tier"]`,
		"nodeclass: {spec: {tags: {owner: me}}}":                                                                               "in place $.machine.tags.owner",
		"nodeclass: {spec: {linuxOSConfig: {sysctls: {vmSwappiness: 10}}}}":                                                    `in place $.node.system.sysctls["vm.swappiness"]`,
		"nodeclass: {spec: {kubelet: {imageGCHighThresholdPercent: 90, podPidsLimit: 50, topologyManagerPolicy: restricted}}}": "in place $.node.kubelet.config",
	} {
		kept, err := launch.ParseCompact(render(over).Compact())
		if err != nil {
			t.Fatal(err)
		}
		told := kept.Diff(render("type: Standard_D4ds_v5"))
		if !slices.ContainsFunc(told, func(c launch.Change) bool { return string(c.Class)+" "+c.Path == want }) {
			t.Errorf("%s: reports %+v, want %s", over, told, want)
		}
	}
}

// FuzzParseCompact: what is kept with a claim may be anything, also with a good checksum.
func FuzzParseCompact(f *testing.F) {
	_, _, templates := rendered(f, "example")
	f.Add(templates[0].Compact(), []byte{})
	_, encoded, _ := strings.Cut(templates[0].Compact(), ".")
	data, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("", data[:len(data)-4])
	f.Fuzz(func(t *testing.T, record string, data []byte) {
		for _, record := range []string{record, launch.Sealed("r2-", templates[0].Key(), data)} {
			c, err := launch.ParseCompact(record)
			if err != nil {
				if !errors.Is(err, launch.ErrUnknown) {
					t.Error(err)
				}
				continue
			}
			for _, change := range c.Diff(templates[0]) {
				if change.Path == "" || change.Reason == "" || change.Class == "" || strings.ContainsFunc(change.Old, unicode.IsControl) {
					t.Errorf("%+v", change)
				}
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
