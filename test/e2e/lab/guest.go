package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// Guest is a machine's identity in its cloud, and the cloud's data for it.
type Guest struct {
	// Name is the host name.
	Name string
	// Number distinguishes machines: the IDs of the cloud and of the firmware contain it.
	Number int
	// UserData is the user data at the machine's creation. It may be nil.
	UserData []byte
	// Metadata is served only by the cloud's metadata service, and is on no disk: Azure's user data, in addition to its custom
	// data.
	Metadata []byte
	// Tags are the owner's tags, in Azure's metadata service.
	Tags []fakecloud.Tag
}

// clouds make a machine a machine of a cloud, by the cloud's name.
var clouds = map[string]func(l *Lab, ctx context.Context, m Machine, g Guest) (Machine, error){
	"azure":      (*Lab).azure,
	"ec2":        (*Lab).ec2,
	"nocloud":    (*Lab).noCloud,
	"openstack":  (*Lab).openStack,
	"credential": (*Lab).credential,
}

// In makes a machine a machine of a cloud: its firmware identifies the cloud, and its settings are where that cloud has them. The
// clouds are azure, ec2, nocloud (a disk, as local hypervisors have it), openstack (its configuration drive) and credential
// (systemd's, in the firmware; no cloud at all).
func (l *Lab) In(ctx context.Context, cloud string, m Machine, g Guest) (Machine, error) {
	if g.Metadata != nil && cloud != "azure" {
		return m, fmt.Errorf("%s has one place for user data: what only its metadata service has is Azure's", cloud)
	}
	furnish, known := clouds[cloud]
	if !known {
		return m, fmt.Errorf("there is no cloud %q: want one of %s", cloud, strings.Join(slices.Sorted(maps.Keys(clouds)), ", "))
	}
	if m.Place > 0 && cloud != "azure" {
		return m, fmt.Errorf("%s has one machine at a time here", cloud)
	}
	return furnish(l, ctx, m, g)
}
