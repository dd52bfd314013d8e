package launch_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// TestUserDataProvisions gives the user data of each golden template to the agent, as Azure's guest agent leaves it on a machine, with
// an image that has the wanted kubelet. The node has the labels, the taints and the number of pods that the template says.
func TestUserDataProvisions(t *testing.T) {
	provisioned := 0
	for _, path := range cases(t) {
		cloud, request, problems := with(t, parse(t, read(t, path))).decode(t)
		if len(nodeconfig.Fatal(problems)) > 0 {
			continue
		}
		tpl, found := launch.Render(cloud, request)
		image := &components.Manifest{Components: []components.Component{
			{Name: "kubelet", Version: tpl.Document.Node.Cluster.KubernetesVersion, Path: "/opt/bin/kubelet-" + tpl.Document.Node.Cluster.KubernetesVersion},
			{Name: "containerd", Version: "2.1.6", Path: "/usr/bin/containerd"},
		}}
		if len(nodeconfig.Fatal(append(found, launch.Check(tpl, image)...))) > 0 {
			continue // no machine is started
		}
		provisioned++
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			root := t.TempDir()
			userData, err := tpl.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(root, "var/lib/waagent"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "var/lib/waagent/CustomData"), []byte(userData), 0o600); err != nil {
				t.Fatal(err)
			}
			known, err := facts.Parse(read(t, "../examples/facts/ubuntu.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range known.Components { // what an image has that its list does not name
				if c.Name != "kubelet" && c.Name != "containerd" {
					image.Components = append(image.Components, c)
				}
			}
			known.Platform, known.Components = facts.Azure, image.Components
			for _, unit := range []string{facts.ACRMirrorUnit, facts.OverlaybdTCMUUnit, facts.OverlaybdSnapshotterUnit} {
				known.Units = append(known.Units, "/usr/lib/systemd/system/"+unit)
			}
			if s := provision(t, root, known); s.Outcome != status.OutcomeSuccess {
				t.Fatalf("%s %v %v", s.CodeName, s.Errors, s.Problems)
			}
			compareNode(t, root, tpl)
		})
	}
	if provisioned < 25 {
		t.Errorf("only %d nodes", provisioned)
	}
}

// provision runs the agent on a directory.
func provision(t *testing.T, root string, known facts.Facts) *status.Status {
	t.Helper()
	dir, err := host.OpenDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := &agent.Agent{Host: dir, Log: slog.New(slog.DiscardHandler), Version: "test", Sequential: true, Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}}
	return a.Provision(t.Context(), agent.ProvisionOptions{Facts: &known})
}

// compareNode compares a directory with what the template says of the node.
func compareNode(t *testing.T, root string, tpl *launch.Template) {
	t.Helper()
	paths := profile.Named(tpl.Document.Node.Components.Layout).Paths
	kubelet := string(read(t, filepath.Join(root, paths.KubeletEnv)))
	config := strings.ReplaceAll(string(read(t, filepath.Join(root, paths.KubeletConfig))), `"`, "") // JSON, or YAML
	for key, value := range tpl.Document.Node.Kubelet.Labels {
		if !strings.Contains(kubelet, key+"="+value) {
			t.Errorf("the kubelet is not told of the label %s=%s", key, value)
		}
	}
	for _, taint := range tpl.Document.Node.Kubelet.Taints {
		if !strings.Contains(kubelet+config, taint.Key) {
			t.Errorf("the kubelet is not told of the taint %s", taint.Key)
		}
	}
	if pods := tpl.Document.Machine.Capacity["pods"]; !strings.Contains(config, "maxPods: "+pods) {
		t.Errorf("the kubelet is not told of %s pods", pods)
	}
}
