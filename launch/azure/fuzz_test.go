package azure

import (
	"cmp"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// example is a file of the examples.
func example(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../examples/launch", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// wellFormed holds that each problem has a path and a reason, so that people find its place.
func wellFormed(t *testing.T, list []nodeconfig.Problem) {
	t.Helper()
	for _, p := range list {
		if !strings.HasPrefix(p.Path, "$") || p.Reason == "" || p.Kind == "" {
			t.Errorf("%+v", p)
		}
	}
}

// FuzzReload: settings of any text, as a document and in the environment. Wrong ones leave the old ones as they are, and what is
// shown of them is no secret.
func FuzzReload(f *testing.F) {
	f.Add(string(example(f, "settings.yaml")), "", "")
	f.Add("kind: ConfigMap\ndata: {azure.clusterName: a, azure.tags: '{\"a\":\"b\"}'}", "CLUSTER_ENDPOINT", "https://example.com")
	f.Add("{}", "KUBELET_BOOTSTRAP_TOKEN", "abcdef.0123456789canary")
	f.Add("additional-tags: a=b,=\nnode-identities: /a,", "VM_MEMORY_OVERHEAD_PERCENT", "1e-3")
	old, found := Reload(nil, SettingsSource{Name: "file", Document: example(f, "settings.yaml")})
	if len(nodeconfig.Fatal(found)) > 0 {
		f.Fatal(found)
	}
	f.Fuzz(func(t *testing.T, document, name, value string) {
		before := old.Options()
		sources := []SettingsSource{
			{Name: "file", Document: []byte(document)}, {Name: "environment", Variables: map[string]string{name: value}},
		}
		got, problems := Reload(old, sources...)
		wellFormed(t, problems)
		fatal := len(nodeconfig.Fatal(problems)) > 0
		if fatal != (got == old) {
			t.Errorf("the old settings stay: %t, with the problems %v", got == old, problems)
		}
		if !reflect.DeepEqual(old.Options(), before) {
			t.Error("the old settings were changed")
		}
		if again, same := Reload(old, sources...); !reflect.DeepEqual(again.Options(), got.Options()) || !reflect.DeepEqual(same, problems) {
			t.Error("the same sources make other settings")
		}
		for _, o := range got.Options() {
			if option := optionOf(o.Name); option.secret && o.Value != "" && o.Value != nodeconfig.Redacted {
				t.Errorf("%s is shown", o.Name)
			}
		}
	})
}

// FuzzReadNodeClass: a class of any text. One without an error keeps all that it says, but secrets, when it is written and read again.
func FuzzReadNodeClass(f *testing.F) {
	f.Add(example(f, "nodeclass.yaml"))
	const head = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nspec: "
	for _, spec := range []string{
		"{kubelet: {cpuCFSQuotaPeriod: 5ms, podPidsLimit: 99999999999, imageGCHighThresholdPercent: 1}}",
		"{localDNS: {mode: Required, vnetDNSOverrides: [{zone: .}, {zone: .}]}}",
		"{linuxOSConfig: {sysctls: {netIpv4IpLocalPortRange: '1 2'}, swapFileSize: 1Gi}}", "{osDiskSizeGB: -1, tags: {'<': b}}", "null",
		"{userData: '#!/bin/sh', imageFamily: Custom}",
	} {
		f.Add([]byte(head + spec))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		class, problems := ReadNodeClass(data)
		wellFormed(t, problems)
		if len(nodeconfig.Fatal(problems)) > 0 {
			return
		}
		class.Spec.UserData = nodeconfig.Secret{} // a secret is never written
		written, err := json.Marshal(class)
		if err != nil {
			t.Fatal(err)
		}
		again, more := ReadNodeClass(written)
		if len(nodeconfig.Fatal(more)) > 0 {
			t.Fatalf("%s is read with %v", written, more)
		}
		twice, err := json.Marshal(again)
		if err != nil || string(twice) != string(written) {
			t.Errorf("%v\n%s\n%s", err, written, twice)
		}
	})
}

// FuzzReadImages: a list of images of any text. What is chosen of it does not depend on its order, and each other image has a
// reason.
func FuzzReadImages(f *testing.F) {
	f.Add(example(f, "images.yaml"))
	f.Add([]byte(`{"apiVersion":"slipway.dev/v1","kind":"ImageList","images":[{"id":"/images/2404gen2containerd/versions/1"},{"id":"/images/2404gen2containerd/versions/01"},{"id":"/x"}]}`))
	f.Add([]byte(`{"apiVersion":"slipway.dev/v1","kind":"ImageList","time":"2026-01-01T00:00:00Z","maintenance":{"start":"2026-02-01T00:00:00Z","end":"2026-02-02T00:00:00Z"},` +
		`"inUse":["/images/2404gen2containerd/versions/1"],"images":[{"id":"/images/2404gen2containerd/versions/1"},{"id":"/images/2404gen2containerd/versions/2"}]}`))
	f.Add([]byte(`{"apiVersion":"slipway.dev/v1","kind":"ImageList","time":"2026-01-01T00:00:00Z","maintenance":{"start":"2026-02-01T00:00:00Z","end":"2026-02-02T00:00:00Z"},` +
		`"inUse":["/images/2404gen2containerd/versions/1"],"images":[{"id":"/images/2404gen2containerd/versions/2"}]}`))
	machine := &launch.Machine{
		Type: launch.InstanceType{Architecture: "amd64", Generations: []string{"1", "2"}}, Image: launch.Image{Family: ubuntu2404},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, problems := ReadImages(data)
		wellFormed(t, problems)
		if len(nodeconfig.Fatal(problems)) > 0 {
			return
		}
		chosen, against, err := list.Choose(machine, nil)
		want := len(list.Images)
		if err == nil && slices.ContainsFunc(list.Images, func(v ImageVersion) bool { return v.ID == chosen.ID }) {
			want-- // else it is a version in use that the list does not have
		}
		if len(against) != want {
			t.Errorf("%d reasons for %d images, %v", len(against), len(list.Images), err)
		}
		slices.Reverse(list.Images)
		list.Remember()
		turned, _, err2 := list.Choose(machine, nil)
		if turned.ID != chosen.ID || (err == nil) != (err2 == nil) {
			t.Errorf("%q, and in another order %q", chosen.ID, turned.ID)
		}
	})
}

// FuzzReadDetected: facts of any text.
func FuzzReadDetected(f *testing.F) {
	f.Add(example(f, "detected.yaml"))
	f.Add([]byte("apiVersion: slipway.dev/v1\nkind: DetectedCluster\nkubernetesVersion: {value: v1.34.2, source: a, time: b}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, problems := ReadDetected(data)
		wellFormed(t, problems)
	})
}

// orderOf compares two versions as the rule is written (Karpenter for Azure: nodeimageversionsclient), with numbers of any size.
func orderOf(a, b string) int {
	numbers := func(version string) (all []*big.Int) {
		for part := range strings.SplitSeq(version, ".") {
			if !regexp.MustCompile(`^[0-9]+$`).MatchString(part) {
				return nil
			}
			n, _ := new(big.Int).SetString(part, 10)
			all = append(all, n)
		}
		return all
	}
	first, second := numbers(a), numbers(b)
	if first == nil || second == nil {
		return cmp.Compare(min(len(first), 1), min(len(second), 1))
	}
	for i := range min(len(first), len(second)) {
		if order := first[i].Cmp(second[i]); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(first), len(second))
}

// FuzzCompareVersions holds the order of versions against the rule itself, and that it is an order: turned around it is the
// opposite, and what is not before its neighbour is not before the next one.
func FuzzCompareVersions(f *testing.F) {
	f.Add("202411.12.0", "2022.12.15", "2022.10.03")
	f.Add("1.0", "1", "01.00")
	f.Add("", "1..2", "99999999999999999999.1")
	f.Add("-1", "+1", "1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, pair := range [][2]string{{a, b}, {b, c}, {a, c}, {a, a}} {
			got := CompareVersions(pair[0], pair[1])
			if want := orderOf(pair[0], pair[1]); got != want {
				t.Errorf("%q and %q: %d, want %d", pair[0], pair[1], got, want)
			}
			if turned := CompareVersions(pair[1], pair[0]); turned != -got {
				t.Errorf("%q and %q: %d, and turned around %d", pair[0], pair[1], got, turned)
			}
		}
		sorted := []string{a, b, c}
		slices.SortFunc(sorted, CompareVersions)
		if CompareVersions(sorted[0], sorted[1]) > 0 || CompareVersions(sorted[1], sorted[2]) > 0 || CompareVersions(sorted[0], sorted[2]) > 0 {
			t.Errorf("%q is no order", sorted)
		}
	})
}

// aName is the name of a resource group (Azure: naming rules; letters, digits, and five other characters, of which it does not
// end with a full stop).
var aName = regexp.MustCompile(`^[A-Za-z0-9_(][-\w.()]{0,88}[-\w()]$`)

// aLabel is the value of a label (Kubernetes: labels and selectors).
var aLabel = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)

// FuzzClusterLabel: the label of a resource group's name is the value of a label, but for how the name begins; normalised
// again it is the same, and a name that is one already stays as it is. A name with other letters has a label that a launch refuses.
func FuzzClusterLabel(f *testing.F) {
	for _, name := range []string{"MC_a_b_eastus", "a(b)", "a-", strings.Repeat("a", 62) + "(b", strings.Repeat("a", 70), "(a)", "_"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		label := clusterLabel(name)
		if !aName.MatchString(name) {
			return
		}
		if again := clusterLabel(label); again != label {
			t.Errorf("%q: %q, and normalised again %q", name, label, again)
		}
		if aLabel.MatchString(name) && label != name {
			t.Errorf("%q is changed to %q", name, label)
		}
		if len(label) > longestLabel {
			t.Errorf("%q: %q is too long", name, label)
		}
		if !aLabel.MatchString(label) && !strings.ContainsAny(name[:1], "_(") {
			t.Errorf("%q: %q is no value of a label", name, label)
		}
	})
}
