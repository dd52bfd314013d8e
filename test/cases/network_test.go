package cases

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// networks are the kinds of pod networks on AKS's nodes, by their names in a contract.
var networks = []struct{ name, plugin, policy string }{
	{"azure", "NETWORK_PLUGIN_AZURE", "NETWORK_POLICY_NONE"},
	{"none (azure overlay)", "NETWORK_PLUGIN_NONE", "NETWORK_POLICY_NONE"},
	{"kubenet", "NETWORK_PLUGIN_KUBENET", "NETWORK_POLICY_NONE"},
	{"kubenet with calico", "NETWORK_PLUGIN_KUBENET", "NETWORK_POLICY_CALICO"},
	{"azure with calico", "NETWORK_PLUGIN_AZURE", "NETWORK_POLICY_CALICO"},
}

// networkPlaces are the directories of the network's and containerd's files.
var networkPlaces = []string{"/etc/cni/", "/etc/containerd/", "/opt/cni/"}

// oldestMinor and newestMinor are the minor versions of Kubernetes for which AKS has nodes.
const oldestMinor, newestMinor = 28, 36

// TestNetworks compares all of a node's files for CNI, and containerd's configuration, for each network, containerd and Kubernetes
// version. A text that several have is there once, with a list of them.
func TestNetworks(t *testing.T) {
	holders := make(map[string]map[string][]int) // by text, then by network and containerd: minor versions
	for _, network := range networks {
		for _, containerd := range []string{"1.7.27", "2.2.4"} {
			for minor := oldestMinor; minor <= newestMinor; minor++ {
				for _, text := range networkTexts(t, network.plugin, network.policy, containerd, fmt.Sprintf("1.%d.2", minor)) {
					if holders[text] == nil {
						holders[text] = make(map[string][]int)
					}
					holder := network.name + ", containerd " + containerd
					holders[text][holder] = append(holders[text][holder], minor)
				}
			}
		}
	}
	var b bytes.Buffer
	for _, text := range slices.Sorted(maps.Keys(holders)) {
		title, content, _ := strings.Cut(text, "\n")
		fmt.Fprintln(&b, "==", title)
		for _, holder := range slices.Sorted(maps.Keys(holders[text])) {
			fmt.Fprintf(&b, "#  %s, Kubernetes %s\n", holder, ranges(holders[text][holder]))
		}
		b.WriteString(content)
	}
	golden(t, "testdata", "networks.txt", b.Bytes())
}

// networkTexts are a plan's files of the network and of containerd: a line with the name, then the content.
func networkTexts(t *testing.T, plugin, policy, containerd, kubernetes string) []string {
	c := spec{Example: "aks/azure-cni.json", Facts: map[string]any{"components": []any{
		map[string]any{"name": "containerd", "version": containerd, "path": "/usr/bin/containerd"},
		map[string]any{"name": "kubelet", "version": kubernetes, "path": "/opt/bin/kubelet-" + kubernetes},
	}}}
	var contract map[string]any
	readJSON(t, examples+"/"+c.Example, &contract)
	document := marshal(t, merge(contract, map[string]any{
		"kubernetes_version": kubernetes,
		"network_config":     map[string]any{"network_plugin": plugin, "network_policy": policy},
	}))
	read := compile.ReadOne("contract.json", document)
	plan, problems := read.Plan(c.facts(t))
	if code := read.ExitCode(problems); code != 0 {
		t.Fatalf("%s, %s, containerd %s, Kubernetes %s: %v", plugin, policy, containerd, kubernetes, problems)
	}
	var texts []string
	for _, r := range plan.Resources {
		if !slices.ContainsFunc(networkPlaces, func(dir string) bool { return strings.HasPrefix(r.Spec.Name(), dir) }) {
			continue
		}
		d := r.Spec.Describe()
		text := strings.Join(strings.Fields(r.Spec.Kind()+" "+d.Title+" "+d.Mode+" "+d.What), " ") + "\n"
		if f, ok := r.Spec.(*resource.File); ok {
			text += string(f.Content)
		}
		texts = append(texts, text)
	}
	return texts
}

// ranges describes ascending minor versions: "1.28 to 1.30, 1.32".
func ranges(minors []int) string {
	var words []string
	for len(minors) > 0 {
		n := 1
		for n < len(minors) && minors[n] == minors[n-1]+1 {
			n++
		}
		word := fmt.Sprintf("1.%d", minors[0])
		if n > 1 {
			word += fmt.Sprintf(" to 1.%d", minors[n-1])
		}
		words, minors = append(words, word), minors[n:]
	}
	return strings.Join(words, ", ")
}
