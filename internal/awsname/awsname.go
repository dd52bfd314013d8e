// Package awsname has AWS's names: of its partitions, regions, domains and clusters, and of a machine in its network. It decides
// nothing about a node. Validation, the planner and the credential plug-in for EKS (internal/ekstoken) use it.
package awsname

import (
	"slices"
	"strings"
)

// Partition is a part of AWS with separate accounts, regions and a separate domain.
type Partition struct {
	// Name is its name in ARNs.
	Name string
	// regions is the prefix of its regions' names. It is empty for the partition with all other regions.
	regions string
	// Domain is the domain of its services.
	Domain string
	// fips is the prefix of its Security Token Service's host name if that has cryptography validated by FIPS 140.
	fips string
}

// partitions are all partitions, as of 2026-11 (AWS SDKs: partitions.json; AWS STS: endpoint rules). In us-gov each endpoint is
// validated, and its name does not show it.
var partitions = []Partition{
	{"aws-cn", "cn-", "amazonaws.com.cn", "sts-fips"},
	{"aws-us-gov", "us-gov-", "amazonaws.com", "sts"},
	{"aws-iso", "us-iso-", "c2s.ic.gov", "sts-fips"},
	{"aws-iso-b", "us-isob-", "sc2s.sgov.gov", "sts-fips"},
	{"aws-iso-e", "eu-isoe-", "cloud.adc-e.uk", "sts-fips"},
	{"aws-iso-f", "us-isof-", "csp.hci.ic.gov", "sts-fips"},
	{"aws-eusc", "eusc-", "amazonaws.eu", "sts-fips"},
	{"aws", "", "amazonaws.com", "sts-fips"},
}

// PartitionOf returns the partition of a region.
func PartitionOf(region string) *Partition {
	return &partitions[slices.IndexFunc(partitions, func(p Partition) bool { return strings.HasPrefix(region, p.regions) })]
}

// STSHost returns the host name of a region's Security Token Service; fips selects the endpoint with validated cryptography.
func STSHost(region string, fips bool) string {
	p, name := PartitionOf(region), "sts"
	if fips {
		name = p.fips
	}
	return name + "." + region + "." + p.Domain
}

// FIPSVariable is the environment variable by which all AWS SDKs, and the AWS CLI, use endpoints with validated cryptography, if it is
// "true" (AWS SDKs and Tools Reference Guide, "Dual-stack and FIPS endpoints").
const FIPSVariable = "AWS_USE_FIPS_ENDPOINT"

// fipsRegions are the regions in which both STS and ECR have such endpoints (AWS: FIPS 140 endpoints by service, November 2026).
var fipsRegions = []string{"us-east-1", "us-east-2", "us-gov-east-1", "us-gov-west-1", "us-west-1", "us-west-2"}

// HasFIPS reports whether a region is known to have them.
func HasFIPS(region string) bool { return slices.Contains(fipsRegions, region) }

// IsRegion reports whether an AWS region can have the name: words of small letters, and a number.
func IsRegion(name string) bool {
	words := strings.Split(name, "-")
	if len(words) < 3 || len(words) > 5 || len(name) > 32 {
		return false
	}
	number := words[len(words)-1]
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	return !slices.ContainsFunc(words[:len(words)-1], func(word string) bool {
		return word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != ""
	})
}

// IsCluster reports whether an EKS cluster can have the name (Amazon EKS API Reference, CreateCluster).
func IsCluster(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return name != "" && len(name) <= 100 && strings.Trim(name, letters+"-_") == "" && !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "_")
}

// machineDomains are the suffixes of EC2's names for machines in their networks.
var machineDomains = []string{".compute.internal", ".ec2.internal"}

// Machine returns EC2's private DNS name of a machine in a region, which EKS uses as its Node's name. It returns "" if hostname is
// not such a name. The metadata service's name for the machine has the same first label, and the domain of the network's DHCP
// options (EC2 User Guide, "EC2 instance hostnames and domains").
func Machine(hostname, region string) string {
	label, _, _ := strings.Cut(hostname, ".")
	switch {
	case !isMachineLabel(label):
		return ""
	case slices.ContainsFunc(machineDomains, func(domain string) bool { return strings.HasSuffix(hostname, domain) }):
		return hostname
	case !IsRegion(region):
		return ""
	}
	return label + MachineDomain(region)
}

// MachineDomain returns the suffix of the names of a region's machines.
func MachineDomain(region string) string {
	if region == "us-east-1" {
		return ".ec2.internal"
	}
	return "." + region + ".compute.internal"
}

// isMachineLabel reports whether a name's first label has EC2's form: "ip-10-0-0-5" or "i-0123456789abcdef0".
func isMachineLabel(label string) bool {
	kind, rest, _ := strings.Cut(label, "-")
	switch kind {
	case "i":
		return len(rest) >= 8 && strings.Trim(rest, "0123456789abcdef") == ""
	case "ip":
		octets := strings.Split(rest, "-")
		return len(octets) == 4 && !slices.ContainsFunc(octets, func(octet string) bool {
			return octet == "" || len(octet) > 3 || strings.Trim(octet, "0123456789") != ""
		})
	}
	return false
}
