package azure_test

import (
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/launch/azure"
)

// Settings take effect as a whole or not at all.
func ExampleReload() {
	settings, problems := azure.Reload(nil, azure.SettingsSource{Name: "settings.yaml", Document: []byte("netwerk-plugin: azure\nvnet-guid: none\n")})
	fmt.Println(settings)
	for _, p := range problems {
		fmt.Println(p)
	}
	// Output:
	// <nil>
	// error: settings: $.location: is missing
	// error: settings: $["cluster-endpoint"]: is missing
	// error: settings: $["cluster-name"]: is missing
	// error: settings.yaml: $["netwerk-plugin"]: unknown setting; did you mean network-plugin?
	// error: settings: $["ssh-public-key"]: is missing
	// error: settings: $["subscription-id"]: is missing
	// error: settings.yaml: $["vnet-guid"]: want a UUID
}

// If several security groups could be the cluster's, the error lists them.
func ExampleSecurityGroups() {
	_, _, err := azure.SecurityGroups([]string{"aks-agentpool-12345678-nsg", "aks-agentpool-87654321-nsg", "bastion-nsg"})
	if unknown, ok := errors.AsType[*azure.ClusterIDError](err); ok {
		fmt.Println(unknown.Candidates)
	}
	// Output:
	// [aks-agentpool-12345678-nsg aks-agentpool-87654321-nsg]
}
