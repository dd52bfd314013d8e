package facts

import "strings"

// The platforms that a machine can be told to be on.
const (
	Azure     = "azure"
	EC2       = "ec2"
	OpenStack = "openstack"
	// GCE is recognised, so that nobody asks it for the metadata of another cloud.
	GCE = "gce"
	// NoCloud is a machine whose settings are where its firmware says, and on no cloud.
	NoCloud = "nocloud"
)

// The fields of DMI that rules look at.
var (
	sysVendor       = func(d DMI) string { return d.SysVendor }
	productName     = func(d DMI) string { return d.ProductName }
	productUUID     = func(d DMI) string { return d.ProductUUID }
	productSerial   = func(d DMI) string { return d.ProductSerial }
	chassisAssetTag = func(d DMI) string { return d.ChassisAssetTag }
)

// platformRule is one way to tell a platform. A field is exactly a text, or begins with it; where it only
// begins with it, it may be in either case.
type platformRule struct {
	platform      string
	field         func(DMI) string
	exact, prefix string
	// same, if any, is another field that has the same value but for case.
	same func(DMI) string
}

// platformRules are tried in order. What somebody has set for this one machine comes before what a cloud
// sets for all of its machines, as in cloud-init's list of data sources. Sources:
//
//   - nocloud: cloud-init, NoCloud data source, "DMI data"; tools/ds-identify, dscheck_NoCloud.
//   - azure: tools/ds-identify, is_azure_chassis; the same tag is in cloud-init's Azure data source.
//   - ec2: EC2 User Guide, "Detect whether a host is an EC2 instance": Nitro has the vendor, Xen a UUID
//     that begins with ec2; tools/ds-identify, ec2_identify_platform, wants the serial number to be the
//     same, because one UUID in 4,096 begins so by chance.
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

// Platform finds the platform by what the firmware says, without asking anybody. It is "" where no rule
// fits. NoCloud and the oldest instances of EC2 are told by fields that only the superuser can read.
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
