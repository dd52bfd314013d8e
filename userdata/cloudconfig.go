package userdata

import (
	"encoding/base64"

	"github.com/slipway-dev/slipway/internal/cloudconfig"
	"github.com/slipway-dev/slipway/internal/profile"
)

// The cloud-config part of the MIME document. cloud-init warns of one that is empty, so each says
// the little that is useful.
//
// A native contract gets a second chance: should the boothook have failed to start the unit, it is
// started again at the end of the boot. Where it runs or has run, systemd does nothing or the agent
// finds nothing to do.
//
// An AKS contract gets none. The same would take a condition (the launcher may be at work, outside
// systemd), hence a shell script, and a second launcher beside the first does harm. It gets
// cloud-init's usual last message with a hint for whoever reads the console. The braces are needed:
// cloud-init takes a dot after a bare name for a part of the name.
func cloudConfigPart(family *profile.Profile) string {
	if family.Agent.Launcher == "" {
		return "#cloud-config\n" +
			"runcmd:\n" +
			"- [systemctl, start, --no-block, " + family.Agent.Unit + "]\n"
	}
	return "#cloud-config\n" +
		"final_message: \"cloud-init ${version} finished at ${timestamp}. Datasource ${datasource}. Up ${uptime} seconds. " +
		"The node's agent logs to " + family.Publication.Log + ".\"\n"
}

// CloudConfig returns a plain #cloud-config that writes the contract and starts the agent's unit.
// It does so late in the boot and at the first boot only, hence the unit is enabled: a machine that
// loses power before it is provisioned goes on at the next boot. Prefer [MIME] where it can be used.
// The error is an [*InvalidError]. The size is not limited, because not every place has Azure's
// limit; see [Cloud.Check].
func CloudConfig(c Contract) ([]byte, error) {
	names, err := c.check(refuseParts)
	if err != nil {
		return nil, err
	}
	features := c.features(names)
	out := make([]byte, 0, 1024+base64.StdEncoding.EncodedLen(len(c.Document))+base64.StdEncoding.EncodedLen(len(features)))
	out = append(out, cloudconfig.Header+cloudconfig.FilesHeader...)
	out = cloudconfig.AppendEncoded(out, c.Path, 0o600, c.Document)
	if features != nil {
		out = cloudconfig.AppendEncoded(out, c.family().Paths.Features, 0o600, features)
	}
	return cloudconfig.AppendCommands(out, "runcmd", []string{"systemctl", "enable", "--now", "--no-block", c.unit()}), nil
}
