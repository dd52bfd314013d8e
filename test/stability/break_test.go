package stability

import (
	"go/types"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/exp/apidiff"
)

// changes are changes of this checkout's facts, one of each kind, with what the comparison must find.
var changes = []struct {
	kind, name string
	// attribute is the changed one, and words what it has then. With no attribute, the name is removed, or added if it is missing.
	attribute string
	words     []string
	// want is the break, or empty if users notice nothing.
	want string
}{
	{"schema", "native $.kubelet", "", nil, "schema native $.kubelet: it is removed"},
	{"schema", "native $.cluster.kubernetesVersion", "", nil, "schema native $.cluster.kubernetesVersion: it is removed"},
	{"schema", "native $.kubelet.labels", "type", []string{"array", "null"}, "schema native $.kubelet.labels: its type was null, object, and is array, null"},
	{"schema", "native $.kubelet.labels", "type", []string{"array", "null", "object"}, ""},
	{"schema", "native $.kubelet.taints[].effect", "enum", []string{"NoSchedule"}, "schema native $.kubelet.taints[].effect: its enum was"},
	{"schema", "native $.metadata.name", "enum", []string{"worker"}, "schema native $.metadata.name: its enum was not set, and is worker"},
	{"schema", "native $.cloud.azure.backoff.retries", "maximum", []string{"9"}, "schema native $.cloud.azure.backoff.retries: its maximum was 2147483647, and is 9"},
	{"schema", "native $.cloud.azure.backoff.retries", "minimum", []string{"0"}, "schema native $.cloud.azure.backoff.retries: its minimum was -2147483648, and is 0"},
	{"schema", "native $.cloud.azure.backoff.retries", "minimum", []string{"-3000000000"}, ""},
	{"schema", "native $.metadata.name", "required", []string{"yes"}, "schema native $.metadata.name: its required was not set, and is yes"},
	{"schema", "native $.kubelet.labels", "closed", []string{"yes"}, "schema native $.kubelet.labels: its closed was not set, and is yes"},
	{"schema", "native $.metadata.owner", "type", []string{"string"}, ""},
	{"schema", "native $.metadata.owner", "required", []string{"yes"}, "schema native $.metadata.owner: it is new and required"},
	{"schema", "aks $.cluster_config", "spelling", []string{"cluster_config"}, "schema aks $.cluster_config: its spelling was clusterConfig, cluster_config, and is cluster_config"},
	{"command", "slipway image", "", nil, "command slipway image: it is removed"},
	{"command", "slipway validate --file", "", nil, "command slipway validate --file: it is removed"},
	{"command", "slipway validate --file", "shorthand", []string{"c"}, "command slipway validate --file: its shorthand was f, and is c"},
	{"command", "slipway render --to", "shorthand", []string{"t"}, ""},
	{"command", "slipway-node apply --try", "kind", []string{"bool"}, "command slipway-node apply --try: its kind was duration, and is bool"},
	{"command", "slipway-node apply --allow", "default", []string{"reload"}, "command slipway-node apply --allow: its default was restart, and is reload"},
	{"command", "slipway validate --output", "allowed", []string{"text"}, "command slipway validate --output: its allowed was"},
	{"command", "slipway validate --output", "allowed", []string{"json", "text", "yaml"}, ""},
	{"command", "slipway check", "", nil, ""},
	{"exitcode", "50", "", nil, "exitcode 50: it is removed"},
	{"exitcode", "50", "name", []string{"ERR_OTHER"}, "exitcode 50: its name was ERR_OUTBOUND_CONN_FAIL, and is ERR_OTHER"},
	{"exitcode", "7000", "name", []string{"ERR_NEW"}, ""},
	{"path", "/etc/slipway/config.yaml", "", nil, "path /etc/slipway/config.yaml: it is removed"},
	{"path", "slipway-watch.service", "", nil, "path slipway-watch.service: it is removed"},
	{"path", "/run/slipway/facts.json", "mode", []string{"0600"}, "path /run/slipway/facts.json: its mode was 0644, and is 0600"},
	{"path", "/etc/default/kubelet", "of", []string{"aks"}, "path /etc/default/kubelet: its of was aks, standard, and is aks"},
	{"result", "status.json $.exitCode", "", nil, "result status.json $.exitCode: it is removed"},
	{"result", "provision.json $.ExitCode", "type", []string{"integer"}, "result provision.json $.ExitCode: its type was string, and is integer"},
	{"result", "timeline $.goalUs", "required", nil, "result timeline $.goalUs: its required was yes, and is not set"},
	{"result", "status.json $.owner", "type", []string{"string"}, ""},
	{"metric", "slipway_generation", "", nil, "metric slipway_generation: it is removed"},
	{"metric", "slipway_apply_total", "label", nil, "metric slipway_apply_total: its label was outcome, and is not set"},
	{"metric", "slipway_apply_total", "type", []string{"gauge"}, "metric slipway_apply_total: its type was counter, and is gauge"},
}

func TestEachChangeIsFound(t *testing.T) {
	current := checkout(t)
	for _, c := range changes {
		old, i := current.Facts[c.kind], slices.IndexFunc(kinds, func(k kind) bool { return k.name == c.kind })
		now, of := maps.Clone(old), maps.Clone(old[c.name])
		switch {
		case c.attribute == "" && of != nil:
			delete(now, c.name)
			maps.DeleteFunc(now, func(name string, _ attributes) bool { return strings.HasPrefix(name, c.name) && isBelow(name, c.name) })
		case of == nil:
			of = make(attributes)
			fallthrough
		default:
			of[c.attribute] = c.words
			now[c.name] = of
		}
		var got []string
		for _, b := range compare(c.kind, kinds[i].rules, old, now) {
			got = append(got, b.ID+": "+b.What)
		}
		if len(got) != min(len(c.want), 1) || len(got) == 1 && !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s %s, %s %q: breaks are %q, want %q", c.kind, c.name, c.attribute, c.words, got, c.want)
		}
	}
}

// edits are changes of the Go API, with what the comparison must find.
var edits = []struct{ pkg, before, after, want string }{
	{"exitcode", "func Lookup(n int) (Code, bool)\n", "", "api exitcode.Lookup: removed"},
	{"exitcode", "func All() []Code\n", "func All() map[int]Code\n", "api exitcode.All: changed from func() []Code to func() map[int]Code"},
	{"status", "const OutcomeFailure = \"failure\"\n", "const OutcomeFailure = \"failed\"\n", `api status.OutcomeFailure: value changed from "failure" to "failed"`},
	{"status", "func (*Failure) String() string\n", "", "api status.(*Failure).String: removed"},
	{"launch/bootstraptoken", "type Store interface {\n", "type Store interface {\n\tClose() error\n", "api launch/bootstraptoken.Store.Close: added"},
	{"launch", "type PublicKey string\n", "type PublicKey int\n", "api launch.PublicKey: changed from string to int"},
	{"nodeconfig", "\tBootstrapToken ", "\tToken ", "api nodeconfig.Join.BootstrapToken: removed"},
	{"schema", "package schema\n", "package schema\n\nfunc Names() []string\n", ""},
	{"dist", "", "", "api dist: the package is removed"},
}

func TestEachChangeOfTheAPIIsFound(t *testing.T) {
	old := checkout(t).API
	now := maps.Clone(old)
	var want []string
	for _, e := range edits {
		before := string(now[e.pkg])
		if e.before == "" {
			delete(now, e.pkg)
		} else if now[e.pkg] = []byte(strings.Replace(before, e.before, e.after, 1)); string(now[e.pkg]) == before {
			t.Errorf("%s has no %q", e.pkg, e.before)
		}
		if e.want != "" {
			want = append(want, e.want)
		}
	}
	breaks, err := compareAPI(root, old, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range breaks {
		got = append(got, b.ID+": "+b.What)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("breaks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestStubsHoldTheWholeAPI compares the packages with their stubs: apidiff finds no difference, not even a compatible one.
func TestStubsHoldTheWholeAPI(t *testing.T) {
	all, err := check(root, checkout(t).API)
	if err != nil {
		t.Fatal(err)
	}
	stubs := all[0]
	packages, err := load(root, slices.Collect(maps.Keys(stubs))...)
	if err != nil {
		t.Fatal(err)
	}
	for path, stub := range stubs {
		for _, change := range apidiff.Changes(stub, packages[path]).Changes {
			if name, _, _ := strings.Cut(change.Message, ":"); !isInternal(packages[path], name) {
				t.Errorf("%s: %s", path, change.Message)
			}
		}
	}
}

// isInternal reports whether a function or method, as apidiff names it, has a type of an internal package.
func isInternal(pkg *types.Package, name string) bool {
	of, method, _ := strings.Cut(strings.NewReplacer("(*", "", ")", "").Replace(name), ".")
	obj := pkg.Scope().Lookup(of)
	if obj != nil && method != "" {
		obj, _, _ = types.LookupFieldOrMethod(obj.Type(), true, pkg, method)
	}
	return obj != nil && internal(obj.Type())
}

func TestRecordIsReadAsWritten(t *testing.T) {
	dir := t.TempDir()
	if err := checkout(t).write(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(dir); err != nil || !reflect.DeepEqual(got, checkout(t)) {
		t.Errorf("the record is not read as it was written: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "other")); err == nil {
		t.Error("a record that is not there is read")
	}
}

func TestChangelogNamesBreaks(t *testing.T) {
	const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n* `command a`\n\n### Breaking\n\n* `command b` is removed: use `command c`.\n\n### Fixed\n\n* `command d`\n\n" +
		"## v0.1.0\n\n### Breaking\n\n* `command e`\n"
	var breaks []Break
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		breaks = append(breaks, Break{ID: "command " + name})
	}
	var got []string
	for _, b := range Unnamed(changelog, breaks) {
		got = append(got, b.ID)
	}
	if want := []string{"command a", "command d", "command e"}; !slices.Equal(got, want) {
		t.Errorf("unnamed are %q, want %q", got, want)
	}
}
