// Package network plans the network of the host: names and the DNS cache, the proxy, interfaces, and which servers are reached.
// internal/plan composes it.
package network

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("network",
	&dhcpDomains,
	&foreign,
	&hostname,
	&ipv6Probes,
	&localDNS,
	&metadataRestriction,
	&nameResolution,
	&outbound,
	&privateServer,
	&proxy,
	&resolver,
	&receiveRings,
	&secondaryInterfaces,
)
