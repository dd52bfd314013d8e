package karpenter

import (
	"context"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// Bootstrapper makes the user data of a machine in the shapes that image families of Karpenter's providers have. The launch and the
// token are from [launch.Render] and [bootstraptoken.Keeper].
type Bootstrapper struct {
	Launch *launch.Launch
	// Token is what the node joins with; the zero value if it needs none.
	Token nodeconfig.Secret
	// Scripts selects an image that has AKS's own scripts and no Slipway: Script sets the scripts' variables.
	Scripts bool
}

// Script is the user data in base64. It is as secret as the token. The error is one of [launch.Launch.UserData] or
// [azure.Script].
func (b Bootstrapper) Script() (string, error) {
	if b.Scripts {
		script, _, err := azure.Script(b.Launch, b.Token)
		return script, err
	}
	return b.Launch.UserData(b.Token)
}

// GetCustomDataAndCSE serves nodes that Karpenter's provider for Azure makes with custom data and a custom script extension. It
// returns the custom data in base64, which is as secret as the token, and the extension's command, which waits for the node and is
// not secret.
func (b Bootstrapper) GetCustomDataAndCSE(context.Context) (customData, cse string, err error) {
	contract, err := b.Launch.Contract(b.Token)
	if err != nil {
		return "", "", err
	}
	if customData, err = userdata.CustomData(contract); err != nil {
		return "", "", err
	}
	return customData, contract.CSE(), nil
}
