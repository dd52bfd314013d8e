package userdata

import (
	"encoding/base64"

	"github.com/slipway-dev/slipway/internal/cloudconfig"
	"github.com/slipway-dev/slipway/internal/profile"
)

// The cloud-config part of the MIME document. cloud-init warns of an empty one, so each has some
// useful content.
//
// A native contract gets a second chance: if the boothook failed to start the unit, cloud-init
// starts it again at the end of the boot. If the unit runs or has run, systemd does nothing, or the
// agent finds nothing to do.
//
// An AKS contract gets no second chance. That would need a condition, because the launcher may run
// outside systemd, hence a shell script; and a second launcher beside the first one does harm. Its
// cloud-config is cloud-init's usual last message, with a hint for people who read the console. The
// braces are necessary: cloud-init takes a dot after a bare name for a part of the name.
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
// cloud-init does so late in the boot and only at the first boot. So the unit is enabled, and a
// machine that loses power before it is provisioned continues at the next boot. Prefer [MIME] if
// possible. The error is an [*InvalidError]. The size is not limited, because Azure's limit does
// not apply everywhere; see [Cloud.Check].
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
