package launch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// rendered are the templates of cases, of all where none is named.
func rendered(t testing.TB, names ...string) (clouds []*azure.Input, requests []launch.Request, templates []*launch.Launch) {
	t.Helper()
	for _, path := range cases(t) {
		if len(names) > 0 && !slices.Contains(names, strings.TrimSuffix(filepath.Base(path), ".yaml")) {
			continue
		}
		cloud, request, problems := with(t, parse(t, read(t, path))).decode(t)
		if len(nodeconfig.Fatal(problems)) == 0 {
			made := launch.Render(cloud, request)
			clouds, requests, templates = append(clouds, cloud), append(requests, request), append(templates, made)
		}
	}
	return clouds, requests, templates
}

func within(path string, above []string) bool {
	return slices.ContainsFunc(above, func(a string) bool { return document.Within(path, a) || document.Within(a, path) })
}

// effect is what a rule makes of a document: what it sets, and how many problems it finds.
func effect(r launch.Rule, d *launch.Document) map[string]string {
	before, after := launch.Values(d), launch.Copied(d)
	problems := r.Run(after)
	changed := map[string]string{"problems": fmt.Sprint(len(problems))}
	for path, value := range launch.Values(after) {
		if was, said := before[path]; !said || was != value {
			changed[path] = value
		}
	}
	return changed
}

// TestRulesSetDifferentFields holds what an explanation takes for granted: a value that the layers do not have is that of the one
// rule that sets it.
func TestRulesSetDifferentFields(t *testing.T) {
	clouds, _, _ := rendered(t, "node-subnet")
	setter := make(map[string]string)
	for _, r := range clouds[0].Rules() {
		for _, path := range r.Sets {
			for other, name := range setter {
				if document.Within(path, other) || document.Within(other, path) {
					t.Errorf("%s sets %s, and %s sets %s", r.Name, path, name, other)
				}
			}
			setter[path] = r.Name
		}
	}
}

// TestRules changes each value of these cases alone. A rule sets only the paths in its Sets, and its result depends only on the paths
// in its Reads.
func TestRules(t *testing.T) {
	clouds, requests, _ := rendered(t, "node-subnet", "local-dns", "gpu")
	for i, cloud := range clouds {
		layers, _ := cloud.Layers()
		merged := launch.Merged(append(layers, launch.PoolLayer(requests[i], cloud)))
		for _, r := range cloud.Rules() {
			usual := effect(r, merged)
			for path := range usual {
				if path != "problems" && !within(path, r.Sets) {
					t.Errorf("%s sets %s, and does not say so", r.Name, path)
				}
			}
			for path := range launch.Values(merged) {
				changed := launch.Copied(merged)
				if within(path, r.Reads) || within(path, r.Sets) || !launch.Mutate(changed, path) {
					continue
				}
				if got := effect(r, changed); !reflect.DeepEqual(got, usual) {
					t.Errorf("%s reads %s, and does not say so:\n%v\n%v", r.Name, path, usual, got)
				}
			}
			r.Run(merged)
		}
	}
}

// TestNullSaysNothing: a program may have decoded settings of the kubelet that are null.
func TestNullSaysNothing(t *testing.T) {
	d := new(launch.Document)
	d.Node.Kubelet.Config = map[string]any{"maxPods": nil, "evictionHard": map[string]any{"memory.available": nil}}
	if got := launch.Explain([]launch.Layer{{Source: launch.Pool, Document: d}, {Source: launch.Class}}); len(got) > 0 {
		t.Errorf("%v is explained", got)
	}
}

// TestSameBytes: the same input has the same bytes, each of a thousand times, and for several goroutines that use one base.
func TestSameBytes(t *testing.T) {
	in := base(t)
	cloud, request, _ := in.decode(t)
	shared := launch.Prepare(cloud)
	first := shared(request)
	want := bytesOf(t, first)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 250 {
				if made := shared(request); bytesOf(t, made) != want {
					t.Error("the same input has other bytes")
					return
				}
			}
		})
	}
	for range 1000 {
		cloud, request, _ := in.decode(t)
		if made := launch.Render(cloud, request); bytesOf(t, made) != want {
			t.Fatal("the same documents have other bytes")
		}
	}
	all.Wait()
}

// bytesOf is what is made of a template, with the key: for the machine, and to be kept.
func bytesOf(t *testing.T, made *launch.Launch) string {
	contract, err := made.Contract(nodeconfig.NewSecret("abcdef.0123456789abcdef"))
	if err != nil {
		t.Error(err)
		return ""
	}
	record, err := json.Marshal(made.Record())
	if err != nil {
		t.Error(err)
	}
	return string(contract.Document) + string(record) + made.Record().Text()
}

// TestLayersInAnyOrder: the order of layers does not matter, but for two of one source, of which the later one is stronger.
func TestLayersInAnyOrder(t *testing.T) {
	cloud, _, _ := base(t).decode(t)
	layers, _ := cloud.Layers()
	want := launch.Values(launch.Merged(layers))
	for range 100 {
		ranks := rand.Perm(len(launch.Sources()))
		rank := func(l launch.Layer) int { return ranks[slices.Index(launch.Sources(), l.Source)] }
		slices.SortStableFunc(layers, func(a, b launch.Layer) int { return rank(a) - rank(b) })
		if got := launch.Values(launch.Merged(layers)); !reflect.DeepEqual(got, want) {
			t.Fatal("the order of layers matters")
		}
	}
}

// TestOverlayOfMachines holds that no field of a machine is forgotten where layers are merged, and that nothing is shared.
func TestOverlayOfMachines(t *testing.T) {
	var from, into launch.Machine
	launch.SetAll(&from)
	document.Overlay(&into, &from)
	if !reflect.DeepEqual(from, into) {
		t.Errorf("%+v\n%+v", from, into)
	}
	into.Tags["key"], *into.MaxPods, into.Identities[0] = "other", 9, "other"
	if from.Tags["key"] != "text" || *from.MaxPods != 7 || from.Identities[0] != "text" {
		t.Error("something is shared")
	}
}

// TestEveryFieldDiffers holds that each value of each case that changes is in the difference, with a reason and the class of its row, and
// changes the key. Where the node's own plan is the same, the contract is written otherwise and there is no difference.
func TestEveryFieldDiffers(t *testing.T) {
	_, _, templates := rendered(t)
	seen, samePlan := make(map[string]bool), 0
	for _, made := range templates {
		before := launch.Of(launch.Copied(made.Document()))
		for path := range launch.Values(made.Document()) {
			changed := launch.Copied(made.Document())
			if seen[path] || !launch.Mutate(changed, path) {
				continue
			}
			seen[path] = true
			class, _ := launch.DriftOf(path)
			other := launch.Of(changed)
			if path == "$.node.cluster.name" || class == launch.Ignore {
				continue
			}
			if before.Key() == other.Key() {
				t.Errorf("%s: changed, and the key is the same", path)
			}
			c := comparedWith(t, before, other)
			i := slices.IndexFunc(c.Changes, func(c launch.Change) bool { return strings.EqualFold(c.Path, path) })
			switch {
			case i < 0 && class == launch.InPlace && strings.HasPrefix(path, "$.node."):
				samePlan++
			case i < 0 || c.Changes[i].Reason == "" || c.Changes[i].Old == c.Changes[i].New || c.Changes[i].Class.Takes() < class.Takes():
				t.Errorf("%s: changed, and the difference is %v", path, c.Changes)
			}
		}
	}
	if len(seen) < 100 || samePlan > 25 {
		t.Errorf("only %d values, or %d that change no plan", len(seen), samePlan)
	}
}

// TestUnknownRecords: a record that is damaged, of another version or of another cluster is unknown.
func TestUnknownRecords(t *testing.T) {
	cloud, request, _ := base(t).decode(t)
	made := launch.Render(cloud, request)
	good, err := json.Marshal(made.Record())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := launch.ParseRecord(good); err != nil || r.Key != made.Key() {
		t.Errorf("%v, %v", r, err)
	}
	for _, bad := range []string{
		"", "{", "[]", "{}", string(good[:len(good)/2]), strings.Replace(string(good), `"k2-`, `"k1-`, 1),
		strings.Replace(string(good), "LaunchTemplate", "NodeConfig", 1),
	} {
		if r, err := launch.ParseRecord([]byte(bad)); r != nil || !isUnknown(err) {
			t.Errorf("%.40q: %v, %v", bad, r, err)
		}
	}
	for _, bad := range []string{
		strings.Replace(string(good), `"name":"example"`, `"name":"another"`, 1), strings.Replace(string(good), `"sizeGB":100`, `"sizeGB":"much"`, 1),
	} {
		r, err := launch.ParseRecord([]byte(strings.Replace(bad, made.Key(), "k2-0", 1)))
		if err != nil || bad == string(good) {
			t.Fatal(bad, err)
		}
		if c, err := launch.Compare(r, made); c != nil || !isUnknown(err) {
			t.Errorf("%.40q: %+v, %v", bad, c, err)
		}
	}
}

// TestToken: only the user data has the token. UserData refuses a malformed token, and its error does not repeat the text.
func TestToken(t *testing.T) {
	in := base(t)
	in.Settings += "\nkubelet-bootstrap-token: " + token + ".0123456789canary\n"
	cloud, request, problems := in.decode(t)
	made := launch.Render(cloud, request)
	found := made.Problems()
	record, _ := json.Marshal(made.Record())
	for _, shown := range []string{fmt.Sprint(problems, found), string(record), show(made, found), fmt.Sprintf("%+v", cloud.Settings.BootstrapToken), fmt.Sprintf("%v", made.Document())} {
		if strings.Contains(shown, "canary") {
			t.Errorf("a token is shown: %s", shown)
		}
	}
	contract, err := made.Contract(cloud.Settings.BootstrapToken)
	if err != nil || !bytes.Contains(contract.Document, []byte(token+".0123456789canary")) {
		t.Errorf("the contract has no token: %v", err)
	}
	for _, bad := range []string{"", "x", "abcdef.0123456789abcde", "ABCDEF.0123456789abcdef", "abcdef-0123456789abcdef", "abcdef.0123456789abcde\"", "abcdef.0123456789abcdef0"} {
		if _, err := made.UserData(nodeconfig.NewSecret(bad)); err != launch.ErrToken {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzRender reads hostile documents, and renders what comes of them.
func FuzzRender(f *testing.F) {
	in := base(f)
	for kind, at := range []*string{&in.Settings, &in.NodePool, &in.NodeClass, &in.NodeClaim, &in.Detected, &in.Images} {
		f.Add(kind, *at)
	}
	for _, path := range cases(f) {
		c := parse(f, read(f, path))
		for kind, name := range []string{"settings", "nodepool", "nodeclass", "nodeclaim", "detected", "images"} {
			if over, ok := c.Get(name); ok && over.Kind == document.Map {
				f.Add(kind, *with(f, c).names()[name])
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind int, text string) {
		in := base(t)
		fields := []*string{&in.Settings, &in.NodePool, &in.NodeClass, &in.NodeClaim, &in.Detected, &in.Images}
		*fields[max(kind, 0)%len(fields)] = text
		cloud, request, problems := in.decode(t)
		if len(nodeconfig.Fatal(problems)) > 0 {
			return
		}
		made := launch.Render(cloud, request)
		found := made.Problems()
		contract, err := made.Contract(nodeconfig.NewSecret("abcdef.0123456789abcdef"))
		if isRefused := len(nodeconfig.Fatal(found)) > 0; isRefused != (err != nil) {
			t.Fatalf("%v, and the problems are %v", err, found)
		}
		if userData, err := made.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef")); (err != nil) != (userData == "") {
			t.Fatalf("%v, and user data of %d bytes", err, len(userData))
		}
		if n := strings.Count(string(contract.Document), "karpenter.sh/unregistered"); n < 1 && len(nodeconfig.Fatal(found)) == 0 {
			t.Error("the node has no taint until it has registered")
		}
		again := launch.Render(cloud, request)
		if again.Key() != made.Key() || again.Record().Text() != made.Record().Text() {
			t.Error("the same input makes another template")
		}
	})
}
