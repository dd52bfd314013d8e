package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// Guest is who a machine is to its cloud, and what the cloud was given for it.
type Guest struct {
	// Name is the host name.
	Name string
	// Number distinguishes machines: the cloud's IDs, and the firmware's, are made of it.
	Number int
	// UserData is what the machine was created with; nil for none.
	UserData []byte
	// Metadata is what only the cloud's metadata service has, and no disk: Azure's user data, beside its custom data.
	Metadata []byte
	// Tags are what the owner has given the machine, as Azure's metadata service says.
	Tags []fakecloud.Tag
}

// clouds make a machine one of a cloud's, by the cloud's name.
var clouds = map[string]func(l *Lab, ctx context.Context, m Machine, g Guest) (Machine, error){
	"azure":      (*Lab).azure,
	"ec2":        (*Lab).ec2,
	"nocloud":    (*Lab).noCloud,
	"openstack":  (*Lab).openStack,
	"credential": (*Lab).credential,
}

// In makes a machine one of a cloud's: its firmware says so, and its settings are where that cloud has
// them. The clouds are azure, ec2, nocloud (a disk, as local hypervisors have it), openstack (its
// configuration drive) and credential (systemd's, in the firmware; no cloud at all).
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
