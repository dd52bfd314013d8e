package difference

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

func wellFormed(t *testing.T, name string, class Class, reason, source string) {
	t.Helper()
	if reason == "" || source == "" || strings.HasSuffix(reason, ".") || strings.ContainsAny(reason+source, "\n\t") {
		t.Errorf("%s: reason %q, source %q", name, reason, source)
	}
	if class < None || class > Replace {
		t.Errorf("%s has class %d", name, class)
	}
}

func TestKubeletTable(t *testing.T) {
	const minor = 36
	seen, last := make(map[string]bool), Replace
	for _, row := range kubeletTable {
		name := nameOf(row)
		wellFormed(t, name, row.Class, row.Reason, row.Source)
		if row.Field == "" && row.Flag == "" || seen[name] || row.Class > last {
			t.Errorf("%s has no name, or one of another row, or is out of order", name)
		}
		if unknown := kubeletapi.DescribeField(strings.Split(row.Field, ".")).Unknown; row.Field != "" && unknown != "" {
			t.Errorf("%s: %s", name, unknown)
		}
		if unknown := kubeletapi.DescribeFlag(row.Flag).Unknown; row.Flag != "" && unknown != "" {
			t.Errorf("%s: %s", name, unknown)
		}
		if field := kubeletapi.FieldOf(minor, row.Flag); field != "" && field != row.Field {
			t.Errorf("--%s sets %s, and not %s", row.Flag, field, row.Field)
		}
		if field, _, ok := strings.Cut(row.While, "="); ok && !slices.ContainsFunc(kubeletTable, func(r kubeletRow) bool { return r.Field == field }) {
			t.Errorf("%s is for kubelets with %s, which has no row", name, field)
		}
		seen[name], last = true, row.Class
	}
}

func TestOtherTables(t *testing.T) {
	last := Replace
	for _, row := range runtimeTable {
		wellFormed(t, row.Setting, row.Class, row.Reason, row.Source)
		if row.Class > last {
			t.Errorf("%s is out of order", row.Setting)
		}
		last = row.Class
	}
	last = Replace
	for _, row := range ruleTable {
		wellFormed(t, fmt.Sprint(row.Kind, row.Names), row.Class, row.Reason, row.Source)
		if row.Class > last || row.On == 0 {
			t.Errorf("%s %v is out of order, or for nothing", row.Kind, row.Names)
		}
		last = row.Class
	}
	for _, row := range []ruleRow{
		authorityExtended, authorityReplaced, serverReplaced, bootstrapIgnored,
		versionPatch, versionUpgrade, versionUnknown, versionDowngrade,
	} {
		wellFormed(t, row.Reason, row.Class, row.Reason, row.Source)
	}
}

// nameOf is what the cases call a row.
func nameOf(row kubeletRow) string {
	name := row.Field
	if name == "" {
		name = "--" + row.Flag
	}
	if row.While != "" {
		name += " while " + row.While
	}
	return name
}

// kubeletPlan is a node with settings in its configuration file, and with flags.
func kubeletPlan(config map[string]*document.Node, flags map[string]string) resource.Plan {
	places := profile.All()[0].Paths
	inConfig, inFlags := places.KubeletConfig, places.KubeletEnv
	values := resource.Node{Kubelet: make(map[string]string), In: resource.IDOf(&resource.File{Path: inConfig})}
	document := document.Node{Kind: document.Map, Fields: []document.Field{{Name: "kind", Value: document.Node{Kind: document.String, Text: "KubeletConfiguration"}}}}
	for name, value := range config {
		values.Kubelet[name] = plainText(value)
		document.Fields = append(document.Fields, field(name, *value))
	}
	args := "ARGS="
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		values.Argue(name, flags[name], resource.IDOf(&resource.File{Path: inFlags}))
		args += " --" + name + "=" + flags[name]
	}
	p := node(file(inConfig, string(document.AppendJSON(nil)), plan.KubeletUnit), file(inFlags, args, plan.KubeletUnit))
	p.Node = values
	return p
}

func field(name string, value document.Node) document.Field {
	return document.Field{Name: name, Value: value}
}

// plainText is a value of the file as the flag of the same setting would have it.
func plainText(n *document.Node) string {
	var words []string
	switch {
	case n.Kind == document.List && !slices.ContainsFunc(n.Items, isComposite):
		for _, item := range n.Items {
			words = append(words, item.Text)
		}
	case n.Kind == document.Map && !slices.ContainsFunc(n.Fields, func(f document.Field) bool { return isComposite(f.Value) }):
		for _, f := range n.Fields {
			words = append(words, f.Name+"="+f.Value.Text)
		}
	case isComposite(*n):
		return string(n.AppendJSON(nil))
	default:
		return n.Text
	}
	return strings.Join(words, ",")
}

func isComposite(n document.Node) bool { return n.Kind == document.List || n.Kind == document.Map }

// settings returns a plan with a setting in the file if inFile is true, and in the flags otherwise.
func settings(row kubeletRow, value *document.Node, inFile bool) resource.Plan {
	config, flags := make(map[string]*document.Node), make(map[string]string)
	if name, wanted, ok := strings.Cut(row.While, "="); ok {
		config[name] = &document.Node{Kind: document.String, Text: wanted}
	}
	switch {
	case value == nil:
	case inFile:
		config[row.Field] = value
	default:
		flags[row.Flag] = plainText(value)
	}
	return kubeletPlan(config, flags)
}

func TestKubeletCases(t *testing.T) {
	cases, err := document.Parse(read(t, "testdata/kubelet.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases.Fields) != len(kubeletTable) {
		t.Errorf("%d cases for %d rows", len(cases.Fields), len(kubeletTable))
	}
	for _, row := range kubeletTable {
		name := nameOf(row)
		c, ok := cases.Get(name)
		if !ok {
			t.Errorf("%s has no case", name)
			continue
		}
		before, _ := c.Get("before")
		after, _ := c.Get("after")
		want, _ := c.Get("class")
		for _, inFile := range []bool{true, false} {
			if inFile && row.Field == "" || !inFile && (row.Flag == "" || before != nil && isComposite(*before) && plainText(before) == string(before.AppendJSON(nil))) {
				continue
			}
			a, b := settings(row, before, inFile), settings(row, after, inFile)
			for _, d := range []*Difference{of(t, a, b), of(t, b, a)} {
				at := slices.IndexFunc(d.Changed, func(c Change) bool { return c.Class == d.Class })
				if d.Class.String() != want.Text || at < 0 || !strings.HasSuffix(d.Changed[at].Reasons[0].What, map[bool]string{true: row.Field, false: row.Flag}[inFile]) || len(d.Changed) != 1 {
					t.Errorf("%s, in the file %v: class %s, want %s: %+v", name, inFile, d.Class, want.Text, d.Changed)
				}
			}
		}
		if row.Field != "" && row.Flag != "" && after != nil && !strings.HasPrefix(plainText(after), "[") {
			moved := of(t, settings(row, after, true), settings(row, after, false))
			if moved.Class != classOfMove(row) || len(moved.Changed) != 2 || strings.Contains(fmt.Sprint(moved.Beyond(None)), row.Reason) {
				t.Errorf("%s, moved to a flag: %+v", name, moved.Beyond(None))
			}
		}
		if row.Default != "" {
			written := &document.Node{Kind: document.String, Text: row.Default}
			if d := of(t, settings(row, nil, row.Field != ""), settings(row, written, row.Field != "")); strings.Contains(fmt.Sprint(d.Beyond(None)), row.Reason) {
				t.Errorf("%s: its default, written down, is a change: %+v", name, d.Beyond(None))
			}
		}
	}
}

// classOfMove is what it takes when a setting moves between the file and the flags.
func classOfMove(row kubeletRow) Class {
	if row.Class == None {
		return None
	}
	return Restart
}

// A row that is for some kubelets is not for others.
func TestWhile(t *testing.T) {
	reserve := func(cpus string) map[string]*document.Node {
		return map[string]*document.Node{"reservedSystemCPUs": {Kind: document.String, Text: cpus}}
	}
	if d := of(t, kubeletPlan(reserve("0"), nil), kubeletPlan(reserve("1"), nil)); d.Class != Restart {
		t.Errorf("reserved CPUs, without the static policy: %s", d.Class)
	}
}
