package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/redact"
)

// world is what the program uses of its environment.
type world struct {
	// environment returns the value of an environment variable, or "".
	environment func(string) string
	// credential signs in. If nil, the default credential of the SDK.
	credential azcore.TokenCredential
	// transport sends requests. If nil, the SDK's.
	transport policy.Transporter
	// now returns the time for the facts. If nil, the machine's clock.
	now func() time.Time
}

// clouds are Azure's.
var clouds = detect.Clouds()

// asking are the flags for Azure that both commands have.
type asking struct {
	subscription string
	cloud        command.Choice
	timeout      time.Duration
}

// add adds the flags.
func (a *asking) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.subscription, "subscription", "", "ask as the subscription `ID`; default: $AZURE_SUBSCRIPTION_ID")
	a.cloud = command.Choice{Value: clouds[0].Name}
	for _, c := range clouds {
		a.cloud.Allowed = append(a.cloud.Allowed, c.Name)
	}
	command.AddChoice(cmd, &a.cloud, "cloud", "", "ask the cloud `NAME`")
	cmd.Flags().DurationVar(&a.timeout, "timeout", 5*time.Minute, "give up after `TIME`; Azure may ask to wait")
}

// as is the caller's subscription.
func (a *asking) as(w world) string {
	return cmp.Or(a.subscription, w.environment("AZURE_SUBSCRIPTION_ID"))
}

// open signs in to Azure first, so that a failed sign-in is reported once and not for each request.
func (w *world) open(ctx context.Context, a *asking) (*detect.Azure, error) {
	config := clouds[slices.Index(a.cloud.Allowed, a.cloud.Value)].Config
	options := policy.ClientOptions{Cloud: config, Transport: w.transport, Telemetry: policy.TelemetryOptions{ApplicationID: program}}
	credential := w.credential
	if credential == nil {
		found, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: options})
		if err != nil {
			return nil, notSignedIn(err)
		}
		credential = found
	}
	scope := config.Services[azcloud.ResourceManager].Audience + "/.default"
	if _, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}}); err != nil {
		return nil, notSignedIn(err)
	}
	return &detect.Azure{Credential: credential, Options: &arm.ClientOptions{ClientOptions: options}, Now: w.now}, nil
}

// mostWords limits the SDK's message: it has tried each way to sign in, and quotes all answers.
const mostWords = 600

// notSignedIn is the error of a failed sign-in, on one line.
func notSignedIn(err error) error {
	return &cli.Error{
		Code: exitcode.Invalid, Err: fmt.Errorf("sign in to Azure: %s", redact.Line(err.Error(), mostWords)),
		Hint: "az login signs in, and so do the environment variables of an application, a workload identity and a managed identity",
	}
}
