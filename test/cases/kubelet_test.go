package cases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// givenBy are the two ways in which AKS passes settings to a kubelet: all by flags, or most by its configuration file. Each has
// settings that some versions do not accept.
var givenBy = []struct {
	name, example string
	merge         string
}{
	{"flags", "aks/azure-cni.json", `{"kubelet_config": {"kubelet_flags": {
		"--cloud-config": "/etc/kubernetes/azure.json", "--keep-terminated-pod-volumes": "false", "--azure-container-registry-config": "/etc/kubernetes/azure.json"}}}`},
	{"file", "aks/kubelet-config-file.json", `{"kubelet_config": {"kubelet_config_file_config": {"serverTLSBootstrap": true}}}`},
}

// setting is one line of the table without the versions.
type setting struct{ by, file, name, value string }

// TestKubeletSettings compares the settings of the kubelet and the cloud provider, for each network and version. A line is a
// setting with one value, and where it has that value.
func TestKubeletSettings(t *testing.T) {
	t.Parallel()
	holders := make(map[setting]map[string][]int) // by network: minor versions
	for _, by := range givenBy {
		for _, network := range networks {
			for minor := oldestMinor; minor <= newestMinor; minor++ {
				for _, s := range settingsOf(t, by.example, by.merge, network.plugin, network.policy, fmt.Sprintf("1.%d.2", minor)) {
					s.by = by.name
					if holders[s] == nil {
						holders[s] = make(map[string][]int)
					}
					holders[s][network.name] = append(holders[s][network.name], minor)
				}
			}
		}
	}
	ways := make(map[string][]string) // by line: the way of passing settings
	for s, where := range holders {
		for _, held := range holds(where) {
			line := strings.Join([]string{s.file, s.name, cmp.Or(s.value, `""`), held}, "\t")
			ways[line] = append(ways[line], s.by)
		}
	}
	var table strings.Builder
	table.WriteString("file\tsetting\tvalue\tKubernetes\tnetwork\tgiven by\n")
	for _, line := range slices.Sorted(maps.Keys(ways)) {
		way := "both"
		if len(ways[line]) < len(givenBy) {
			way = ways[line][0]
		}
		fmt.Fprintf(&table, "%s\t%s\n", line, way)
	}
	golden(t, "testdata", "kubelet.tsv", []byte(table.String()))
}

// holds names the versions and networks of a line: one line for all networks with the same versions.
func holds(where map[string][]int) (lines []string) {
	var order []string
	at := make(map[string][]string)
	for _, network := range networks {
		minors := where[network.name]
		if len(minors) == 0 {
			continue
		}
		versions := ranges(minors)
		if len(minors) == newestMinor-oldestMinor+1 {
			versions = "all"
		}
		if at[versions] == nil {
			order = append(order, versions)
		}
		at[versions] = append(at[versions], network.name)
	}
	for _, versions := range order {
		on := strings.Join(at[versions], ", ")
		if len(at[versions]) == len(networks) {
			on = "all"
		}
		lines = append(lines, versions+"\t"+on)
	}
	return lines
}

// settingsOf plans a node and returns the settings of its kubelet and its cloud provider.
func settingsOf(t *testing.T, example, over, plugin, policy, version string) []setting {
	t.Helper()
	var contract, further map[string]any
	readJSON(t, filepath.Join(examples, example), &contract)
	if err := json.Unmarshal([]byte(over), &further); err != nil {
		t.Fatal(err)
	}
	contract = merge(merge(contract, further), map[string]any{
		"kubernetes_version": version,
		"network_config":     map[string]any{"network_plugin": plugin, "network_policy": policy},
	})
	c := spec{Facts: map[string]any{"components": []any{
		map[string]any{"name": "containerd", "version": "2.2.4", "path": "/usr/bin/containerd"},
		map[string]any{"name": "kubelet", "version": version, "path": "/opt/bin/kubelet-" + version},
	}}}
	read := compile.ReadOne("contract.json", marshal(t, contract))
	plan, problems := read.Plan(c.facts(t))
	if code := read.ExitCode(problems); code != 0 {
		t.Fatalf("%s, %s, %s, Kubernetes %s: %v", example, plugin, policy, version, problems)
	}
	files := make(map[string][]byte)
	for _, r := range plan.Resources {
		if file, ok := r.Spec.(*resource.File); ok {
			files[file.Path] = file.Content
		}
	}
	settings := kubeletSettings(t, files)
	for name, file := range map[string]string{"kubelet file": "/etc/default/kubeletconfig.json", "azure.json": "/etc/kubernetes/azure.json"} {
		if content, there := files[file]; there {
			var document any
			if err := json.Unmarshal(content, &document); err != nil {
				t.Fatal(err)
			}
			settings = append(settings, leaves(name, "", document)...)
		}
	}
	return settings
}

// assignment matches a variable in a unit's drop-in.
var assignment = regexp.MustCompile(`^Environment="([A-Z_]+)=(.*)"$`)

// kubeletSettings are the kubelet's command line as systemd would expand it, the other variables of its environment file, and the
// remaining lines of its drop-ins. No value here has a character with a meaning for systemd.
func kubeletSettings(t *testing.T, files map[string][]byte) (settings []setting) {
	t.Helper()
	const unit = "/etc/systemd/system/kubelet.service"
	variables := make(map[string]string)
	for line := range strings.Lines(string(files["/etc/default/kubelet"])) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if strings.ContainsAny(value, `"'\`) {
			t.Fatalf("%s is quoted: %s", name, value)
		}
		variables[name] = value
		if name != "KUBELET_FLAGS" {
			settings = append(settings, setting{file: "kubelet environment", name: name, value: value})
		}
	}
	for file, content := range files {
		if path.Dir(file) != unit+".d" {
			continue
		}
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSuffix(line, "\n")
			if m := assignment.FindStringSubmatch(line); m != nil {
				variables[m[1]] = m[2]
			} else if name, value, ok := strings.Cut(line, "="); ok {
				settings = append(settings, setting{file: "kubelet.service", name: name, value: value})
			}
		}
	}
	_, command, _ := strings.Cut(string(files[unit]), "\nExecStart=")
	command, _, _ = strings.Cut(strings.ReplaceAll(command, "\\\n", " "), "\n")
	for _, word := range strings.Fields(command)[1:] {
		words := []string{word}
		if variable, whole := strings.CutPrefix(word, "$"); whole {
			words = strings.Fields(variables[variable])
		}
		for _, word := range words {
			for variable, value := range variables {
				word = strings.ReplaceAll(word, "${"+variable+"}", value)
			}
			name, value, _ := strings.Cut(word, "=")
			settings = append(settings, setting{file: "kubelet flags", name: name, value: value})
		}
	}
	return settings
}

// leaves are the values of a document, by their paths.
func leaves(file, at string, value any) (settings []setting) {
	fields, isMap := value.(map[string]any)
	if !isMap {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // it was JSON
		}
		return []setting{{file: file, name: at, value: string(text)}}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		settings = append(settings, leaves(file, strings.TrimPrefix(at+"."+name, "."), fields[name])...)
	}
	return settings
}
