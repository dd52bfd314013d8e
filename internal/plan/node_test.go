package plan

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// What the kubelet is given is a value of the node, with the file that has it, however the command line is written. What is secret is not.
func TestNodeValues(t *testing.T) {
	const hostile = "a \"b' --node-ip=1.2.3.4 \\ $x ${y} %n `z` # é"
	c := contract(t, "aks/azure-cni.json", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Labels = map[string]string{"a": "b", "c": "d"}
		c.Kubelet.Flags = append(c.Kubelet.Flags, nodeconfig.Flag{Name: "hostile", Value: hostile}, nodeconfig.Flag{Name: "twice", Value: "1"},
			nodeconfig.Flag{Name: "twice", Value: "2"}, nodeconfig.Flag{Name: "manifest-url-header", Value: "Authorization:hidden"})
		c.Kubelet.Config = map[string]any{"systemReserved": map[string]any{"memory": "1Gi", "cpu": "100m"}, "staticPodURLHeader": map[string]any{"A": nodeconfig.NewSecret("hidden")}}
	})
	node := first(New(c, ubuntu(t))).Node
	dropIns := resource.ID("File:" + concern.KubeletDropIns)
	for name, want := range map[string]resource.Argument{
		"v":                          {Value: "2", In: "File:" + "/etc/systemd/system/kubelet.service"},
		"node-labels":                {Value: "a=b,c=d", In: "File:/etc/default/kubelet"},
		"node-ip":                    {Value: "10.224.0.4", In: "File:/etc/default/kubelet"},
		"hostile":                    {Value: hostile, In: "File:/etc/default/kubelet"},
		"twice":                      {Value: "1,2", In: "File:/etc/default/kubelet"},
		"kubeconfig":                 {Value: "/var/lib/kubelet/kubeconfig", In: dropIns + "10-tlsbootstrap.conf"},
		"container-runtime-endpoint": {Value: "unix:///run/containerd/containerd.sock", In: dropIns + "10-containerd-base-flag.conf"},
	} {
		if got := node.Arguments[name]; got != want {
			t.Errorf("--%s is %+v, want %+v", name, got, want)
		}
	}
	if got := node.Kubelet["systemReserved"] + " " + node.Kubelet["systemReserved.cpu"]; got != "cpu=100m,memory=1Gi 100m" || node.In != "File:/etc/default/kubeletconfig.json" {
		t.Errorf("reserved is %s in %s", got, node.In)
	}
	if node.Version != c.Cluster.KubernetesVersion || node.Minor == 0 {
		t.Errorf("the version is %q, %d", node.Version, node.Minor)
	}
	for name, value := range node.Kubelet {
		if strings.Contains(value, "hidden") {
			t.Errorf("%s is %s", name, value)
		}
	}
	if _, kept := node.Arguments["manifest-url-header"]; kept {
		t.Error("a secret flag is kept")
	}
	c.Join.Method = nodeconfig.JoinNone
	if image := first(New(c, ubuntu(t))).Node; image.Version != "" || image.Arguments != nil || image.Kubelet != nil {
		t.Errorf("an image has %+v", image)
	}
}
