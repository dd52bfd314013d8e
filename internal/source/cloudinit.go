package source

import (
	"context"
	"errors"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
)

// cloudInitID is where cloud-init writes the ID of this boot's machine, once it knows it. Its files about other
// machines, of which the disk may be a copy, are not read.
const cloudInitID = "/run/cloud-init/.instance-id"

// cloudInitCopies is where cloud-init keeps user data, by machine.
const cloudInitCopies = "/var/lib/cloud/instances/"

// readCloudInit reads cloud-init's copy of the user data of this boot's machine.
func readCloudInit(_ context.Context, s *Search) (Contract, error) {
	id, err := s.read(cloudInitID, 1<<10)
	if err != nil {
		return Contract{}, err
	}
	name := strings.TrimSpace(string(id))
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return Contract{}, errors.New(cloudInitID + " does not name a machine")
	}
	path := cloudInitCopies + name + "/user-data.txt"
	userData, err := s.read(path, maxUserData)
	if err != nil {
		return Contract{}, err
	}
	return open(path, userData, facts.Instance{Platform: s.Facts.Platform, ID: facts.CleanText(name)})
}
