package dialect

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Native is slipway.dev/v1 NodeConfig.
const Native = "native"

var native = Dialect{
	Name:     Native,
	Title:    "Slipway's own contract: `" + nodeconfig.APIVersion + "`",
	Noun:     "native contract",
	Document: new(nodeconfig.NodeConfig),
	mark:     `apiVersion "` + nodeconfig.APIVersion + `" and kind "` + nodeconfig.Kind + `"`,
	detect:   func(n *document.Node) bool { return strings.HasPrefix(n.GetText("apiVersion"), "slipway.dev/") },
	read: func(n *document.Node, _ Reading) translated {
		config, problems := nodeconfig.FromTree(n)
		origin := placer(problems)
		return translated{config: config, problems: problems, origin: origin, origins: alone(origin), document: n}
	},
	unplanned: []Reader{
		{"$.apiVersion", false, "says which contract it is"},
		{"$.kind", false, "says which contract it is"},
		{"$.metadata.name", false, "a name for people"},
		{"$.metadata.revision", true, "a node refuses a contract with a lower one"},
		{"$.checks.allowUnapplied", true, "names the settings that may be left out"},
		{"$.checks.timeout", true, "bounds the whole provisioning"},
		{"$.checks.changeTimeout", true, "bounds the wait for the Node's lease after a change"},
		{"$.system.gpu.installDriver", true, "an image without the driver makes no node"},
		{"$.components.scriptVariables", false, "for the provisioning scripts of AKS's images alone"},
		{"$.join.discoveryToken", true, "the agent checks the CA with it, if it fetches the CA"},
		{"$.cluster.name", false, "for people; no component asks for it yet"},
	},
}
