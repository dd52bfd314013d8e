package facts

import "strings"

// The platforms that the agent recognizes.
const (
	Azure     = "azure"
	EC2       = "ec2"
	OpenStack = "openstack"
	// GCE is recognized so that the agent does not ask it for another cloud's metadata.
	GCE = "gce"
	// NoCloud is a machine without a cloud. Its firmware has the location of its settings.
	NoCloud = "nocloud"
)

// The fields of DMI that the rules use.
var (
	sysVendor       = func(d DMI) string { return d.SysVendor }
	productName     = func(d DMI) string { return d.ProductName }
	productUUID     = func(d DMI) string { return d.ProductUUID }
	productSerial   = func(d DMI) string { return d.ProductSerial }
	chassisAssetTag = func(d DMI) string { return d.ChassisAssetTag }
)

// platformRule is one way to recognize a platform. A field equals a text, or begins with it; a prefix matches in either
// case.
type platformRule struct {
	platform      string
	field         func(DMI) string
	exact, prefix string
	// same, if any, is another field that must have the same value, ignoring case.
	same func(DMI) string
}

// platformRules are tried in order. A setting for this one machine comes before what a cloud sets for all its machines,
// as in cloud-init's list of data sources. Sources:
//
//   - nocloud: cloud-init, NoCloud data source, "DMI data"; tools/ds-identify, dscheck_NoCloud.
//   - azure: tools/ds-identify, is_azure_chassis; the same tag is in cloud-init's Azure data source.
//   - ec2: EC2 User Guide, "Detect whether a host is an EC2 instance": Nitro has the vendor, Xen a UUID
//     that begins with ec2; tools/ds-identify, ec2_identify_platform, requires the same serial
//     number, because one UUID in 4,096 begins so by chance.
//   - openstack: tools/ds-identify, dscheck_OpenStack.
//   - gce: tools/ds-identify, dscheck_GCE; Compute Engine, "Detect if a VM is running in Compute Engine".
var platformRules = []platformRule{
	{platform: NoCloud, field: productSerial, prefix: "ds=nocloud"},

	{platform: Azure, field: chassisAssetTag, exact: "7783-7084-3265-9085-8269-3286-77"},

	{platform: EC2, field: sysVendor, exact: "Amazon EC2"},
	{platform: EC2, field: productUUID, prefix: "ec2", same: productSerial},

	{platform: OpenStack, field: productName, exact: "OpenStack Nova"},
	{platform: OpenStack, field: productName, exact: "OpenStack Compute"},
	{platform: OpenStack, field: chassisAssetTag, exact: "OpenTelekomCloud"},
	{platform: OpenStack, field: chassisAssetTag, exact: "SAP CCloud VM"},
	{platform: OpenStack, field: chassisAssetTag, exact: "HUAWEICLOUD"},
	{platform: OpenStack, field: chassisAssetTag, exact: "OpenStack Nova"},
	{platform: OpenStack, field: chassisAssetTag, exact: "OpenStack Compute"},

	{platform: GCE, field: productName, exact: "Google Compute Engine"},
	{platform: GCE, field: productSerial, prefix: "GoogleCloud-"},
}

// Platform recognizes the platform by the firmware's strings, without a network. It is "" if no rule matches. NoCloud
// and the oldest EC2 instances need fields that only the superuser can read.
func Platform(d DMI) string {
	for _, r := range platformRules {
		if r.fits(d) {
			return r.platform
		}
	}
	return ""
}

func (r platformRule) fits(d DMI) bool {
	value := r.field(d)
	if r.exact != "" {
		return value == r.exact
	}
	begins := len(value) >= len(r.prefix) && strings.EqualFold(value[:len(r.prefix)], r.prefix)
	return begins && (r.same == nil || strings.EqualFold(value, r.same(d)))
}
