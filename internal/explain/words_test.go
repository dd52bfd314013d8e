package explain

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/examples"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
	"github.com/slipway-dev/slipway/test/detector"
)

// wordsTogether are the settings that a word needs to have an effect, in addition to the field's, merged over the
// example, by the beginning of the path.
var wordsTogether = []struct{ path, document string }{
	{"$.units", `{"units": [{"name": "app.service", "content": "[Service]\nExecStart=/bin/true\n"}]}`},
	{"$.system.swapDisk", `{"system": {"swapMB": 512}, "kubelet": {"config": {"failSwapOn": false}}}`},
	{`$.network.localDNS.host["."].serveStalePolicy`, `{"network": {"localDNS": {"host": {".": {"serveStale": "Verify"}}}}}`},
	{`$.network.localDNS.pods["."].serveStalePolicy`, `{"network": {"localDNS": {"pods": {".": {"serveStale": "Verify"}}}}}`},
	{`$.local_dns_profile.vnet_dns_overrides["."].serve_stale_policy`, `{"local_dns_profile": {"vnet_dns_overrides": {".": {"serve_stale": "Verify"}}}}`},
	{`$.local_dns_profile.kube_dns_overrides["."].serve_stale_policy`, `{"local_dns_profile": {"kube_dns_overrides": {".": {"serve_stale": "Verify"}}}}`},
}

// moreWords are words that neither an enumeration nor a description has.
var moreWords = map[string][]string{
	"$.custom_linux_os_config.transparent_defrag":                     {"always", "defer", "defer+madvise", "madvise", "never"},
	`$.local_dns_profile.vnet_dns_overrides["."].forward_destination`: {"VnetDNS", "ClusterCoreDNS"},
	`$.local_dns_profile.kube_dns_overrides["."].forward_destination`: {"VnetDNS", "ClusterCoreDNS"},
	`$.local_dns_profile.vnet_dns_overrides["."].forward_policy`:      {"Sequential", "RoundRobin", "Random"},
	`$.local_dns_profile.kube_dns_overrides["."].forward_policy`:      {"Sequential", "RoundRobin", "Random"},
}

// sameAsNothing are the words with which a node is the same as without a value, without a warning. Each has its reason.
var sameAsNothing = map[string]string{
	"native.cloud.azure.backoff.mode=v2":                                                           isDefault,
	"native.components.layout=standard":                                                            isDefault,
	"native.join.method=BootstrapToken":                                                            "it is the default of a contract with a token",
	"native.kubelet.dataDisk=OS":                                                                   isDefault,
	"native.network.ipFamilies=IPv4":                                                               isDefault,
	`native.network.localDNS.host["."].forwardPolicy=Sequential`:                                   isDefault,
	`native.network.localDNS.host["."].forwardTo=VnetDNS`:                                          isDefault,
	`native.network.localDNS.host["."].serveStale=Disable`:                                         isDefault,
	`native.network.localDNS.pods["."].forwardPolicy=Sequential`:                                   isDefault,
	`native.network.localDNS.pods["."].forwardTo=VnetDNS`:                                          isDefault,
	`native.network.localDNS.pods["."].serveStale=Disable`:                                         isDefault,
	"native.network.metadataRestriction.table=filter":                                              isDefault,
	"native.network.plugin=none":                                                                   isDefault,
	"native.network.policy=none":                                                                   isDefault,
	"native.runtime.cgroupDriver=systemd":                                                          "it is the default of the layout",
	"native.system.gpu.strategy=None":                                                              oneKind,
	"native.system.gpu.strategy=Single":                                                            oneKind,
	"native.system.swapDisk=OS":                                                                    isDefault,
	"native.units[0].state=Started":                                                                isDefault,
	"aks.bootstrapping_config.bootstrapping_auth_method=BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN": "it is the default of a contract with a token",
	"aks.cluster_config.cloud_provider_config.backoff_mode=v2":                                     isDefault,
	"aks.gpu_config.mig_strategy=None":                                                             oneKind,
	"aks.gpu_config.mig_strategy=Single":                                                           oneKind,
	"aks.kubelet_config.kubelet_disk_type=KUBELET_DISK_OS_DISK":                                    isDefault,
	`aks.local_dns_profile.kube_dns_overrides["."].forward_destination=VnetDNS`:                    isDefault,
	`aks.local_dns_profile.kube_dns_overrides["."].forward_policy=Sequential`:                      isDefault,
	`aks.local_dns_profile.kube_dns_overrides["."].serve_stale=Disable`:                            isDefault,
	`aks.local_dns_profile.vnet_dns_overrides["."].forward_destination=VnetDNS`:                    isDefault,
	`aks.local_dns_profile.vnet_dns_overrides["."].forward_policy=Sequential`:                      isDefault,
	`aks.local_dns_profile.vnet_dns_overrides["."].serve_stale=Disable`:                            isDefault,
	"aks.network_config.network_plugin=NETWORK_PLUGIN_NONE":                                        isDefault,
}

const (
	isDefault = "it is the default"
	oneKind   = "partitions are devices of one kind with every word but Mixed"
)

// leafWords is a field that takes words.
type leafWords struct {
	path  string
	steps []step
	words []string
	// wrap creates a value of the field from a word.
	wrap func(document.Node) document.Node
	// numbered are the names of an enumeration of AKS's contract in the order of their numbers. It is nil for other
	// words.
	numbered []string
}

// quoted finds the words that a description has in quotes, and what precedes them.
var quotedWord = regexp.MustCompile(`(such as )?"([A-Za-z][A-Za-z0-9_-]*)"`)

// wordsOf returns the words that a field accepts: those of its enumeration, or those that its description has in
// quotes, without examples.
func (c *catalog) wordsOf(s *shape) []string {
	var words []string
	for _, value := range enumerated(s) {
		words = append(words, value.Text)
	}
	if len(words) == 0 {
		for _, found := range quotedWord.FindAllStringSubmatch(s.Description, -1) {
			if found[1] == "" {
				words = append(words, found[2])
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// entryNames are the names of the first entry of maps; the default is "explain".
var entryNames = map[string]string{
	"$.runtime.registries":                   "docker.io",
	"$.components.artifacts":                 "containerd",
	"$.network.localDNS.host":                ".",
	"$.network.localDNS.pods":                ".",
	"$.local_dns_profile.vnet_dns_overrides": ".",
	"$.local_dns_profile.kube_dns_overrides": ".",
}

// allWords returns the fields that accept words, also those in maps and lists.
func (c *catalog) allWords() []leafWords {
	var all []leafWords
	var walk func(s *shape, steps []step)
	walk = func(s *shape, steps []step) {
		s = c.follow(s)
		path := pathOf(steps)
		at := func(next step) []step { return append(slices.Clone(steps), next) }
		one := func(n document.Node) document.Node { return n }
		switch {
		case s.isStruct():
			for _, name := range c.names(s) {
				below, _, _ := c.property(s, name)
				walk(below, at(field(name)))
			}
			return
		case s.isMap():
			below, name := c.follow(s.Additional.shape), cmp.Or(entryNames[path], marker)
			if below.isStruct() {
				walk(below, at(field(name)))
				return
			}
			one = func(n document.Node) document.Node { return mapOf(name, n) }
			s = inList(below, s)
		case s.Items != nil:
			below := c.follow(s.Items)
			if below.isStruct() {
				walk(below, at(item(0)))
				return
			}
			one = func(n document.Node) document.Node {
				return document.Node{Kind: document.List, Items: []document.Node{n}}
			}
			s = inList(below, s)
		}
		words := c.wordsOf(s)
		if more := moreWords[path]; more != nil {
			words = more
		}
		if _, elsewhere := dialect.ReaderOf(c.dialect, path); elsewhere {
			return
		}
		if len(words) > 0 && (len(s.Enum) > 0 || s.takes("string")) {
			leaf := leafWords{path, steps, words, one, nil}
			if slices.ContainsFunc(s.Enum, func(value any) bool { _, isNumber := value.(float64); return isNumber }) {
				for _, value := range enumerated(s) {
					leaf.numbered = append(leaf.numbered, value.Text)
				}
			}
			all = append(all, leaf)
		}
	}
	walk(c.root, nil)
	return all
}

// inList is the shape of an item, with the description of its list.
func inList(below, list *shape) *shape {
	described := *below
	described.Description = list.Description
	return &described
}

// Each word that a field of a contract accepts changes the node, or gives a warning, or is the default: then it is in
// sameAsNothing with the reason.
func TestEveryWordHasAnEffect(t *testing.T) {
	detector.Skip(t)
	f, err := facts.Parse([]byte(readExample(t, "facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	f.CloudInit, f.Disks = true, []facts.Disk{{Name: "sdb", SizeBytes: 1 << 40, Temporary: true}}
	used := make(map[string]bool)
	for _, name := range dialect.Names() {
		example := parseTree(read(examples.Contract(name), name, "").Canonical())
		fields := loadCatalog(name).allWords()
		if len(fields) == 0 && (name == dialect.Native || name == dialect.AKS) {
			t.Errorf("%s has no words", name)
		}
		for _, leaf := range fields {
			tree := example
			for _, with := range slices.Concat(together, wordsTogether) {
				if strings.HasPrefix(leaf.path, with.path) {
					tree = contracts.Merge(tree, parseTree([]byte(with.document)))
				}
			}
			e := newExperiment(name, "", with(tree, leaf.steps, nil), f)
			outcomes := make(map[string]outcome)
			for _, word := range leaf.words {
				value := leaf.wrap(textNode(word))
				outcomes[word] = e.run(with(tree, leaf.steps, &value))
			}
			for number, word := range leaf.numbered {
				value := numberNode(strconv.Itoa(number))
				if e.run(with(tree, leaf.steps, &value)).written != outcomes[word].written {
					t.Errorf("%s%s: %s is not %s", name, leaf.path[1:], value.AppendJSON(nil), word)
				}
			}
			for _, word := range leaf.words {
				key := name + leaf.path[1:] + "=" + word
				_, same := sameAsNothing[key]
				used[key] = true
				if why := e.effect(leaf, word, outcomes); why == "" && !same && !strings.HasSuffix(word, "_UNSPECIFIED") {
					t.Errorf("%s has no effect, and no warning says so", key)
				} else if why != "" && same {
					t.Errorf("%s is in sameAsNothing: %s", key, why)
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sameAsNothing)) {
		if !used[key] {
			t.Errorf("there is no %s", key)
		}
	}
}

// effect describes a word's effect in a field. It is empty if there is no effect.
func (e *experiment) effect(leaf leafWords, word string, outcomes map[string]outcome) string {
	o := outcomes[word]
	for _, p := range o.problems {
		if document.Within(p.Path, leaf.path) && !slices.Contains(e.base.problems, p) || notApplied(p) && document.Within(leaf.path, p.Path) {
			return "it is warned of: " + p.String()
		}
	}
	if len(nodeconfig.Fatal(e.base.problems)) == 0 {
		return differ(e.base, o)
	}
	for other, than := range outcomes { // the field cannot be missing
		if other != word && differ(than, o) == "" {
			return ""
		}
	}
	return "no other word does the same"
}

// differ describes how the nodes of two documents differ. It is empty if they do not.
func differ(a, b outcome) string {
	for id, r := range a.resources {
		if other, ok := b.resources[id]; !ok || !sameResource(r, other) {
			return string(id)
		}
	}
	for id := range b.resources {
		if _, ok := a.resources[id]; !ok {
			return string(id)
		}
	}
	return ""
}
