package azure

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Defaults are good values, and each option has one way to be said.
func TestOptions(t *testing.T) {
	seen := make(map[string]string)
	for _, o := range options {
		if o.standard != "" && o.check != nil && o.check(o.standard) != "" {
			t.Errorf("%s: its default is refused", o.name)
		}
		for _, name := range append([]string{o.name, o.former}, o.variables...) {
			if other, twice := seen[name]; twice && name != "" {
				t.Errorf("%s is of %s and %s", name, other, o.name)
			}
			seen[name] = o.name
		}
		if decides := o.set != nil || o.into != nil; decides == (o.effect != "") {
			t.Errorf("%s: decides %t, and is there for %q", o.name, decides, o.effect)
		}
	}
}

// good are settings that a launch takes.
var good = map[string]string{
	"CLUSTER_NAME": "c", "CLUSTER_ENDPOINT": "https://example.com", "SSH_PUBLIC_KEY": "k", "AZURE_NODE_RESOURCE_GROUP": "g", "LOCATION": "eastus",
	"VNET_SUBNET_ID":        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
	"ARM_SUBSCRIPTION_ID":   "22222222-2222-2222-2222-222222222222",
	"AZURE_SUBSCRIPTION_ID": "33333333-3333-3333-3333-333333333333",
	"NETWORK_PLUGIN_MODE":   "",
	"HOME":                  "/root",
}

// documentOf is what settings say of a node and its machine.
func documentOf(s *Settings) *launch.Document {
	d := new(launch.Document)
	for _, o := range options {
		if o.into != nil {
			o.into(d, s.raw[o.name])
		}
	}
	return d
}

// Settings that are wrong in one place leave the old ones as they are, and repeat no value.
func TestReload(t *testing.T) {
	old, problems := Reload(nil, SettingsSource{Name: "environment", Variables: good})
	if len(problems) > 0 || old.Subscription != "33333333-3333-3333-3333-333333333333" || old.NetworkMode != "" {
		t.Fatalf("%+v, %v", old, problems)
	}
	if m := documentOf(old).Machine; m.MemoryOverhead != 0.075 || m.AdminUser != "azureuser" {
		t.Fatalf("%+v", m)
	}
	const canary = "canary01.0123456789canary"
	for document, want := range map[string]string{
		"kubelet-bootstrap-token: " + canary:                 "kubelet-bootstrap-token",
		"network-plugin: none\nnetwork-plugin-mode: overlay": `network-plugin-mode`,
		"use-sig: true": "sig-subscription-id",
		"use-sig: true\nsig-subscription-id: 33333333-3333-3333-3333-333333333333":                                           "sig-access-token-server-url",
		"use-sig: true\nsig-subscription-id: 33333333-3333-3333-3333-333333333333\nsig-access-token-server-url: example.com": "sig-access-token-server-url",
		"provision-mode: bootstrappingclient":                             "provision-mode",
		"provision-mode: none":                                            "provision-mode",
		"nodebootstrapping-server-url: https://example.com":               "nodebootstrapping-server-url",
		"manage-existing-aks-machines: true":                              "manage-existing-aks-machines",
		"manage-existing-aks-machines: maybe":                             "manage-existing-aks-machines",
		"aks-machines-pool-name: machines":                                "aks-machines-pool-name",
		"azure-environment-filepath: /etc/azure/cloud.json":               "azure-environment-filepath",
		"system-namespace: \"a b\"":                                       "system-namespace",
		"additional-tags: a/b=1":                                          "additional-tags",
		"additional-tags: c=2,c=3":                                        "additional-tags",
		"additional-tags: '{\"c\":\"2\",\"c\":\"3\"}'":                    "additional-tags",
		"additional-tags: '{\"c\":2}'":                                    "additional-tags",
		"additional-tags: '{\"c\":\"2\"'":                                 "additional-tags",
		"additional-tags: c":                                              "additional-tags",
		"azure.nodeIdentities: '[\"/subscriptions/a/x\", 1]'":             "node-identities",
		"azure.nodeIdentities: '[\"/subscriptions/a/x\"'":                 "node-identities",
		"azure.nodeIdentities: '[\"/subscriptions/a/x\", null]'":          "node-identities",
		"node-identities: '\"/subscriptions/a/x\",\"/b\"'":                "node-identities",
		"provision-mode: aksmachineapi":                                   "provision-mode",
		"provider-batch-idle-duration: 9s":                                "provider-batch-max-duration",
		"additional-tags: a=1,A=2":                                        "additional-tags",
		"vm-memory-overhead-percent: NaN":                                 "vm-memory-overhead-percent",
		"vm-memory-overhead-percent: many":                                "vm-memory-overhead-percent",
		"cluster-name: \"a b\"":                                           "cluster-name",
		"node-identities: [a]":                                            "node-identities",
		"kind: ConfigMap":                                                 "data",
		"kind: ConfigMap\ndata: {azure.clusterID: x, CLUSTER_NAME: \"\"}": "cluster-id",
		"linux-admin-username: 1a":                                        "linux-admin-username",
		"network-plugin: \"\"":                                            "network-plugin",
		"linux-admin-username: \"\"":                                      "linux-admin-username",
		"provision-mode: \"\"":                                            "provision-mode",
		"cluster-endpoint: example.com":                                   "cluster-endpoint",
		"node-osdisk-diskencryptionset-id: /subscriptions/s":              "node-osdisk-diskencryptionset-id",
		"- a": "$",
	} {
		got, problems := Reload(old, SettingsSource{Name: "environment", Variables: good}, SettingsSource{Name: "file", Document: []byte(document)})
		if got != old || !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return strings.Contains(p.Path, want) && p.Fatal }) {
			t.Errorf("%q: %v", document, problems)
		}
		if strings.Contains(fmt.Sprint(problems), canary) {
			t.Errorf("%q is repeated", canary)
		}
	}
}

// Settings have their values by each of their names, and an empty one is its default.
func TestReadSettings(t *testing.T) {
	blank, problems := Reload(nil, SettingsSource{Name: "environment", Variables: good}, SettingsSource{Name: "file", Document: []byte(
		"network-plugin-mode: \"\"\nnetwork-dataplane: \"\"\nvm-memory-overhead-percent: \"\"\ncloud: \"\"\nuse-sig: \"\"\n")})
	if len(problems) > 0 || blank.NetworkMode != "" || blank.UseSIG {
		t.Errorf("%+v, %v", blank, problems)
	}
	if d := documentOf(blank); d.Machine.Network.Dataplane != none || d.Machine.MemoryOverhead != 0.075 || d.Node.Cloud.Azure.Environment != "AzurePublicCloud" {
		t.Errorf("%+v", d)
	}
	former, problems := Reload(nil, SettingsSource{Name: "environment", Variables: good}, SettingsSource{Name: "karpenter-global-settings",
		Document: []byte("kind: ConfigMap\ndata:\n  azure.clusterName: other\n  azure.tags: '{\"team\":\"blue\"}'\n  azure.clusterID: \"12345678\"\n" +
			"  azure.nodeIdentities: '[\"/subscriptions/a/x\",\"/subscriptions/b/y\"]'\n")})
	if len(problems) > 0 || former.Cluster != "other" || documentOf(former).Machine.Tags["team"] != "blue" || former.ClusterID != "12345678" || former.Given("cluster-name") != "karpenter-global-settings" {
		t.Errorf("%+v, %v", former, problems)
	}
	if want := []string{"/subscriptions/a/x", "/subscriptions/b/y"}; !slices.Equal(documentOf(former).Machine.Identities, want) {
		t.Errorf("identities %q, want %q", documentOf(former).Machine.Identities, want)
	}
	now, problems := Reload(nil, SettingsSource{Name: "environment", Variables: good}, SettingsSource{Name: "file", Document: []byte(
		"node-identities: /subscriptions/a/x, /subscriptions/b/y,\nuse-sig: true\nsig-subscription-id: 33333333-3333-3333-3333-333333333333\n" +
			"sig-access-token-server-url: https://example.com\nmanage-existing-aks-machines: false\nprovision-mode: aksscriptless\n" +
			"provider-batch-max-size: 10\nsystem-namespace: karpenter\nadditional-tags: a=1,b=\n")})
	if len(problems) > 0 || !slices.Equal(documentOf(now).Machine.Identities, documentOf(former).Machine.Identities) || !now.UseSIG || now.SIGSubscription == "" || documentOf(now).Machine.Tags["a"] != "1" {
		t.Errorf("%+v, %v", now, problems)
	}
}

// A ConfigMap may have the keys of Karpenter's core, and of unknown programs: the former are named as the core's, the latter
// are warnings. In a file of settings an unknown name is a mistake. Where nodes are may be detected, so it may be missing here.
func TestConfigMapOfOthers(t *testing.T) {
	const core = "of Karpenter's core"
	data := "  azure.clusterName: c\n  azure.clusterEndpoint: https://example.com\n  azure.sshPublicKey: k\n" +
		"  LOCATION: eastus\n  ARM_SUBSCRIPTION_ID: 22222222-2222-2222-2222-222222222222\n"
	read := func(more string) (*Settings, []nodeconfig.Problem) {
		return Reload(nil, SettingsSource{Name: "map", Document: []byte("kind: ConfigMap\ndata:\n" + data + more)})
	}
	s, problems := read("  batchMaxDuration: 10s\n  batchIdleDuration: 2s\n  featureGates.driftEnabled: \"true\"\n  featureGates.spotToSpot: \"false\"\n" +
		"  LOG_LEVEL: debug\n  FEATURE_GATE: x\n  other.example.com/key: y\n")
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
		if p.Fatal || p.Kind != nodeconfig.Unknown || p.Document != "map" {
			t.Errorf("%+v", p)
		}
	}
	if want := []string{"$.data.FEATURE_GATE", `$.data["other.example.com/key"]`}; s == nil || !slices.Equal(paths, want) {
		t.Fatalf("%v, %v", paths, problems)
	}
	shown := make(map[string]string)
	for _, o := range s.Options() {
		if strings.Contains(o.Effect, core) && o.Given != "" {
			shown[o.Name] = o.Value
		}
	}
	want := map[string]string{"batch-max-duration": "10s", "batch-idle-duration": "2s", "feature-gates": "driftEnabled=true,spotToSpot=false", "log-level": "debug"}
	if !maps.Equal(shown, want) {
		t.Errorf("%v, want %v", shown, want)
	}
	if _, problems := read("  featureGates: {a: b}\n"); len(nodeconfig.Fatal(problems)) != 0 {
		t.Errorf("%v", problems)
	}
	if _, problems := Reload(nil, SettingsSource{Name: "file", Document: []byte("cluster-nam: c")}); !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
		return p.Path == "$.cluster-nam" || p.Path == `$["cluster-nam"]` && p.Fatal
	}) {
		t.Errorf("%v", problems)
	}
}

// TestSettingsShown: all settings are listed, and no secret is shown.
func TestSettingsShown(t *testing.T) {
	s, _ := Reload(nil, SettingsSource{Name: "x", Document: example(t, "settings.yaml"), Variables: map[string]string{"KUBELET_BOOTSTRAP_TOKEN": "abcdef.0123456789canary"}})
	if s == nil {
		t.Fatal("the settings are not read")
	}
	all := s.Options()
	for _, o := range all {
		if o.Value == "" && o.Required || strings.Contains(o.Value, "canary") || o.Given == "" && o.Value != o.Default {
			t.Errorf("%+v", o)
		}
	}
	if len(all) != len(options) || len((*Settings)(nil).Options()) != len(options) {
		t.Errorf("%d of %d settings", len(all), len(options))
	}
}

// FuzzLists: tags and identities are the same with commas between and as JSON, or are refused.
func FuzzLists(f *testing.F) {
	for _, s := range []string{"a=1,b=2", "a=1,a=2", "/subscriptions/a/x,/subscriptions/b/y", `["a","b"]`, `{"a":"1"}`, `["a",null]`, `{"a":null}`, "[", "{", "", " , ", "=", "a=b=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // JSON has no other texts
		}
		if tags, err := parseTags(s); err == nil {
			data, _ := json.Marshal(tags)
			if again, err := parseTags(string(data)); err != nil || !maps.Equal(again, tags) {
				t.Errorf("%q: %v, as JSON %v, %v", s, tags, again, err)
			}
		}
		if ids, err := parseIdentities(s); err == nil && len(ids) > 0 {
			data, _ := json.Marshal(ids)
			if again, err := parseIdentities(string(data)); err != nil || !slices.Equal(again, ids) {
				t.Errorf("%q: %q, as JSON %q, %v", s, ids, again, err)
			}
		}
	})
}
