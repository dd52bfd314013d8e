package plan

// networkConcerns are all of this subject.
var networkConcerns = []*concern{
	&dhcpDomains,
	&hostname,
	&ipv6Probes,
	&localDNS,
	&metadataRestriction,
	&nameResolution,
	&outbound,
	&privateServer,
	&proxy,
	&resolver,
	&rings,
	&secondaryInterfaces,
}
