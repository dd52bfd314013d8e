package facts

import "reflect"

// Instance is the cloud's description of the machine, in one document of its metadata. Values that the cloud does not
// provide are empty.
type Instance struct {
	// Platform is the cloud's name, one of the platforms that the firmware identifies: "azure", "ec2", ...
	Platform string `json:"platform,omitempty"`
	// ID identifies this machine among all others of the cloud: Azure's vmId, EC2's instance-id, NoCloud's
	// instance-id, OpenStack's uuid.
	ID string `json:"id,omitempty"`
	// Hostname is the intended name of the machine, without a domain if the cloud has none.
	Hostname string `json:"hostname,omitempty"`
	// Type is the machine's size: "Standard_D2s_v5", "m5.large".
	Type string `json:"type,omitempty"`
	// Region and Zone are its location: "eastus" and "1", "us-east-1" and "us-east-1a".
	Region string `json:"region,omitempty"`
	Zone   string `json:"zone,omitempty"`
	// Lifecycle is its purchase option, if the cloud reports it separately: "on-demand", "spot" (EC2).
	Lifecycle string `json:"lifecycle,omitempty"`
	// ResourceID is the cloud's full name for it, if there is one (Azure's resource ID).
	ResourceID string `json:"resourceID,omitempty"`
	// Interfaces are its network interfaces by the cloud, in the cloud's order; the first is the primary one.
	Interfaces []InstanceInterface `json:"interfaces,omitempty"`
	// Tags are the requests of the machine's tags.
	Tags
}

// InstanceInterface is a network interface as the cloud describes it.
type InstanceInterface struct {
	// MAC is its hardware address, in lower case with colons.
	MAC string `json:"mac"`
	// IPv6 reports whether it has IPv6 addresses.
	IPv6 bool `json:"ipv6,omitempty"`
}

// IsZero reports whether all values are empty.
func (i Instance) IsZero() bool { return reflect.ValueOf(i).IsZero() }
