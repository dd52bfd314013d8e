package userdata

import (
	"encoding/base64"

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
	names, err := c.check(nobody)
	if err != nil {
		return nil, err
	}
	features := c.features(names)
	out := make([]byte, 0, 1024+base64.StdEncoding.EncodedLen(len(c.Document))+base64.StdEncoding.EncodedLen(len(features)))
	out = append(out, "#cloud-config\nwrite_files:\n"...)
	out = appendWriteFile(out, c.Path, c.Document)
	if features != nil {
		out = appendWriteFile(out, c.family().Paths.Features, features)
	}
	out = append(out, "runcmd:\n- [systemctl, enable, --now, --no-block, "...)
	out = append(out, c.unit()...)
	return append(out, "]\n"...), nil
}

// appendWriteFile appends two entries: cloud-init writes a file first and gives it its mode then, so
// the mode is given to an empty file before the content goes in. The content is quoted, for base64
// can read as a number, a boolean or null.
func appendWriteFile(out []byte, path string, content []byte) []byte {
	for _, last := range []bool{false, true} {
		out = append(out, "- path: "...)
		out = append(out, path...)
		out = append(out, "\n  owner: root:root\n  permissions: \"0600\"\n"...)
		if last {
			out = append(out, "  encoding: b64\n  content: \""...)
			out = base64.StdEncoding.AppendEncode(out, content)
			out = append(out, "\"\n"...)
		}
	}
	return out
}
