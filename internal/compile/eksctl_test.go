package compile_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
	"github.com/slipway-dev/slipway/test/contracts"
)

// clusterConfig is the example of a ClusterConfig with a change.
func clusterConfig(t testing.TB, change string) []byte {
	t.Helper()
	changes, err := document.Parse([]byte(change))
	if err != nil {
		t.Fatal(err)
	}
	return contracts.Merge(contracts.Parse(t, "../../examples/eksctl/minimal.yaml"), changes).AppendJSON(nil)
}

// ec2 are the facts of an m5.large.
func ec2(t testing.TB) facts.Facts {
	t.Helper()
	known, err := facts.Parse([]byte(read(t, "../../examples/facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	known.CPUs = 2
	known.Components = append(known.Components, components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/ecr-credential-provider"}, components.Component{Name: "aws", Path: "/usr/bin/aws"})
	known.Instance = &facts.Instance{Platform: "ec2", ID: "i-0123456789abcdef0", Hostname: "ip-10-0-0-5.eu-west-1.compute.internal", Type: "m5.large", Zone: "eu-west-1a", Lifecycle: "spot"}
	return known
}

// contentOf is the content of the first file of a plan with a name.
func contentOf(t testing.TB, p resource.Plan, name string) []byte {
	t.Helper()
	for _, r := range p.Resources {
		if f, ok := r.Spec.(*resource.File); ok && path.Base(f.Path) == name {
			return f.Content
		}
	}
	t.Fatalf("no file %s", name)
	return nil
}

// eksctl's scripts merge kubeletExtraConfig into the kubelet's configuration, map by map (eksctl: assets/scripts, jq '.[0] * .[1]').
func TestKubeletExtraConfigIsMergedDeeply(t *testing.T) {
	reserved := map[string]any{"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi"}
	evicted := map[string]any{"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}
	with := func(m map[string]any, key string, value any) map[string]any {
		m = maps.Clone(m)
		m[key] = value
		return m
	}
	for extra, want := range map[string]struct{ reserved, evicted any }{
		`{}`:                                     {reserved, evicted},
		`{evictionHard: {}, kubeReserved: {}}`:   {reserved, evicted},
		`{evictionHard: {nodefs.available: 5%}}`: {reserved, with(evicted, "nodefs.available", "5%")},
		`{evictionHard: {pid.available: 5%}}`:    {reserved, with(evicted, "pid.available", "5%")},
		`{kubeReserved: {cpu: 300m}}`:            {with(reserved, "cpu", "300m"), evicted},
		`{kubeReserved: {pid: "100"}}`:           {with(reserved, "pid", "100"), evicted},
	} {
		c := compile.ReadOne("", clusterConfig(t, `nodeGroups: [{name: a, amiFamily: Ubuntu2404, kubeletExtraConfig: `+extra+`}]`))
		p, problems := c.Plan(ec2(t))
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			t.Fatalf("%s: %v", extra, fatal)
		}
		var got map[string]any
		if err := json.Unmarshal(contentOf(t, p, "kubelet.yaml"), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"kubeReserved": want.reserved, "evictionHard": want.evicted}, map[string]any{"kubeReserved": got["kubeReserved"], "evictionHard": got["evictionHard"]}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", extra, diff)
		}
		for _, r := range p.Resources {
			if strings.Contains(extra, "cpu: 300m") && strings.Contains(r.Reason, "kubeReserved.cpu") {
				t.Errorf("%s explains a value that the node does not have: %s", r.ID(), r.Reason)
			}
		}
	}
}

// A reason names settings as in a ClusterConfig, and says so if eksctl has no field for one.
func TestReasonsNameTheAuthorsSettings(t *testing.T) {
	const native = " (in a native document that is merged with this one)"
	bare := ec2(t)
	bare.Components = bare.Components[:len(bare.Components)-1]
	for _, c := range []struct {
		group      string
		known      facts.Facts
		path, want string
	}{
		{`clusterDNS: 10.0.0.1, kubeletExtraConfig: {clusterDNS: [10.0.0.2]}`, ec2(t), "$.nodeGroups[0].clusterDNS", "nodeGroups[0].kubeletExtraConfig.clusterDNS names the servers"},
		{`kubeletExtraConfig: {cgroupDriver: cgroupfs}`, ec2(t), "$.nodeGroups[0].kubeletExtraConfig.cgroupDriver", "name it in runtime.cgroupDriver" + native},
		{``, bare, "$.nodeGroups[0].amiFamily", "name another plug-in with join.exec" + native}, // without an agent
	} {
		_, problems := compile.ReadOne("", clusterConfig(t, `nodeGroups: [{name: a, amiFamily: Ubuntu2404, `+c.group+`}]`)).PlanWithoutAgent(c.known)
		found := false
		for _, p := range problems {
			found = found || p.Path == c.path && strings.Contains(p.Reason, c.want)
		}
		if !found {
			t.Errorf("%s: no %q at %s: %v", c.group, c.want, c.path, problems)
		}
	}
}

// Commands source the variables that eksctl prepares for them, with the node's values (eksctl: overrideBootstrapCommand).
func TestCommandsHaveTheVariablesOfTheNode(t *testing.T) {
	const helper = "/var/lib/cloud/scripts/eksctl/bootstrap.helper.sh"
	c := compile.ReadOne("", clusterConfig(t, `nodeGroups: [{name: a, amiFamily: Ubuntu2404, maxPodsPerNode: 17, labels: {a: b}, taints: [{key: k, value: v, effect: NoSchedule}], overrideBootstrapCommand: "source `+helper+`"}]`))
	p, problems := c.Plan(ec2(t))
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	dir := t.TempDir()
	text := string(contentOf(t, p, path.Base(helper)))
	for _, r := range p.Resources {
		content := []byte(nil)
		switch f := r.Spec.(type) {
		case *resource.File:
			content = f.Content
		case *resource.Symlink:
			if path.Base(f.Path) != "kubelet.local.env" {
				continue
			}
			content = contentOf(t, p, "node.env")
		default:
			continue
		}
		if name := strings.ReplaceAll(r.Spec.Name(), "/", "_"); strings.Contains(text, r.Spec.Name()) {
			text = strings.ReplaceAll(text, r.Spec.Name(), path.Join(dir, name))
			if err := os.WriteFile(path.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	script := path.Join(dir, "helper.sh")
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("bash", "-c", `source "$0"; printf '%s\n' "$CLUSTER_NAME" "$API_SERVER_URL" "$CLUSTER_DNS" "$NODE_LABELS" "$NODE_TAINTS" "$MAX_PODS" "$CONTAINER_RUNTIME" "$KUBELET_EXTRA_ARGS"; base64 -d <<<"$B64_CLUSTER_CA" | head -1`, script).CombinedOutput()
	const labels = "a=b,alpha.eksctl.io/cluster-name=prod,alpha.eksctl.io/nodegroup-name=a,alpha.eksctl.io/instance-id=i-0123456789abcdef0,node-lifecycle=spot"
	want := strings.Join([]string{
		"prod", "https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com", "10.100.0.10", labels, "k=v:NoSchedule", "17", "containerd",
		"--node-labels=" + labels + " --register-with-taints=k=v:NoSchedule --max-pods=17", "-----BEGIN CERTIFICATE-----", "",
	}, "\n")
	if err != nil || string(out) != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, out, want)
	}
	// A group without commands does not get this file.
	p, _ = compile.ReadOne("", clusterConfig(t, `nodeGroups: [{name: a, amiFamily: Ubuntu2404}]`)).Plan(ec2(t))
	for _, r := range p.Resources {
		if r.ID() == resource.ID("File:"+helper) {
			t.Error("a group without commands has variables for them")
		}
	}
}

// A native document is merged over the node's part of a ClusterConfig, in either order. Each problem has its position in the right
// document.
func TestClusterConfigWithANativeDocument(t *testing.T) {
	group := compile.Document{Name: "cluster.yaml", Data: clusterConfig(t, `nodeGroups: [{name: a, amiFamily: Ubuntu2404, labels: {a: b, "c d": e}, kubeletExtraConfig: {maxPods: 5}}]`)}
	native := compile.Document{Name: "node.yaml", Data: []byte("apiVersion: slipway.dev/v1\nkind: NodeConfig\nkubelet:\n  config: {maxPods: 7, podPidsLimit: 9}\n  labels: {f: g}\nsystem:\n  sysctls: {vm.max_map_count: \"262144\"}\n  nowhere: 1\n")}
	for _, documents := range [][]compile.Document{{group, native}, {native, group}} {
		c := compile.Read(documents, "")
		var problems []string
		for _, p := range c.Problems {
			problems = append(problems, p.Document+" "+p.Path)
		}
		if diff := cmp.Diff([]string{`cluster.yaml $.nodeGroups[0].labels["c d"]`, "node.yaml $.system.nowhere"}, problems); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		if line := c.Problems[1].Line; line != 8 {
			t.Errorf("the problem is in line %d", line)
		}
	}
	group.Data = clusterConfig(t, `nodeGroups: [{name: a, amiFamily: Ubuntu2404, labels: {a: b}, kubeletExtraConfig: {maxPods: 5, registryPullQPS: 3}}, {name: z}]`)
	native.Data = []byte(strings.Replace(string(native.Data), "  nowhere: 1\n", "", 1))
	c := compile.ReadAs([]compile.Document{group, native}, compile.Reading{Choice: eksctl.Choice{NodeGroup: "a"}})
	if len(c.Problems) > 0 {
		t.Fatal(c.Problems)
	}
	want := map[string]any{"maxPods": json.Number("7"), "podPidsLimit": json.Number("9"), "registryPullQPS": json.Number("3")}
	if k := c.Config.Kubelet; cmp.Diff(want, k.Config) != "" || k.Labels["a"] != "b" || k.Labels["f"] != "g" || c.Config.System.Sysctls["vm.max_map_count"] == "" {
		t.Errorf("%+v", k)
	}
	// A machine gets one native document.
	again := compile.ReadOne("", c.Canonical())
	if len(again.Problems) > 0 || again.Dialect != dialect.Native || nodeconfig.Digest(again.Config) != nodeconfig.Digest(c.Config) {
		t.Errorf("%s %v", again.Dialect, again.Problems)
	}
	// A planner's problem is reported at the field that the author has set.
	for path, want := range map[string]string{
		"$.kubelet.config.maxPods": "$.kubelet.config.maxPods", "$.kubelet.config.registryPullQPS": "$.nodeGroups[0].kubeletExtraConfig.registryPullQPS", "$.kubelet.labels.a": "$.nodeGroups[0].labels.a",
	} {
		if got := c.Origin(path); got != want {
			t.Errorf("%s comes from %s, want %s", path, got, want)
		}
	}
	// Other dialects cannot be merged with another one.
	aks := compile.Document{Name: "aks.json", Data: []byte(`{"version": "v1"}`)}
	for _, documents := range [][]compile.Document{{group, aks}, {aks, native}} {
		if fatal := compile.Read(documents, "").Fatal(); len(fatal) == 0 || !strings.Contains(fatal[0].Reason, "are of one dialect") {
			t.Errorf("%v", fatal)
		}
	}
}

// amiFamily sets the operating system of the group's image. A machine with another one does not become a node of the group.
func TestFactsMustBeOfTheAMIFamily(t *testing.T) {
	for family, want := range map[string]bool{"Ubuntu2204": false, "Ubuntu2404": true, "UbuntuPro2404": true, "AmazonLinux2023": false} {
		config := clusterConfig(t, `{"nodeGroups": [{"name": "workers", "amiFamily": "`+family+`", "instanceType": "m5.large"}]}`)
		known := ec2(t)
		known.OS = facts.OS{ID: "ubuntu", VersionID: "24.04"}
		_, problems := compile.ReadOne("cluster.yaml", config).Plan(known)
		taken := true
		for _, p := range problems {
			if p.Fatal && strings.HasSuffix(p.Path, ".amiFamily") && strings.Contains(p.Reason, `not the operating system of the machine, which has "ubuntu 24.04"`) {
				taken = false
			}
		}
		if taken != want {
			t.Errorf("%s on Ubuntu 24.04: taken is %v, with %v", family, taken, problems)
		}
	}
}
