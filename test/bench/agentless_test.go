package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/agentless"
	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
	"github.com/slipway-dev/slipway/userdata"
)

// image is the facts of an EKS image; its future machines are unknown.
const image = `{"os": {"id": "amzn", "versionID": "2"}, "components": [
	{"name": "containerd", "version": "2.1.4", "path": "/usr/bin/containerd"}, {"name": "runc", "version": "1.3.0", "path": "/usr/bin/runc"},
	{"name": "kubelet", "version": "1.34.2", "path": "/usr/bin/kubelet"}, {"name": "aws", "path": "/usr/bin/aws"}]}`

// clusterConfig is eksctl's example with a number of node groups.
func clusterConfig(t testing.TB, groups int) []byte {
	content, err := os.ReadFile("../../examples/eksctl/minimal.yaml")
	head, group, found := strings.Cut(string(content), "nodeGroups:\n")
	if err != nil || !found {
		t.Fatal("the example has no node groups", err)
	}
	list := "nodeGroups:\n"
	for i := range groups {
		named := strings.ReplaceAll(group, "name: workers", fmt.Sprintf("name: workers-%d", i))
		list += strings.ReplaceAll(named, "Ubuntu2404", "Ubuntu2204")
	}
	return []byte(head + list)
}

// groupPlan plans a node of a group of a ClusterConfig.
func groupPlan(t testing.TB, document []byte, known facts.Facts) resource.Plan {
	contract := compile.ReadAs([]compile.Document{{Data: document}}, compile.Reading{Choice: eksctl.Choice{NodeGroup: "workers-7"}})
	planned, problems := contract.PlanWithoutAgent(known)
	if len(contract.Fatal()) > 0 || len(planned.Resources) == 0 {
		t.Fatal(problems)
	}
	return planned
}

func imageFacts(t testing.TB) facts.Facts {
	known, err := facts.Parse([]byte(image))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func rendered(t testing.TB) agentless.Machine {
	return agentless.Of(groupPlan(t, clusterConfig(t, 20), imageFacts(t)), profile.Default())
}

// BenchmarkClusterConfig reads a ClusterConfig of 20 node groups, and plans a node of one.
func BenchmarkClusterConfig(b *testing.B) {
	document, known := clusterConfig(b, 20), imageFacts(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		groupPlan(b, document, known)
	}
}

// BenchmarkAgentless renders a plan as a cloud-config.
func BenchmarkAgentless(b *testing.B) {
	planned := groupPlan(b, clusterConfig(b, 20), imageFacts(b))
	b.ReportAllocs()
	for b.Loop() {
		machine := agentless.Of(planned, profile.Default())
		machine.CloudConfig()
	}
}

// BenchmarkVerify compares a node's unchanged files with the bundle of the node.
func BenchmarkVerify(b *testing.B) {
	machine := rendered(b)
	manifest, documents, err := machine.Bundle("bench", nil)
	dir := filepath.Join(b.TempDir(), "bundle")
	if err == nil {
		err = bundle.Write(dir, manifest, documents)
	}
	if err != nil {
		b.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, bundle.Tree))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	b.ReportAllocs()
	for b.Loop() {
		if differences := manifest.Verify(root.FS(), anybody); len(differences) > 0 {
			b.Fatal(differences)
		}
	}
}

// anybody ignores the owner of a file.
func anybody(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

// BenchmarkCapacity computes what an instance of one type can hold.
func BenchmarkCapacity(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (capacity.EKS{InstanceType: "m5.large", VCPUs: 2}).Node(); err != nil {
			b.Fatal(err)
		}
	}
}

// mostBytes limits the user data of a node without an agent, for one instance type and compressed: EC2 accepts 16 KiB, and the
// user's own commands need room.
const mostBytes = 9 << 10

func TestNodeWithoutAnAgentIsSmall(t *testing.T) {
	machine := rendered(t)
	document := machine.CloudConfig()
	if packed := len(userdata.Gzip(document)); packed >= mostBytes {
		t.Errorf("the cloud-config has %d bytes, and %d compressed, want less than %d", len(document), packed, mostBytes)
	}
}
