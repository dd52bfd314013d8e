package azure

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/launch"
)

// The tags that Karpenter sets on a machine.
const (
	tagCluster = "karpenter.azure.com_cluster"
	tagBilling = "compute.aks.billing"
	tagPool    = "karpenter.sh_nodepool"
)

// ownTags are the tags that neither the settings nor the class may set.
var ownTags = []string{tagCluster, tagBilling, tagPool}

// tagNames returns tags with names that Azure accepts: without slashes.
func tagNames(tags map[string]string) map[string]string {
	slashes := false
	for key := range tags {
		slashes = slashes || strings.Contains(key, "/")
	}
	if !slashes {
		return tags
	}
	named := make(map[string]string, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		named[tagName(key)] = tags[key]
	}
	return named
}

func tagName(key string) string { return strings.ReplaceAll(key, "/", "_") }

// foldTag returns the name of a tag as Azure compares it: without case.
func foldTag(key string) string { return strings.ToLower(tagName(key)) }

// sameTag returns the reason against a tag that Azure does not distinguish from another one.
func sameTag(other string) string {
	return "is the same tag as " + strconv.Quote(other) + " to Azure, which takes no slash and does not tell capital letters; give one of them"
}

// tagsRule tags the machine. If settings and class spell the name of one tag differently, that is a problem: the authors meant two tags,
// and Azure would refuse the machine.
var tagsRule = rule{
	name:  "tags",
	reads: []string{"$.machine.tags", "$.node.cluster.name", "$.machine.image.wanted", `$.node.kubelet.labels["karpenter.sh/nodepool"]`},
	sets:  []string{"$.machine.tags"},
	decide: func(p *problems, d *launch.Document) {
		tags := d.Machine.Tags
		keys := slices.AppendSeq(make([]string, 0, len(tags)), maps.Keys(tags))
		slices.SortFunc(keys, func(a, b string) int { return cmp.Or(strings.Compare(foldTag(a), foldTag(b)), strings.Compare(a, b)) })
		for i, key := range keys {
			switch {
			case i > 0 && foldTag(keys[i-1]) == foldTag(key):
				p.wrong(field("$.machine.tags", key), sameTag(keys[i-1]))
				delete(tags, key)
			case slices.Contains(ownTags, foldTag(key)):
				delete(tags, key) // the inputs' checks say so
			}
		}
		if tags == nil {
			tags = make(map[string]string, len(ownTags))
		}
		tags[tagCluster] = d.Node.Cluster.Name
		if !isOwn(d) {
			tags[tagBilling] = "linux" // AKS's
		}
		if pool := d.Node.Kubelet.Labels["karpenter.sh/nodepool"]; pool != "" {
			tags[tagPool] = pool
		}
		d.Machine.Tags = tags
	},
}
