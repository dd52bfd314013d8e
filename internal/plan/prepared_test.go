package plan

import (
	"reflect"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// ofCluster are the settings that belong to one cluster, to one node, or to its credentials. An image is prepared
// once and joins anywhere, so none of them changes the image, except those in imageHolds.
var ofCluster = []string{
	"$.cluster", "$.join", "$.cloud", "$.metadata",
	"$.kubelet.nodeName", "$.kubelet.nodeIPs", "$.kubelet.labels", "$.kubelet.taints", "$.kubelet.machineLabels",
	"$.access.realm", "$.checks", "$.commands",
	"$.network.hostsAgent", "$.network.secondaryInterfaces",
}

// imageHolds are those of them that an image may hold all the same, and why.
var imageHolds = map[string]string{
	"$.cluster.kubernetesVersion": "an image is built for a version, which chooses its kubelet",
	setting.AWSFIPS:               "the sandbox image is in a registry of that kind",
	"$.cloud.aws.region":          "the sandbox image is in the region's registry",
	"$.join.aws.region":           "as cloud.aws.region",
}

// What an image is prepared with has nothing of a cluster: each such setting is changed alone, in every family, and what is
// planned stays the same.
func TestImageHoldsNothingOfACluster(t *testing.T) {
	certificates(t)
	used := make(map[string]bool)
	machines := []facts.Facts{ubuntu(t), onEC2(ubuntu(t)), onAzure("azurelinux", 8)}
	image := func(c *nodeconfig.NodeConfig, known facts.Facts) any {
		c.Join.Method = nodeconfig.JoinNone
		c.Proxy.HTTP, c.Proxy.HTTPS = nodeconfig.NewSecret("http://proxy.example:3128"), nodeconfig.NewSecret("http://proxy.example:3128")
		p, _ := New(c, known)
		return p.Resources
	}
	for _, layout := range profile.Names() {
		for _, l := range leaves(reflect.TypeFor[nodeconfig.NodeConfig](), "$") {
			own := func(path string) bool { return document.Within(l.path, path) }
			if !slices.ContainsFunc(ofCluster, own) || l.path == "$.join.method" {
				continue
			}
			before, after := pair(t, layout, l)
			for _, known := range machines {
				if reflect.DeepEqual(image(before, known), image(after, known)) {
					continue
				}
				if imageHolds[l.path] == "" {
					t.Errorf("%s: %s is in an image", layout, l.path)
				}
				used[l.path] = true
			}
		}
	}
	for path := range imageHolds {
		if !used[path] {
			t.Errorf("no image holds %s", path)
		}
	}
}
