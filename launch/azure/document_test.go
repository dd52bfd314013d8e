package azure

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/launch.md and docs/launch-decisions.md")

// The pages with the tables of what decides, each between two comments.
const (
	launchPage = "../../docs/launch.md"
	decided    = "../../docs/launch-decisions.md"
)

// TestDecisionsDocument writes the tables of two pages: they are what decides.
func TestDecisionsDocument(t *testing.T) {
	in := exampleInput(t)
	writeTables(t, launchPage, namedTable{"one value", followed(t, in)})
	writeTables(t, decided, []namedTable{
		{"fields", fieldsTable()},
		{"rules", rulesTable(in)},
		{"families", familiesTable()},
		{"images", imagesTable()},
		{"disks", disksTable()},
		{"pods", podsTable(t, in)},
		{"flags", flagsTable()},
		{"drivers", driversTable()},
		{"labels", labelsTable(t, in)},
	}...)
}

// namedTable is a table between two comments of a page, of which the first has its name.
type namedTable struct{ name, table string }

// writeTables compares the tables of a page, or writes them.
func writeTables(t *testing.T, page string, tables ...namedTable) {
	t.Helper()
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	after := string(before)
	for _, d := range tables {
		begin, end := "<!-- table: "+d.name+" -->\n", "<!-- end -->\n"
		head, rest, found := strings.Cut(after, begin)
		_, tail, ends := strings.Cut(rest, end)
		if !found || !ends || strings.Contains(tail, begin) {
			t.Errorf("%s has no place, or several, for the table %q", page, d.name)
			continue
		}
		after = head + begin + d.table + end + tail
	}
	if *update {
		if err := os.WriteFile(page, []byte(after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if after != string(before) {
		t.Errorf("the tables of %s are not what decides; go test ./launch/azure -update rewrites them", page)
	}
}

// table is a table of Markdown. The first row is its head.
func table(rows ...[]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func codes(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = code(text)
	}
	return strings.Join(all, ", ")
}

// exampleInput are the examples, with an encryption of the disk.
func exampleInput(t *testing.T) *Input {
	t.Helper()
	in := new(Input)
	var found []nodeconfig.Problem
	add := func(problems []nodeconfig.Problem) { found = append(found, problems...) }
	var problems []nodeconfig.Problem
	in.Settings, problems = Reload(nil, SettingsSource{Name: "settings.yaml", Document: example(t, "settings.yaml")}, SettingsSource{
		Name: "environment", Variables: map[string]string{
			"NODE_OSDISK_DISKENCRYPTIONSET_ID": "/subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/keys-rg/providers/Microsoft.Compute/diskEncryptionSets/example",
		},
	})
	add(problems)
	in.Class, problems = ReadNodeClass(example(t, "nodeclass.yaml"))
	add(problems)
	in.Detected, problems = ReadDetected(example(t, "detected.yaml"))
	add(problems)
	in.Images, problems = ReadImages(example(t, "images.yaml"))
	add(problems)
	var err error
	if in.Type, err = ReadInstanceType(example(t, "skus.json"), "Standard_D4ds_v5", "eastus"); err != nil || len(found) > 0 {
		t.Fatal(err, found)
	}
	return in
}

// rendered is the template of the example's claim.
func rendered(t *testing.T, in *Input) *launch.Launch {
	t.Helper()
	claim := new(launch.NodeClaim)
	if problems := launch.Read(example(t, "nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim); len(problems) > 0 {
		t.Fatal(problems)
	}
	made := launch.Render(in, launch.Request{Claim: claim})
	problems := made.Problems()
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	return made
}

// followed returns a table with the values that each source sets for the machine's disk.
func followed(t *testing.T, in *Input) string {
	rows := [][]string{{"source", "field", "says", "where", "what comes of it"}}
	explanation := rendered(t, in).Explain("")
	for _, row := range []struct {
		source       launch.Source
		path, remark string
	}{
		{launch.Hardcoded, "$.machine.disk.sizeGB", "overridden by the class"},
		{launch.Detected, "$.machine.type.cacheDiskBytes", "a disk of the host on which the machine's own fits"},
		{launch.Environment, "$.node.cloud.azure.location", "nothing of the disk: it is in the region of the machine"},
		{launch.Global, "$.machine.disk.encryptionSet", "all disks of the cluster have one key, so no pool and no class says it"},
		{launch.Pool, "$.machine.zone", "nothing of the disk: it is in the zone of the machine"},
		{launch.Class, "$.machine.disk.sizeGB", "taken"},
		{launch.Computed, "$.machine.disk.ephemeral", "it fits, so it is on the host"},
		{launch.Computed, "$.machine.disk.placement", "the first place on which it fits"},
		{launch.Computed, `$.machine.capacity["ephemeral-storage"]`, "schedulers see its size"},
	} {
		i := slices.IndexFunc(explanation, func(v launch.Value) bool { return v.Path == row.path })
		if i < 0 {
			t.Fatalf("%s is not explained", row.path)
		}
		value := explanation[i]
		said := value
		for _, o := range value.Overrode {
			if o.Source == row.source {
				said = o
			}
		}
		if said.Source != row.source {
			t.Errorf("%s is of %s, and not of %s", row.path, said.Source, row.source)
		}
		_, last := cutLast(said.Value)
		rows = append(rows, []string{code(string(row.source)), code(row.path), code(last), said.Where(), row.remark})
	}
	return table(rows...)
}

// sourcesByRank are all sources, the weakest first.
var sourcesByRank = []launch.Source{launch.Hardcoded, launch.Detected, launch.Environment, launch.Global, launch.Pool, launch.Class, launch.Computed}

// fieldsTable returns the table of the sources that may set each field.
func fieldsTable() string {
	rows := [][]string{{"field", "may be set by"}}
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		if strings.Contains(path, "labels[") || strings.Contains(path, "tags[") {
			continue // computed, as the decisions below say
		}
		var sources []string
		for _, s := range sourcesByRank {
			if slices.Contains(fields[path], s) {
				sources = append(sources, string(s))
			}
		}
		rows = append(rows, []string{code(path), codes(sources)})
	}
	return table(rows...)
}

// rulesTable has the decisions in their order.
func rulesTable(in *Input) string {
	rows := [][]string{{"decision", "reads", "sets"}}
	for _, r := range in.Rules() {
		rows = append(rows, []string{r.Name, codes(r.Reads), codes(r.Sets)})
	}
	return table(rows...)
}

func familiesTable() string {
	rows := [][]string{{"wanted", "FIPS", "trusted launch", "Kubernetes", "family"}}
	condition := func(b *bool) string {
		switch {
		case b == nil:
			return ""
		case *b:
			return "yes"
		}
		return "no"
	}
	for _, r := range familyRows {
		version := ""
		if r.since > 0 {
			version = fmt.Sprintf("from 1.%d on", r.since)
		}
		rows = append(rows, []string{code(r.wanted), condition(r.fips), condition(r.trusted), version, code(r.family)})
	}
	return table(rows...)
}

func imagesTable() string {
	kinds := map[kindOfImage]string{ordinary: "", trusted: "trusted launch", withFIPS: "FIPS", trustedFIPS: "trusted launch, FIPS"}
	rows := [][]string{{"family", "for", "architecture", "generation", "image", "AKS's name"}}
	for _, d := range definitions {
		rows = append(rows, []string{code(d.family), kinds[d.kind], d.architecture, d.generation, code(d.name), code(d.distribution)})
	}
	return table(rows...)
}

func disksTable() string {
	rows := [][]string{{"place", "the size that counts"}}
	sizes := launch.InstanceType{NVMeDiskBytes: 1, CacheDiskBytes: 2, ResourceDiskBytes: 3, Placements: []string{"NvmeDisk"}}
	for _, r := range placementRows {
		field := []string{"", "$.machine.type.nvmeDiskBytes", "$.machine.type.cacheDiskBytes", "$.machine.type.resourceDiskBytes"}[r.size(&sizes)]
		rows = append(rows, []string{code(r.name), code(field)})
	}
	return table(rows...)
}

// podsTable has what nodes of some instance types have and keep back.
func podsTable(t *testing.T, in *Input) string {
	rows := [][]string{{"instance type", "network", "Kubernetes", "pods", "kept back", "eviction below", "pods can have"}}
	for _, name := range []string{"Standard_D2s_v5", "Standard_D16s_v5", "Standard_D96s_v5"} {
		for _, network := range []struct{ name, plugin, mode string }{{"overlay", "azure", "overlay"}, {"addresses of the subnet", "azure", ""}, {"the user's own", "none", ""}} {
			for _, version := range []string{"1.28.9", "1.34.2"} {
				if version == "1.28.9" && network.name != "overlay" {
					continue // it is by the version alone that it differs
				}
				d := new(launch.Document)
				known, err := KnownInstanceType(name)
				if err != nil {
					t.Fatal(err)
				}
				d.Machine.Type, d.Machine.Disk.SizeGB, d.Machine.MemoryOverhead = *known, 128, documentOf(in.Settings).Machine.MemoryOverhead
				d.Machine.Network.Plugin, d.Machine.Network.Mode = network.plugin, network.mode
				d.Node.Cluster.KubernetesVersion = version
				d.Node.Kubelet.Config = map[string]any{"evictionHard": map[string]any{}}
				if problems := capacityRule.run(d); len(problems) > 0 {
					t.Fatal(problems)
				}
				config := d.Node.Kubelet.Config
				reserved, eviction := config["kubeReserved"].(map[string]any), config["evictionHard"].(map[string]any)
				rows = append(rows, []string{
					code(name), network.name, version, fmt.Sprint(config["maxPods"]), fmt.Sprintf("cpu %s, memory %s", reserved["cpu"], reserved["memory"]),
					fmt.Sprintf("memory %s", eviction["memory.available"]), fmt.Sprintf("cpu %s, memory %s", d.Machine.Allocatable["cpu"], d.Machine.Allocatable["memory"]),
				})
			}
		}
	}
	return table(rows...)
}

func flagsTable() string {
	rows := [][]string{{"flag", "Kubernetes", "images"}}
	for _, f := range flagRows {
		version, images := "all", "all"
		if f.aks {
			images = "AKS's"
		}
		switch {
		case f.since > 0 && f.until > 0:
			version = fmt.Sprintf("1.%d to 1.%d", f.since, f.until-1)
		case f.since > 0:
			version = fmt.Sprintf("from 1.%d on", f.since)
		case f.until > 0:
			version = fmt.Sprintf("until 1.%d", f.until-1)
		}
		rows = append(rows, []string{code("--" + f.name + "=" + f.value), version, images})
	}
	return table(rows...)
}

func driversTable() string {
	rows := [][]string{{"kind", "version", "suffix"}}
	for _, d := range driverRows {
		rows = append(rows, []string{code(d.kind), d.version, code(d.suffix)})
	}
	return table(rows...)
}

func labelsTable(t *testing.T, in *Input) string {
	labels := rendered(t, in).Document().Node.Kubelet.Labels
	rows := [][]string{{"label", "of the example's node"}}
	for _, key := range labelKeys() {
		rows = append(rows, []string{code(key), cmp.Or(code(labels[key]), "none")})
	}
	return table(rows...)
}
