package detect

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"

	"github.com/slipway-dev/slipway/launch/azure"
)

// Azure asks Azure's resource manager.
type Azure struct {
	// Credential signs in.
	Credential azcore.TokenCredential
	// Options are those of the SDK's clients: cloud, transport, retries; nil for the public cloud and the SDK's defaults.
	Options *arm.ClientOptions
	// Now is the time of the facts; nil for the machine's clock.
	Now func() time.Time
	// Definitions are those of images of one's own, which are listed like AKS's.
	Definitions []azure.OwnDefinition
}

// options are those for all clients. To detect something changes nothing: a resource provider that the subscription has not
// registered stays so.
func (a *Azure) options() *arm.ClientOptions {
	options := a.Options.Clone()
	if options == nil {
		options = new(arm.ClientOptions)
	}
	options.DisableRPRegistration = true
	return options
}

// clock is the time of a document, as facts have it.
func clock(now func() time.Time) string {
	if now == nil {
		now = time.Now
	}
	return now().UTC().Format(time.RFC3339)
}
