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

// origin is somewhere a contract can be.
type origin struct {
	name string
	// platforms are those that have it; nil for all.
	platforms []string
	// network says that it takes one.
	network bool
	read    func(ctx context.Context, s *Search) (Contract, error)
}

// unknown is the platform of a machine that no rule knows.
const unknown = ""

// places are in the order in which they are looked at: what an administrator has put on the disk, what the
// firmware says, what the hypervisor has attached, what others have kept of it, and the metadata service.
// Azure: custom data comes before user data, as custom data is what a node's has always been in.
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

// Names are the names of all places, by which one can be chosen.
func Names() []string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.name
	}
	return names
}

// places are those that this machine's platform has, or the only one that was asked for.
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

// attached are the places whose disk, or firmware, goes with the machine and not with its disk.
var attached = []string{"azure-ovf", "nocloud-disk", "config-drive"}

// IsAttached reports whether a place goes with the machine, and so distinguishes it from a machine with a copy of its disk.
func IsAttached(name string) bool { return slices.Contains(attached, name) }

// PlaceFor is where a contract belongs on the disk: where its user data wants it, or else its dialect has it.
func PlaceFor(c Contract, dialectName string) string {
	if slices.Contains(Paths, c.Place) {
		return c.Place
	}
	return cmp.Or(profile.OfDialect(dialectName), profile.Default()).Contract.Place(c.Data)
}
