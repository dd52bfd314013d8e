package facts

import "reflect"

// Instance is what the machine's cloud says of it, in one document of its metadata. What the cloud does not
// say is left empty.
type Instance struct {
	// Platform is the cloud's name, one of the platforms that are told by the firmware: "azure", "ec2", ...
	Platform string `json:"platform,omitempty"`
	// ID identifies this machine among all others of the cloud: Azure's vmId, EC2's instance-id, NoCloud's
	// instance-id, OpenStack's uuid.
	ID string `json:"id,omitempty"`
	// Hostname is the name that the machine is to have, without a domain where the cloud gives none.
	Hostname string `json:"hostname,omitempty"`
	// Type is the machine's size: "Standard_D2s_v5", "m5.large".
	Type string `json:"type,omitempty"`
	// Region and Zone are where it is: "eastus" and "1", "us-east-1" and "us-east-1a".
	Region string `json:"region,omitempty"`
	Zone   string `json:"zone,omitempty"`
	// Lifecycle is how it was bought, where the cloud says it apart: "on-demand", "spot" (EC2).
	Lifecycle string `json:"lifecycle,omitempty"`
	// ResourceID is the cloud's full name for it, where it has one (Azure's resource ID).
	ResourceID string `json:"resourceID,omitempty"`
	// Interfaces are the network interfaces that the cloud has given it, in the cloud's order; the first is the primary one.
	Interfaces []InstanceInterface `json:"interfaces,omitempty"`
	// Tags are what the machine's tags ask for.
	Tags
}

// InstanceInterface is a network interface as the cloud describes it.
type InstanceInterface struct {
	// MAC is its hardware address, in lower case with colons.
	MAC string `json:"mac"`
	// IPv6 says that it has IPv6 addresses.
	IPv6 bool `json:"ipv6,omitempty"`
}

// IsZero reports whether nothing is said.
func (i Instance) IsZero() bool { return reflect.ValueOf(i).IsZero() }
