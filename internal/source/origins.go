package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/profile"
)

// origin is a place that can have a contract.
type origin struct {
	name string
	// platforms are the platforms that have it. If nil, all have it.
	platforms []string
	// network reports whether it needs a network.
	network bool
	read    func(ctx context.Context, s *Search) (Contract, error)
}

// unknown is the platform of a machine that no rule recognizes.
const unknown = ""

// places are in search order: the administrator's file on the disk, the firmware, the disks that the hypervisor has
// attached, other programs' copies of them, and the metadata service. On Azure, custom data comes before user data,
// because nodes have always used custom data.
var places = append([]origin{
	{FileSource, nil, false, readFile},
	{"credential", nil, false, readCredential},
	{"azure-ovf", []string{facts.Azure}, false, readOVF},
	{"nocloud-seed", []string{facts.NoCloud, unknown}, false, readSeedDirectory},
	{"nocloud-disk", []string{facts.NoCloud, facts.OpenStack, unknown}, false, onLabelled(seedLabel, seedUserData, seedMetaData, seedInstance)},
	{"config-drive", []string{facts.OpenStack, facts.NoCloud, unknown}, false, onLabelled(driveLabel, driveUserData, driveMetaData, driveInstance)},
	{"waagent", []string{facts.Azure}, false, readGuestAgent},
	{"cloud-init", nil, false, readCloudInit},
	{"nocloud-url", []string{facts.NoCloud}, true, readSeedURL},
}, services()...)

// services are the metadata services of all clouds.
func services() []origin {
	var all []origin
	for _, cloud := range metadata.Clouds() {
		all = append(all, origin{cloud + "-imds", []string{cloud}, true, readService})
	}
	return all
}

// Names are the names of all places, for choosing one.
func Names() []string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.name
	}
	return names
}

// places are the places of this machine's platform, or only the requested one.
func (s *Search) places() (local, remote []origin, err error) {
	platform := s.Facts.Platform
	for _, p := range places {
		if s.Only != "" && s.Only != p.name {
			continue
		}
		if s.Only == "" && p.platforms != nil && !slices.Contains(p.platforms, platform) {
			continue
		}
		if p.network {
			remote = append(remote, p)
		} else {
			local = append(local, p)
		}
	}
	if len(local)+len(remote) == 0 {
		return nil, nil, fmt.Errorf("unknown source %q, want one of %s", s.Only, strings.Join(Names(), ", "))
	}
	return local, remote, nil
}

// attached are the places on an attached disk or in the firmware, which belong to the machine and not to its root disk.
var attached = []string{"azure-ovf", "nocloud-disk", "config-drive"}

// IsAttached reports whether a place belongs to the machine, and so distinguishes it from a machine with a copy of its
// disk.
func IsAttached(name string) bool { return slices.Contains(attached, name) }

// PlaceFor is the path for a contract on the disk: the one in its user data, or else its dialect's.
func PlaceFor(c Contract, dialectName string) string {
	if slices.Contains(Paths, c.Place) {
		return c.Place
	}
	return cmp.Or(profile.OfDialect(dialectName), profile.Default()).Contract.Place(c.Data)
}
