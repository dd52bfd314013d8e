package source

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/facts"
)

// The documents of a config drive, of the newest version (OpenStack Nova, "Metadata: config drives").
const (
	driveLabel    = "config-2"
	driveUserData = "openstack/latest/user_data"
	driveMetaData = "openstack/latest/meta_data.json"
)

// driveInstance is the machine's description in a config drive's metadata.
func driveInstance(metaData []byte) facts.Instance {
	var said struct {
		UUID     string `json:"uuid"`
		Hostname string `json:"hostname"`
		Zone     string `json:"availability_zone"`
	}
	// A value of another type is left out; the others count.
	_ = json.Unmarshal(metaData, &said)
	return facts.Instance{
		Platform: facts.OpenStack, ID: facts.CleanText(said.UUID), Hostname: facts.CleanHostname(said.Hostname),
		Zone: facts.CleanText(said.Zone),
	}
}
