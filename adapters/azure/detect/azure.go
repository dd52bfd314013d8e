package detect

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"

	"github.com/slipway-dev/slipway/launch/azure"
)

// Azure reads from Azure's resource manager.
type Azure struct {
	// Credential signs in to Azure.
	Credential azcore.TokenCredential
	// Options configure the SDK's clients: cloud, transport, retries. If nil, the public cloud and the SDK's defaults.
	Options *arm.ClientOptions
	// Now returns the time for the facts. If nil, the machine's clock.
	Now func() time.Time
	// Definitions are the caller's own image definitions, which are listed like AKS's.
	Definitions []azure.OwnDefinition
}

// options are those of all clients. Detection must change nothing, so a resource provider that the subscription has not registered
// stays unregistered.
func (a *Azure) options() *arm.ClientOptions {
	options := a.Options.Clone()
	if options == nil {
		options = new(arm.ClientOptions)
	}
	options.DisableRPRegistration = true
	return options
}

// clock returns the time in the form of facts.
func clock(now func() time.Time) string {
	if now == nil {
		now = time.Now
	}
	return now().UTC().Format(time.RFC3339)
}
