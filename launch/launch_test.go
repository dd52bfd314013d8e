package launch_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	examples = "../examples/launch"
	// token begins one that must be found in user data alone.
	token = "canary"
)

func isUnknown(err error) bool { return errors.Is(err, launch.ErrUnknown) }

// inputs are all that one launch depends on, as documents.
type inputs struct {
	Settings, NodePool, NodeClass, NodeClaim, Detected, Images string
	Type                                                       string
	Types                                                      []byte
}

// names are the documents of inputs, by the names of the examples.
func (in *inputs) names() map[string]*string {
	return map[string]*string{
		"settings": &in.Settings, "nodepool": &in.NodePool, "nodeclass": &in.NodeClass, "nodeclaim": &in.NodeClaim,
		"detected": &in.Detected, "images": &in.Images,
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t testing.TB, data []byte) *document.Node {
	t.Helper()
	n, err := document.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// base are the examples.
func base(t testing.TB) *inputs {
	t.Helper()
	in := &inputs{Type: "Standard_D4ds_v5", Types: read(t, filepath.Join(examples, "skus.json"))}
	for name, at := range in.names() {
		*at = string(read(t, filepath.Join(examples, name+".yaml")))
	}
	return in
}

// with are the examples, with what a case says laid over them.
func with(t testing.TB, c *document.Node) *inputs {
	t.Helper()
	in := base(t)
	for name, at := range in.names() {
		switch over, said := c.Get(name); {
		case said && over.Kind == document.Null:
			*at = ""
		case said:
			merged := document.Merge(parse(t, []byte(*at)), over)
			*at = string(merged.Top.AppendJSON(nil))
		}
	}
	if n, ok := c.Get("type"); ok {
		in.Type = n.Text
	}
	return in
}

// decode reads the documents.
func (in *inputs) decode(t testing.TB) (cloud *azure.Input, request launch.Request, problems []nodeconfig.Problem) {
	t.Helper()
	cloud = new(azure.Input)
	var found []nodeconfig.Problem
	add := func(document string, list []nodeconfig.Problem) {
		for _, p := range list {
			if p.Document == "" {
				p.Document = document
			}
			problems = append(problems, p)
		}
	}
	cloud.Settings, found = azure.Reload(nil, azure.SettingsSource{Name: "settings.yaml", Document: []byte(in.Settings)})
	add("settings", found)
	if in.NodePool != "" {
		request.Pool = new(launch.NodePool)
		add("nodepool", launch.Read([]byte(in.NodePool), launch.KarpenterVersion, "NodePool", request.Pool))
	}
	if in.NodeClaim != "" {
		request.Claim = new(launch.NodeClaim)
		add("nodeclaim", launch.Read([]byte(in.NodeClaim), launch.KarpenterVersion, "NodeClaim", request.Claim))
	}
	if in.NodeClass != "" {
		cloud.Class, found = azure.ReadNodeClass([]byte(in.NodeClass))
		add("nodeclass", found)
	}
	if in.Detected != "" {
		cloud.Detected, found = azure.ReadDetected([]byte(in.Detected))
		add("detected", found)
	}
	if in.Images != "" {
		cloud.Images, found = azure.ReadImages([]byte(in.Images))
		add("images", found)
	}
	if in.Type != "" {
		var err error
		if cloud.Type, err = azure.ReadInstanceType(in.Types, in.Type, "eastus"); err != nil {
			add("skus", []nodeconfig.Problem{{Kind: nodeconfig.Missing, Path: "$", Reason: err.Error(), Fatal: true}})
		}
	}
	return cloud, request, problems
}

// show is a template with its explanation and problems, as a golden file has it.
func show(made *launch.Launch, problems []nodeconfig.Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "key %s\n", made.Key())
	for _, p := range problems {
		fmt.Fprintln(&b, p)
	}
	b.WriteString("\n")
	for _, v := range made.Explain("") {
		if v.Path == "$.node.cluster.certificateAuthority" {
			v.Value = "..."
		}
		fmt.Fprintf(&b, "%s = %s (%s, %s)\n", v.Path, v.Value, v.Source, v.Origin)
		for _, o := range v.Overrode {
			fmt.Fprintf(&b, "    overrode %s (%s, %s)\n", o.Value, o.Source, o.Origin)
		}
	}
	return b.String()
}

// cases are the golden templates: what each says is laid over the examples.
func cases(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(found) == 0 {
		t.Fatal("no cases", err)
	}
	return found
}

// TestGolden compares whole templates. A case is a document with what differs from the examples.
func TestGolden(t *testing.T) {
	for _, path := range cases(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			cloud, request, problems := with(t, parse(t, read(t, path))).decode(t)
			got := ""
			if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
				if onlyOf(fatal, cloud.Class) { // report all problems at once
					found := launch.Render(cloud, request).Problems()
					problems = launch.Problems(problems).Join(found...)
				}
				nodeconfig.SortProblems(problems)
				for _, p := range problems {
					got += p.String() + "\n"
				}
			} else {
				made := launch.Render(cloud, request)
				found := made.Problems()
				got = show(made, append(problems, found...))
				trespass(t, cloud, made)
			}
			if strings.Contains(got, "canary") {
				t.Error("a canary is shown")
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, golden)); got != want {
				t.Errorf("%s differs from %s; make golden rewrites it:\n%s", name, golden, got)
			}
		})
	}
}

// onlyOf reports whether problems are all of a class.
func onlyOf(problems []nodeconfig.Problem, class *azure.NodeClass) bool {
	return class != nil && !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Document != class.Origin() })
}

// trespass wants no layer to set what is not its own.
func trespass(t *testing.T, cloud *azure.Input, made *launch.Launch) {
	t.Helper()
	layers, _ := cloud.Layers()
	for _, found := range append(launch.Trespass(layers, cloud.Fields()), launch.Unplaced(layers)...) {
		t.Error(found)
	}
	for _, v := range made.Explain("") {
		if v.Source == launch.Computed && len(v.Overrode) > 0 {
			t.Errorf("%s is computed by %s over another value", v.Path, v.Origin)
		}
		if !slices.Contains(launch.SourcesOf(cloud.Fields(), v.Path), v.Source) {
			t.Errorf("%s: is not to be set by %s, %s", v.Path, v.Source, v.Origin)
		}
	}
}
