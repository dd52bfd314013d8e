package dialect

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
)

// EKSCTL is a node of a ClusterConfig of eksctl.io.
const EKSCTL = "eksctl"

var clusterConfig = Dialect{
	Name:     EKSCTL,
	Title:    "What is read of eksctl's ClusterConfig: `" + eksctl.APIVersion + "`",
	Noun:     "ClusterConfig of eksctl's",
	Document: new(eksctl.ClusterConfig),
	mark:     `eksctl's apiVersion "` + eksctl.APIVersion + `"`,
	detect:   func(n *document.Node) bool { return strings.HasPrefix(n.GetText("apiVersion"), eksctl.Group) },
	read: func(n *document.Node, as Reading) translated {
		r := eksctl.FromTree(n, as.Choice)
		// What is only not valid has been read, so it moves no item of its list.
		place := placer(slices.DeleteFunc(slices.Clone(r.Problems), func(p nodeconfig.Problem) bool { return p.Kind == nodeconfig.Invalid }))
		origin := func(path string) string { return place(r.Origin(path)) }
		origins := func(path string) []string {
			paths := r.Origins(path)
			for i := range paths {
				paths[i] = place(paths[i])
			}
			return paths
		}
		return translated{config: r.NodeConfig, problems: r.Problems, origin: origin, origins: origins, lacks: r.Lacks, document: r.Document, places: r.Places, elsewhere: r.Elsewhere}
	},
	chooses: true,
	unplanned: []Reader{
		{"$.apiVersion", false, "says which contract it is"},
		{"$.kind", false, "says which contract it is"},
		{"$.status.arn", false, "is compared with the cluster's name and region"},
	},
}
