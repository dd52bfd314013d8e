//go:build crosscheck

package crosscheck

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// releases are containerd's programs, by the version from which the table of internal/containerdapi was made.
func releases(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../internal/containerdapi/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.Fields(first)[1:]
}

// buildContainerd builds a version of containerd and its client from its module, and returns the directory of the programs.
func buildContainerd(t *testing.T, version string) string {
	t.Helper()
	dir, module := t.TempDir(), "github.com/containerd/containerd/v2"
	if strings.HasPrefix(version, "1.") {
		module = "github.com/containerd/containerd"
	}
	packages := []string{module + "/cmd/containerd", module + "/cmd/ctr"}
	mod := fmt.Sprintf("module programs\n\ngo 1.26.0\n\nrequire %s v%s\n\ntool (\n\t%s\n)\n", module, version, strings.Join(packages, "\n\t"))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"mod", "tidy"}, append([]string{"build", "-o", dir + "/"}, packages...)} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "CGO_ENABLED=0", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("containerd %s: go %s: %v\n%s", version, args[0], err, out)
		}
	}
	return dir
}

// contracted is a node's configuration of containerd with an author's settings, and the problems of these.
func contracted(t *testing.T, text, version string) (*toml.Table, []nodeconfig.Problem) {
	t.Helper()
	c, problems := containing(t, nil)
	if problems = nodeconfig.Fatal(problems); len(problems) > 0 {
		t.Fatal(problems)
	}
	c.Runtime.Containerd.Config = nodeconfig.NewSecret(text)
	planned, problems := plan.New(c, facts.Facts{Components: []components.Component{{Name: "containerd", Version: version}}})
	problems = slices.DeleteFunc(problems, func(p nodeconfig.Problem) bool { return p.Path != "$.runtime.containerd.config" })
	for i := range planned.Resources {
		if f, ok := planned.Resources[i].Spec.(*resource.File); ok && f.Path == "/etc/containerd/config.toml" {
			doc, err := toml.Parse(string(f.Content))
			if err != nil {
				t.Fatal(err)
			}
			return doc, problems
		}
	}
	t.Fatal("no configuration is planned")
	return nil, nil
}

// inPart reports whether only a part of the test runs, as in CI.
func inPart() bool { return *documents < 100_000 }

// TestContainerd compares the planner's knowledge of containerd's configuration with the programs of all versions in the table; in
// part, with the oldest and the newest.
func TestContainerd(t *testing.T) {
	programs, all := make(map[string]string), releases(t)
	for i, version := range all {
		if !inPart() || i == 0 || i == len(all)-1 {
			programs[version] = buildContainerd(t, version)
		}
	}
	t.Run("table", func(t *testing.T) { hasDefaultKeys(t, programs) })
	t.Run("golden configurations", func(t *testing.T) { takesGoldenConfigs(t, programs) })
	t.Run("disabled plug-ins", func(t *testing.T) { needsPlugins(t, programs) })
	t.Run("authors", func(t *testing.T) { takesAuthors(t, programs) })
}

// hasDefaultKeys compares the table of plug-ins and keys with the default configuration that each program prints: the table has
// each key, of the same kind, and nearly each key of the table is printed.
func hasDefaultKeys(t *testing.T, programs map[string]string) {
	for _, version := range slices.Sorted(maps.Keys(programs)) {
		doc := defaultConfig(t, programs[version], version)
		keys := 0
		for range leaves(doc, nil) {
			keys++
		}
		for _, f := range containerdapi.Of(version).Check(doc) {
			t.Errorf("containerd %s %s", version, f.Reason)
		}
		if keys < 90 {
			t.Errorf("containerd %s prints %d keys", version, keys)
		}
		t.Logf("containerd %s prints %d keys, and the table has them", version, keys)
	}
}

// defaultConfig is the default configuration that a program prints.
func defaultConfig(t *testing.T, programs, version string) *toml.Table {
	t.Helper()
	out, err := exec.Command(filepath.Join(programs, "containerd"), "config", "default").Output()
	if err != nil {
		t.Fatalf("containerd %s: %v", version, err)
	}
	doc, err := toml.Parse(string(out))
	if err != nil {
		t.Fatalf("containerd %s: %v", version, err)
	}
	return doc
}

// leaves yields the values of a document, by the keys that lead to them.
func leaves(table *toml.Table, above []string) func(yield func([]string, any) bool) {
	return func(yield func([]string, any) bool) {
		for name, value := range table.All() {
			path := append(slices.Clone(above), name)
			if below, ok := value.(*toml.Table); ok {
				for path, value := range leaves(below, path) {
					if !yield(path, value) {
						return
					}
				}
			} else if !yield(path, value) {
				return
			}
		}
	}
}

// authors makes settings as an author may write them: keys and values of the default configurations of all versions, and mistakes.
type authors struct {
	*rand.Rand
	defaults []*toml.Table
}

// ofMachine are keys that concern the test's machine, or that only the planner decides.
var ofMachine = []string{"version", "root", "state", "temp", "imports", "address", "path", "plugin_dir", "oom_score", "uid", "gid", "config_path", "default_runtime_name", "SystemdCgroup", "bin_dir", "conf_dir", "tcp_address", "enable_criu", "disable_apparmor"}

// settings are some defaults of one version.
func (a *authors) settings() *toml.Table {
	doc := new(toml.Table)
	from := a.defaults[a.IntN(len(a.defaults))]
	for path, value := range leaves(from, nil) {
		name := path[len(path)-1]
		if a.IntN(6) > 0 || slices.Contains(ofMachine, name) || slices.ContainsFunc(ofMachine, func(part string) bool { return strings.HasSuffix(name, "_"+part) }) {
			continue
		}
		doc.Set(value, path...)
	}
	doc.Set(from.Get("version"), "version")
	return doc
}

// mistakes are an author's mistakes, each in settings for any version. Broken reports whether no pod would start.
var mistakes = []struct {
	name, text string
	broken     bool
}{
	{"a key that no version has", "[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_selinux_ = true\n", false},
	{"a plug-in that no version has", "[plugins.\"io.containerd.snapshotter.v1.none\"]\nroot_path = \"/a\"\n", false},
	{"a text in the place of a number", "[plugins.\"io.containerd.grpc.v1.cri\"]\nmax_concurrent_downloads = \"many\"\n", true},
	{"a number in the place of a text", "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\nsnapshotter = 1\n", true},
	{"no list", "required_plugins = \"a\"\n", true},
	{"no duration", "[plugins.\"io.containerd.grpc.v1.cri\"]\nstream_idle_timeout = \"soon\"\n", true},
	{"no duration of an image", "[plugins.\"io.containerd.grpc.v1.cri\"]\nimage_pull_progress_timeout = \"soon\"\n", true},
	{"no duration of a plug-in", "[plugins.\"io.containerd.gc.v1.scheduler\"]\nstartup_delay = \"soon\"\n", true},
	{"no time", "[timeouts]\n\"io.containerd.timeout.shim.load\" = \"soon\"\n", true},
	{"a default runtime without a table", "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"none\"\n", true},
	{"an empty default runtime", "[plugins.\"io.containerd.cri.v1.runtime\".containerd]\ndefault_runtime_name = \"\"\n", true},
	{"a snapshotter that there is not", "[plugins.\"io.containerd.cri.v1.images\"]\nsnapshotter = \"none\"\n", true},
	{"a disabled snapshotter", "disabled_plugins = [\"io.containerd.snapshotter.v1.overlayfs\"]\n", true},
	{"devmapper without a pool", "[plugins.\"io.containerd.cri.v1.images\"]\nsnapshotter = \"devmapper\"\n", true},
	{"all devices alone", "[plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.runc]\nprivileged_without_host_devices_all_devices_allowed = true\n", true},
	{"mirrors beside certs.d", "[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"a.example\"]\nendpoint = [\"http://b.example\"]\n", true},
	{"a disabled plug-in by a short name", "disabled_plugins = [\"zfs\"]\n", true},
	{"a required plug-in that there is not", "required_plugins = [\"io.containerd.snapshotter.v1.none\"]\n", true},
	{"a later version", "version = 5\n", true},
}

// authorTables is the number of generated settings with which each program starts.
const authorTables = 25

// takesAuthors starts each program with the settings of generated authors in a contract. If the planner accepts them, the CRI
// plug-in runs, and containerd reads each key. If it refuses them, the CRI plug-in does not run.
func takesAuthors(t *testing.T, programs map[string]string) {
	a, tools := &authors{Rand: rand.New(rand.NewPCG(*seed, 17))}, t.TempDir()
	versions := slices.Sorted(maps.Keys(programs))
	for _, version := range versions {
		a.defaults = append(a.defaults, defaultConfig(t, programs[version], version))
	}
	started, refused, migrated := 0, 0, 0
	count := authorTables
	if inPart() {
		count /= 5
	}
	for _, version := range versions {
		for range count {
			text := string(a.settings().Bytes())
			doc, problems := contracted(t, text, version)
			if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
				t.Errorf("containerd %s: defaults are refused: %v\n%s", version, fatal, text)
				continue
			}
			started++
			output, runs := startAndAsk(t, programs[version], tools, doc)
			if !runs {
				t.Errorf("containerd %s: the CRI plug-in does not run with\n%s\n%s", version, text, output)
			}
			if len(problems) == 0 && strings.Contains(output, "nknown key") {
				t.Errorf("containerd %s does not know a key of\n%s\n%s", version, text, unknownKeys(output))
			}
			if !strings.HasPrefix(version, "1.") {
				migrated += compareMigration(t, programs[version], version, text)
			}
		}
		for _, m := range mistakes {
			doc, problems := contracted(t, m.text, version)
			if fatal := len(nodeconfig.Fatal(problems)) > 0; fatal != m.broken || len(problems) == 0 {
				t.Errorf("containerd %s: %s: %v", version, m.name, problems)
				continue
			}
			if m.name == "a later version" {
				doc.Set(int64(5), "version") // it is not merged
			}
			refused++
			if output, runs := startAndAsk(t, programs[version], tools, doc); runs == m.broken {
				t.Errorf("containerd %s: %s: the CRI plug-in runs: %v\n%s", version, m.name, runs, output)
			}
		}
	}
	t.Logf("%d settings of authors were started with, %d with a mistake; %d keys are where containerd's migration has them", started, refused, migrated)
}

// unasked are plug-ins that ctr reads the state of plug-ins through. Without them the state is not known.
var unasked = regexp.MustCompile(`introspection|warning\.v1`)

// needsPlugins disables each plug-in of each program. The planner refuses it exactly if the CRI plug-in does not run then.
func needsPlugins(t *testing.T, programs map[string]string) {
	table, err := os.ReadFile("../../internal/containerdapi/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	tools, needed, disabled := t.TempDir(), 0, 0
	for _, found := range regexp.MustCompile(`(?m)^\[(io\.[^\]]+)\]`).FindAllSubmatch(table, -1) {
		name := string(found[1])
		for version, dir := range programs {
			if unasked.MatchString(name) || !containerdapi.Of(version).HasPlugin(name) {
				continue
			}
			doc, problems := contracted(t, fmt.Sprintf("disabled_plugins = [%q]\n", name), version)
			output, runs := startAndAsk(t, dir, tools, doc)
			disabled++
			if !runs {
				needed++
			}
			if refused := len(nodeconfig.Fatal(problems)) > 0; refused == runs {
				t.Errorf("containerd %s without %s: the CRI plug-in runs: %v, and it is refused: %v\n%s", version, name, runs, refused, output)
			}
		}
	}
	if needed < 20*len(programs) {
		t.Errorf("only %d are needed", needed)
	}
	t.Logf("%d plug-ins were disabled, %d of them are needed", disabled, needed)
}

// startAndAsk starts containerd and reads the state of its CRI plug-ins.
func startAndAsk(t *testing.T, programs, tools string, doc *toml.Table) (output string, runs bool) {
	t.Helper()
	var state []byte
	output = startContainerd(t, filepath.Join(programs, "containerd"), tools, doc, func(socket string) {
		state, _ = exec.Command(filepath.Join(programs, "ctr"), "--address", socket, "plugins", "ls").CombinedOutput()
	})
	return output, criRuns(state)
}

// criRuns reports whether the CRI plug-in, and the plug-ins with its settings, are loaded, according to the output of ctr plugins
// ls.
func criRuns(state []byte) bool {
	serves := false // a plug-in that is disabled is not in the list
	for line := range bytes.Lines(state) {
		words := strings.Fields(string(line))
		if len(words) < 3 || words[0] != "io.containerd.cri.v1" && (words[0] != "io.containerd.grpc.v1" || words[1] != "cri") {
			continue
		}
		if words[len(words)-1] != "ok" {
			return false
		}
		serves = serves || words[0] == "io.containerd.grpc.v1"
	}
	return serves
}

func unknownKeys(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		if strings.Contains(line, "nknown key") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// unlike are keys that containerd's migration puts elsewhere than its own plug-ins read them, that it invents, or whose tables it fills.
var unlike = []string{"version", "runtime_platform", "unpack_config"}

// compareMigration lets containerd migrate settings of version 2, and compares the path of each key of the translation. It returns
// their number.
func compareMigration(t *testing.T, programs, version, text string) (compared int) {
	t.Helper()
	author, err := toml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if author.Get("version") != int64(2) {
		return 0
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(programs, "containerd"), "-c", path, "config", "migrate").Output()
	if err != nil {
		t.Fatalf("containerd %s: migrate: %v\n%s", version, err, text)
	}
	theirs, err := toml.Parse(string(out))
	if err != nil {
		t.Fatal(err)
	}
	known := maps.Collect(func(yield func(string, any) bool) {
		for path, value := range leaves(theirs, nil) {
			if !yield(strings.Join(path, "\x00"), string(toml.AppendValue(nil, value))) {
				return
			}
		}
	})
	r := containerdapi.Of(version)
	ours := r.Translate(author)
	for path, value := range leaves(ours, nil) {
		if slices.Contains(unlike, path[len(path)-1]) || path[0] != "plugins" {
			continue // version 4 has keys outside of the plug-ins at other paths, and Slipway does not write that version
		}
		one := new(toml.Table)
		if one.Set(value, path...); len(r.Check(one)) > 0 {
			continue // a key that the release does not have
		}
		compared++
		if want := known[strings.Join(path, "\x00")]; want != string(toml.AppendValue(nil, value)) {
			t.Errorf("containerd %s: %q is %s here, and its migration has %v", version, path, toml.AppendValue(nil, value), want)
		}
	}
	return compared
}
