package launch_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/hosttest"
	"github.com/slipway-dev/slipway/test/nodetest"
)

// wantedNodes is how many of the golden templates make different nodes, at least.
const wantedNodes = 40

// TestUserDataProvisions gives the user data of each golden template that can be launched to the agent, as Azure's guest agent leaves it
// on a machine, with an image that has the wanted kubelet. The node has the labels, the taints and the number of pods that the
// template says, and a second run finds nothing to do.
func TestUserDataProvisions(t *testing.T) {
	different := make(map[string]bool)
	for _, path := range cases(t) {
		cloud, request, problems := with(t, parse(t, read(t, path))).decode(t)
		if len(nodeconfig.Fatal(problems)) > 0 {
			continue
		}
		made := launch.Render(cloud, request)
		found := made.Problems()
		if len(nodeconfig.Fatal(found)) > 0 {
			continue // no machine is started
		}
		different[made.Key()] = true
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			known := machineOf(t, made)
			image := &components.Manifest{Components: known.Components}
			if lacking := nodeconfig.Fatal(made.Check(image)); len(lacking) > 0 {
				t.Fatal("the image of the test lacks something: ", lacking)
			}
			root := hosttest.TempDir(t)
			userData, err := made.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(root, "var/lib/waagent"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "var/lib/waagent/CustomData"), []byte(userData), 0o600); err != nil {
				t.Fatal(err)
			}
			node := nodetest.Node{Root: root, Facts: known}
			if s := node.Provision(t); s.Outcome != status.OutcomeSuccess {
				t.Fatalf("%s %v %v", s.CodeName, s.Errors, s.Problems)
			}
			compareNode(t, root, made)
			node.Again(t)
		})
	}
	if len(different) < wantedNodes {
		t.Errorf("only %d different nodes, want %d", len(different), wantedNodes)
	}
}

// machineOf are the facts of a machine of a template: one of Azure's, with the kubelet that the template wants, and all else that the
// images of AKS have.
func machineOf(t *testing.T, made *launch.Launch) facts.Facts {
	t.Helper()
	known, err := facts.Parse(read(t, "../examples/facts/ubuntu.json"))
	if err != nil {
		t.Fatal(err)
	}
	version := made.Document().Node.Cluster.KubernetesVersion
	known.Components = slices.DeleteFunc(known.Components, func(c components.Component) bool { return c.Name == "kubelet" })
	known.Components = append(known.Components, components.Component{Name: "kubelet", Version: version, Path: "/opt/bin/kubelet-" + version})
	known.Platform = facts.Azure
	for _, unit := range []string{facts.ACRMirrorUnit, facts.OverlaybdTCMUUnit, facts.OverlaybdSnapshotterUnit} {
		known.Units = append(known.Units, "/usr/lib/systemd/system/"+unit)
	}
	return known
}

// compareNode compares the files below a directory with the template's node.
func compareNode(t *testing.T, root string, made *launch.Launch) {
	t.Helper()
	paths := profile.Named(made.Document().Node.Components.Layout).Paths
	kubelet := string(read(t, filepath.Join(root, paths.KubeletEnv)))
	config := strings.ReplaceAll(string(read(t, filepath.Join(root, paths.KubeletConfig))), `"`, "") // JSON, or YAML
	for key, value := range made.Document().Node.Kubelet.Labels {
		if !strings.Contains(kubelet, key+"="+value) {
			t.Errorf("the kubelet does not get the label %s=%s", key, value)
		}
	}
	for _, taint := range made.Document().Node.Kubelet.Taints {
		if !strings.Contains(kubelet+config, taint.Key) {
			t.Errorf("the kubelet does not get the taint %s", taint.Key)
		}
	}
	if pods := made.Document().Machine.Capacity["pods"]; !strings.Contains(config, "maxPods: "+pods) {
		t.Errorf("the kubelet does not get maxPods %s", pods)
	}
}
