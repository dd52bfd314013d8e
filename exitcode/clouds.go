package exitcode

// The clouds whose networks have parts with names that an administrator looks for. They are those of the machine's facts.
const (
	azure = "azure"
	ec2   = "ec2"
)

// clouds has the actions that name a cloud's parts, by the code's number.
var clouds = map[int]map[string]string{
	OutboundFailed: {
		azure: "check the subnet's egress (outbound type, route table, NAT gateway, network security group, firewall, proxy), then run the check's command on the node",
		ec2: "check the subnet's egress (a route to a NAT or internet gateway, or the VPC's endpoints of a private subnet; network ACL, security group, proxy), " +
			"then run the check's command on the node",
	},
	APIServerUnreachable: {
		azure: "check the subnet's network security group and route table, the cluster's authorized IP ranges, and for a private cluster its private endpoint; " +
			"check the contract's CA, or the hash that pins it, if the cause is tls, pin or unsigned",
		ec2: "let this machine's security group into the cluster's on port 443, and check the cluster's endpoint access (private, or public with the machine's address in it); " +
			"check the contract's CA, or the hash that pins it, if the cause is tls, pin or unsigned",
	},
	APIServerNameUnresolved: {
		azure: "run resolvectl query with the name on the node; for a private cluster link its private DNS zone to the node's virtual network, " +
			"or let the network's own DNS servers forward to 168.63.129.16",
		ec2: "run resolvectl query with the name on the node; the VPC needs enableDnsSupport and enableDnsHostnames, " +
			"and DNS servers other than the VPC's must forward to its resolver",
	},
}
