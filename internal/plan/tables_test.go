package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// What the planner itself gives a kubelet is what a kubelet of the version takes, flags and configuration.
func TestOwnSettingsAreTaken(t *testing.T) {
	for minor := kubeletapi.OldestSupported; minor <= kubeletapi.NewestSupported; minor++ {
		for name := range contracts(t) {
			c := contract(t, name, func(c *nodeconfig.NodeConfig) { c.Cluster.KubernetesVersion = fmt.Sprintf("1.%d.1", minor) }, anySystem)
			p := first(New(c, facts.Facts{}))
			argv, _, err := kubeletCommand(p)
			if err != nil {
				t.Fatal(err)
			}
			settings := kubeletapi.Settings{Minor: minor, At: "$", Machine: kubeletapi.Machine{CPUs: 2, MemoryBytes: 4 << 30, CgroupVersion: 2}}
			for _, arg := range argv[1:] {
				flag, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
				settings.Flags = append(settings.Flags, kubeletapi.Flag{At: arg, Name: flag, Value: value})
			}
			if config := fileIn(p, familyOf(c).Paths.KubeletConfig); config != nil {
				tree, err := document.Parse(config.Content)
				if err != nil {
					t.Fatal(err)
				}
				settings.Config = tree.Any().(map[string]any)
			}
			if problems := kubeletapi.Check(settings); len(problems) > 0 {
				t.Errorf("%s: a kubelet of 1.%d is given %v", name, minor, problems)
			}
		}
	}
}

// A flag is given to the last kubelet that has it, and left out, with a warning, from the next on.
func TestRemovedFlags(t *testing.T) {
	for flag, since := range map[string]int{"cloud-config": 34, "pod-infra-container-image": 35, "network-plugin": 24} {
		for _, minor := range []int{since - 1, since} {
			c := contract(t, "native/minimal.yaml")
			c.Cluster.KubernetesVersion = fmt.Sprintf("1.%d.1", minor)
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "v", Value: "4"}, {Name: flag, Value: "x"}}
			p, problems := New(c, facts.Facts{})
			argv, _, err := kubeletCommand(p)
			gone := minor >= since
			if err != nil || slices.Contains(argv, "--"+flag+"=x") == gone || !slices.Contains(argv, "--v=4") {
				t.Errorf("1.%d is given %v, %v", minor, argv, err)
			}
			problems = slices.DeleteFunc(problems, func(p nodeconfig.Problem) bool { return p.Path != "$.kubelet.flags[1]" })
			if warned := len(problems) == 1 && !problems[0].Fatal; warned != gone {
				t.Errorf("1.%d, %s: problems are %v", minor, flag, problems)
			}
		}
	}
}

// Each gate, from the version before it to the version at it.
func TestGates(t *testing.T) {
	aks := profile.Of(nodeconfig.LayoutAKS).Kubelet
	dropIn := func(d profile.DropIn) func(resource.Plan) bool {
		return func(p resource.Plan) bool { return planned(p, resource.ID("File:"+concern.KubeletDropIns+d.File)) }
	}
	argument := func(prefix string) func(resource.Plan) bool {
		return func(p resource.Plan) bool {
			argv, _, err := kubeletCommand(p)
			return err == nil && slices.ContainsFunc(argv, func(a string) bool { return strings.HasPrefix(a, prefix) })
		}
	}
	for _, c := range []struct {
		name          string
		before, after string
		has           func(resource.Plan) bool
		from          bool // there from the gate on, or until it
	}{
		{"container runtime flag", "1.26.15", "1.27.0", dropIn(aks.RuntimeKind.DropIn), false},
		{"container runtime argument", "1.26.15", "1.27.0", argument("--container-runtime="), false},
		{"node IP", "1.28.9", "1.29.0", argument("--node-ip="), true},
		{"watchdog", "1.31.9", "1.32.0", dropIn(aks.Watchdog), true},
		{"idle timeout", "1.33.9", "1.34.0", argument("--" + "streaming-connection-idle-timeout" + "="), false},
		{"cloud config", "1.33.9", "1.34.0", argument("--cloud-config="), false},
	} {
		for version, reached := range map[string]bool{c.before: false, c.after: true} {
			config := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) {
				n.Cluster.KubernetesVersion = version
				n.Kubelet.Flags = append(n.Kubelet.Flags, nodeconfig.Flag{Name: "cloud-config", Value: "/etc/kubernetes/azure.json"})
			})
			if got := c.has(first(New(config, ubuntu(t)))); got != (reached == c.from) {
				t.Errorf("%s at %s: %v", c.name, version, got)
			}
		}
	}
}

// An image for any version holds nothing that a kubelet may not survive. A kubelet that does not know the watchdog would be
// killed every minute, because a later plan removes no file.
func TestImageForAnyVersion(t *testing.T) {
	for _, version := range []string{"", "1.31.1", "1.34.1"} {
		c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
			c.Join.Method, c.Cluster.KubernetesVersion = nodeconfig.JoinNone, version
		})
		p, _ := New(c, ubuntu(t))
		if got := planned(p, resource.ID("File:"+concern.KubeletDropIns+familyOf(c).Kubelet.Watchdog.File)); got != (version == "1.34.1") {
			t.Errorf("%q: watchdog: %v", version, got)
		}
		if planned(p, resource.ID("File:"+concern.KubeletDropIns+familyOf(c).Kubelet.RuntimeKind.File)) {
			t.Errorf("%q: a flag that newer kubelets refuse", version)
		}
	}
}

func TestMinor(t *testing.T) {
	for version, want := range map[string]int{
		"1.34.2": 34, "1.4.0": 4, "1.36.0-rc.1": 36, "1.34.2+build": 34, "": concern.Newest, "1": concern.Newest, "1.x.2": concern.Newest, "1.": concern.Newest,
	} {
		if got := concern.MinorOf(version); got != want {
			t.Errorf("%q: got %d, want %d", version, got, want)
		}
	}
}

// An artifact's version is applied. Its URL is not, and only that causes a warning.
func TestArtifactsNotApplied(t *testing.T) {
	var got []string
	for _, path := range unread(&nodeconfig.NodeConfig{Components: nodeconfig.Components{Artifacts: map[string]nodeconfig.Artifact{
		"runc": {Version: "1.2.3"}, "kube-proxy": {Version: "2.2.4", URL: "https://x.example/c"}, "cni-plugins": {SHA256: "00"},
	}}}) {
		if strings.HasPrefix(path, "$.components.artifacts") {
			got = append(got, path)
		}
	}
	slices.Sort(got)
	if want := []string{`$.components.artifacts["cni-plugins"].sha256`, `$.components.artifacts["kube-proxy"].url`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A script runs unchanged, and nothing else is planned.
func TestUserCommand(t *testing.T) {
	p := UserCommand("/opt/azure/containers/nbc-cmd.sh", nodeconfig.DefaultTimeout)
	if len(p.Resources) != 1 {
		t.Fatal(p)
	}
	c := p.Resources[0].Spec.(*resource.Command)
	if !slices.Equal(c.Argv, []string{"/bin/bash", "--", "/opt/azure/containers/nbc-cmd.sh"}) || c.Timeout != nodeconfig.DefaultTimeout || len(c.Env) > 0 {
		t.Errorf("%+v", c)
	}
}
