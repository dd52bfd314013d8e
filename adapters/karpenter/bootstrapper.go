package karpenter

import (
	"context"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// Bootstrapper makes the user data of a machine in the shape that image families of Karpenter's providers have. The template and the
// token are from package launch ([launch.Render], [launch.TokenKeeper]).
type Bootstrapper struct {
	Template *launch.Template
	// Token is what the node joins with; the zero value where it needs none.
	Token nodeconfig.Secret
	// Scripts is for an image that has AKS's own scripts and no Slipway: they get their variables.
	Scripts bool
}

// Script is the user data in base64. It is as secret as the token. The error is one of [launch.Template.UserData] or
// [azure.Script].
func (b Bootstrapper) Script() (string, error) {
	if b.Scripts {
		script, _, err := azure.Script(b.Template, b.Token)
		return script, err
	}
	return b.Template.UserData(b.Token)
}

// CustomData makes custom data and the command of Azure's custom script extension that waits for the node, in the shape that
// Karpenter's provider for Azure has for nodes that are made with both.
type CustomData struct {
	Template *launch.Template
	// Token is what the node joins with; the zero value where it needs none.
	Token nodeconfig.Secret
}

// GetCustomDataAndCSE returns the custom data in base64, which is as secret as the token, and the command, which is not secret.
func (c CustomData) GetCustomDataAndCSE(context.Context) (customData, cse string, err error) {
	contract, err := c.Template.Contract(c.Token)
	if err != nil {
		return "", "", err
	}
	if customData, err = userdata.CustomData(contract); err != nil {
		return "", "", err
	}
	return customData, contract.CSE(), nil
}
