package dialect_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

const nativeBase = "../../examples/native/minimal.yaml"

// baseOf is the dialect's smallest example, of which the cases of testdata are variations.
func baseOf(t testing.TB, name string) string {
	t.Helper()
	found, err := filepath.Glob("../../examples/" + name + "/minimal.*")
	switch {
	case err != nil:
		t.Fatal(err)
	case name == dialect.Kubeadm:
		return "../../examples/kubeadm/join-configuration.yaml"
	case len(found) != 1:
		t.Fatalf("%s has the smallest examples %v, want one", name, found)
	}
	return found[0]
}

func TestDetect(t *testing.T) {
	const unknown = "is not a known contract"
	for _, c := range []struct{ doc, name, want, reason string }{
		{`{"apiVersion":"slipway.dev/v1","kind":"NodeConfig"}`, "", "native", ""},
		{"apiVersion: slipway.dev/v1\n", "", "native", ""},
		{`{"apiVersion":"slipway.dev/v2"}`, "", "native", ""},
		{`{"apiVersion":"slipway.dev/v1","version":"v1"}`, "", "native", ""},
		{`{"version":"v1"}`, "", "aks", ""},
		{`{"version":"v0"}`, "", "aks", ""},
		{`{"version":"v9"}`, "", "aks", ""},
		{`{"version":1}`, "", "aks", ""},
		{"version: v1", "", "aks", ""},
		{"\xef\xbb\xbf{\"version\":\"v1\"}", "", "aks", ""},
		{`{"version":"v1","apiVersion":"v1"}`, "", "", unknown},
		{`{"apiVersion":"slipway.dev"}`, "", "", unknown},
		{`{"apiVersion":"example.com/v1"}`, "", "", unknown},
		{`{"apiVersion":["slipway.dev/v1"]}`, "", "", unknown},
		{`{"APIVersion":"slipway.dev/v1"}`, "", "", unknown},
		{`{"Version":"v1"}`, "", "", unknown},
		{`{}`, "", "", unknown},
		{"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n", "", "", "is a NodeConfig of EKS's nodeadm (node.eks.aws), which"},
		{"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {hybrid: {ssm: {}}}\n", "", "", "is a NodeConfig of a hybrid node of EKS"},
		{"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {enableOutpost: true, id: x}}\n", "", "", "for a local cluster on an outpost"},
		{"apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n", "", "kubeadm", ""},
		{"apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n", "", "kubeadm", ""},
		{"kubeadm join 10.0.0.1:6443\n", "", "kubeadm", ""},
		{"\n  sudo kubeadm join x", "", "kubeadm", ""},
		{"kubeadm join `id`", "", "", "has a character for which a shell would do something"},
		{"kubeadm join 10.0.0.1:6443", "native", "native", "document is a string"},
		{"kubeadm init", "", "", "document is a string"},
		{"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nnodeGroups: [{name: a}]\n", "", "eksctl", ""},
		{"apiVersion: eksctl.io/v1alpha4\n", "", "eksctl", ""},
		{"apiVersion: eksctl.io\n", "", "", unknown},
		{"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n", "", "", "it belongs in kubelet.config"},
		{"apiVersion: v1\nkind: Config\nclusters: []\n", "", "kubeadm", ""},
		{"kind: Config\nclusters: []\n", "", "", "is a kubeconfig without its apiVersion v1"},
		{"#cloud-config\nruncmd: [x]\n", "", "", "is a cloud-config without a contract in it"},
		{"<powershell>\n[string]$x = 1\n</powershell>\n", "", "", "is for Windows, and Slipway makes Linux nodes"},
		{"\n<Script>\necho\n</Script>", "native", "native", "is for Windows"},
		{"version: 1.0\ntasks:\n- task: executeScript\n", "", "", "is for Windows"},
		{`{}`, "native", "native", ""},
		{`{}`, "aks", "aks", ""},
		{`{"version":"v1"}`, "native", "native", ""},
		{`{"apiVersion":"slipway.dev/v1"}`, "aks", "aks", ""},
		{`{"version":"v1"}`, "eks", "eks", `unknown dialect "eks"; use one of ` + strings.Join(dialect.Names(), ", ")},
		{`{"version":"v1"}`, "AKS", "AKS", "unknown dialect"},
		{``, "", "", "document is empty"},
		{`[]`, "", "", "document is a list"},
		{"\x00\x01\x02", "", "", "control characters are not allowed"},
		{"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x", "", "", "yaml"},
		{"#!/bin/bash\necho hello\n", "", "", "document is a string"},
		{`{"version":"v1"`, "aks", "aks", "the document is cut off"},
		{strings.Repeat(`{"version":"v1"}`, 10<<20/16), "", "", "document too large"},
	} {
		got := dialect.Decode([]byte(c.doc), c.name)
		if got.Dialect != c.want || got.Config == nil {
			t.Errorf("%.40q as %q: got dialect %q, config %v", c.doc, c.name, got.Dialect, got.Config)
		}
		if c.reason != "" {
			contracts.Compare(t, got.Problems, []nodeconfig.Problem{{Path: "$", Reason: c.reason, Fatal: true}})
			if got.Canonical() != nil || string(nodeconfig.Encode(got.Config)) != "{}" {
				t.Errorf("%.40q: got canonical form %s, config %s", c.doc, got.Canonical(), nodeconfig.Encode(got.Config))
			}
		} else if len(got.Problems) == 1 && got.Problems[0].Path == "$" {
			t.Errorf("%.40q as %q: %s", c.doc, c.name, got.Problems[0])
		}
	}
	for _, name := range dialect.Names() {
		if d := dialect.Named(name); d == nil || d.Name != name || d.Title == "" || d.Noun == "" {
			t.Errorf("the dialect %s is %+v", name, d)
		}
	}
	if dialect.Named("eks") != nil || dialect.All()[0].Name != dialect.Native {
		t.Error("the first dialect is not Slipway's own, or there is one of any name")
	}
}

// TestDecode reads the documents of testdata, which include their expected problems.
func TestDecode(t *testing.T) {
	for _, name := range dialect.Names() {
		for _, c := range contracts.Load(t, baseOf(t, name), "testdata/"+name+".yaml") {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				got := dialect.Decode(c.Document, "")
				if got.Dialect != name {
					t.Errorf("got dialect %q", got.Dialect)
				}
				contracts.Compare(t, got.Problems, c.Want)
				c.CompareConfig(t, got.Config)
				checkInvariants(t, got)
			})
		}
	}
}

// checkInvariants checks the rules for every document.
func checkInvariants(t *testing.T, got dialect.Decoded) {
	t.Helper()
	if got.Config == nil {
		t.Fatal("no config")
	}
	seen := make(map[string]bool)
	for _, p := range got.Problems {
		if seen[p.Path] {
			t.Errorf("%s has two problems:\n%s", p.Path, contracts.List(got.Problems))
		}
		seen[p.Path] = true
		if p.Kind == "" {
			t.Errorf("is of no kind: %s", p)
		}
		if got.Dialect == dialect.AKS && !aksPath(p) {
			t.Errorf("not in the contract's terms: %s", p)
		}
	}
	sorted := slices.Clone(got.Problems)
	nodeconfig.SortProblems(sorted)
	if !slices.Equal(sorted, got.Problems) {
		t.Errorf("problems are out of order:\n%s", contracts.List(got.Problems))
	}
	if len(nodeconfig.Fatal(got.Problems)) > 0 {
		return
	}
	if left := nodeconfig.Repair(got.Config); len(left) > 0 {
		t.Errorf("the config is not valid:\n%s", contracts.List(left))
	}
	before := nodeconfig.Encode(got.Config)
	nodeconfig.Default(got.Config)
	if after := nodeconfig.Encode(got.Config); !bytes.Equal(before, after) {
		t.Errorf("the config is not complete:\n%s\nbecomes\n%s", before, after)
	}
}

// aksPath reports whether a problem's path is in AKS's contract.
func aksPath(p nodeconfig.Problem) bool {
	name := strings.TrimPrefix(p.Path, "$.")
	if end := strings.IndexAny(name, ".["); end >= 0 {
		name = name[:end]
	}
	field := (*aksnodeconfigv1.Configuration)(nil).ProtoReflect().Descriptor().Fields().ByTextName(name)
	return p.Path == "$" || field != nil || p.Kind == nodeconfig.Unknown || p.Kind == nodeconfig.Dropped
}

// TestPlaces: every problem has the line and column of its value, in the document's own spelling, whether it comes from the parser,
// the decoder, the validation, the translation, or the planner.
func TestPlaces(t *testing.T) {
	const native = `apiVersion: slipway.dev/v1
kind: NodeConfig
cluster:
  kubernetesVersion: latest
  server: https://api.example
kubelet:
  labels:
    "a b": c
  lables: {}
  nodeIPs: [10.0.0.1,
    nowhere]
`
	const camel = `{"version": "v1",
  "kubeletConfig": {"containerDataDir":
    "relative", "kubeletFlags": {"--node-ip": "10.0.0.1,x"}},
  "customLinuxOsConfig": {"sysctlConfig": {"fsFileMax": true}}
}`
	for _, c := range []struct {
		document, path string
		kind           nodeconfig.ProblemKind
		place          string
	}{
		{native, "$.cluster.kubernetesVersion", nodeconfig.Invalid, "4:22"},
		{native, "$.cluster.certificateAuthority", nodeconfig.Missing, "4:3"},
		{native, "$.join.bootstrapToken", nodeconfig.Missing, "0:0"},
		{native, `$.kubelet.labels["a b"]`, nodeconfig.Invalid, "8:12"},
		{native, "$.kubelet.lables", nodeconfig.Unknown, "9:11"},
		{native, "$.kubelet.nodeIPs[1]", nodeconfig.Invalid, "11:5"},
		{native + "zz: [", "$", nodeconfig.Invalid, "13:1"},
		{camel, "$.kubelet_config.container_data_dir", nodeconfig.Invalid, "3:5"},
		{camel, `$.kubelet_config.kubelet_flags["--node-ip"][1]`, nodeconfig.Invalid, "3:47"},
		{camel, "$.custom_linux_os_config.sysctl_config.fs_file_max", nodeconfig.WrongType, "4:57"},
	} {
		got := dialect.Decode([]byte(c.document), "")
		i := slices.IndexFunc(got.Problems, func(p nodeconfig.Problem) bool { return p.Path == c.path })
		if i < 0 {
			t.Errorf("no problem at %s:\n%s", c.path, contracts.List(got.Problems))
		} else if p := got.Problems[i]; p.Kind != c.kind || fmt.Sprintf("%d:%d", p.Line, p.Column) != c.place {
			t.Errorf("%s: a problem of kind %s at %d:%d, want %s at %s", p, p.Kind, p.Line, p.Column, c.kind, c.place)
		}
	}
	got := dialect.Decode([]byte(native), "")
	later := got.Place(nodeconfig.Problem{Kind: nodeconfig.NotApplied, Path: "$.kubelet.labels.x"})
	if later.Line != 8 || later.Column != 5 {
		t.Errorf("a later problem is at %d:%d", later.Line, later.Column)
	}
}

// TestLeftOutIsNeverGiven: an unusable value that is not fatal gives the same config as no value. The cases are those of
// nodeconfig's validation.
func TestLeftOutIsNeverGiven(t *testing.T) {
	files, err := filepath.Glob("../testdata/validate/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		for _, c := range contracts.Load(t, nativeBase, file) {
			got := dialect.Decode(c.Document, "")
			checkInvariants(t, got)
			if len(nodeconfig.Fatal(got.Problems)) > 0 {
				continue
			}
			n, err := document.Parse(c.Document)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range got.Problems {
				n = contracts.Replace(n, p.Path, &document.Node{Kind: document.Null})
			}
			want := dialect.Decode(n.AppendJSON(nil), "")
			if got, want := nodeconfig.Encode(got.Config), nodeconfig.Encode(want.Config); !bytes.Equal(got, want) {
				t.Errorf("%s: %s: got\n%s\nwant\n%s", file, c.Name, got, want)
			}
		}
	}
}

func TestExamples(t *testing.T) {
	for _, name := range dialect.Names() {
		files, err := filepath.Glob("../../examples/" + name + "/*")
		if err != nil || len(files) == 0 {
			t.Fatal("no examples", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := dialect.Decode(data, "")
			if got.Dialect != name {
				t.Errorf("%s: got dialect %q", file, got.Dialect)
			}
			contracts.Compare(t, got.Problems, nil)
			checkInvariants(t, got)
			again := dialect.Decode(nodeconfig.Encode(got.Config), dialect.Native)
			contracts.Compare(t, again.Problems, nil)
			if nodeconfig.Digest(again.Config) != nodeconfig.Digest(got.Config) {
				t.Errorf("%s: the config and its canonical form have different digests", file)
			}
		}
	}
}

// TestCanonical: the document's canonical form does not depend on its spelling.
func TestCanonical(t *testing.T) {
	const want = `{"kubelet_config":{"kubelet_flags":{"--b":"1","--v":"2"}},"version":"v1","x":[1,null]}`
	for _, doc := range []string{
		want,
		" {\n\"x\" : [ 1 , null ],\r\n\"version\":\"v\\u0031\", \"kubelet_config\":{\"kubelet_flags\":{\"--v\":\"2\",\"--b\":\"1\"}}}\n",
		"# a comment\nversion: v1\nx:\n- 1\n-\nkubelet_config:\n  kubelet_flags: {--v: '2', --b: \"1\"}\n",
	} {
		got := dialect.Decode([]byte(doc), "")
		if string(got.Canonical()) != want {
			t.Errorf("%q: got %s", doc, got.Canonical())
		}
	}
}

func TestOrigin(t *testing.T) {
	for _, c := range []struct{ doc, path, want string }{
		{``, "$.kubelet.labels", "$.kubelet.labels"},
		{`{}`, "$.kubelet.labels", "$.kubelet.labels"},
		{`{"apiVersion":"slipway.dev/v1","kubelet":{"taints":[1]}}`, "$.kubelet.taints[0].key", "$.kubelet.taints[1].key"},
		{`{"version":"v1"}`, "$.kubelet.labels", "$.kubelet_config.kubelet_node_labels"},
		{`{"version":"v1"}`, `$.kubelet.labels["a.b/c"]`, `$.kubelet_config.kubelet_node_labels["a.b/c"]`},
		{`{"version":"v1"}`, "$.proxy.http", "$.http_proxy_config.http_proxy"},
		{`{"version":"v1"}`, "$.metadata.name", "$.metadata.name"},
		{`{"version":"v1"}`, "$", "$"},
	} {
		decoded := dialect.Decode([]byte(c.doc), "")
		if got := decoded.Origin(c.path); got != c.want {
			t.Errorf("%s: %s comes from %s, want %s", c.doc, c.path, got, c.want)
		}
	}
}
