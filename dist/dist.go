// Package dist has the files of a node image that come with the agent: its units, which docs/images.md describes.
package dist

import "embed"

// Units are systemd's units of the agent, in the directory "systemd".
//
//go:embed systemd
var Units embed.FS
