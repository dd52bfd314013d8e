package azure

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/launch"
)

// The image families.
const (
	ubuntu2004 = "Ubuntu2004"
	ubuntu2204 = "Ubuntu2204"
	ubuntu2404 = "Ubuntu2404"
	linux2     = "AzureLinux2"
	linux3     = "AzureLinux3"
)

// The minors of Kubernetes from which on a newer family is the default.
const (
	since2404   = 34
	sinceLinux3 = 32
)

// familyRow is one row of the decision. It matches if all its conditions are met.
type familyRow struct {
	wanted string
	// fips and trusted are conditions; nil matches both values. since is the first minor of Kubernetes; 0 matches all.
	fips, trusted *bool
	since         int
	family        string
}

var yes, no = new(true), new(false)

// familyRows decide the family; the first matching row counts (Karpenter for Azure: imagefamily, GetImageFamily).
var familyRows = []familyRow{
	{"Ubuntu", yes, no, 0, ubuntu2004},
	{"Ubuntu", nil, yes, 0, ubuntu2204},
	{"Ubuntu", nil, nil, since2404, ubuntu2404},
	{"Ubuntu", nil, nil, 0, ubuntu2204},
	{"Ubuntu2204", nil, nil, 0, ubuntu2204},
	{"Ubuntu2404", nil, nil, 0, ubuntu2404},
	{"AzureLinux", nil, nil, sinceLinux3, linux3},
	{"AzureLinux", nil, nil, 0, linux2},
	{custom, nil, nil, 0, custom},
}

// wantedFamilies are the names that a node class can want.
func wantedFamilies() (names []string) {
	for _, r := range familyRows {
		if !slices.Contains(names, r.wanted) {
			names = append(names, r.wanted)
		}
	}
	return names
}

// familyOf returns the image family for the wanted name. An empty name means "Ubuntu". It returns "" for an unknown name. An invalid
// Kubernetes version counts as older than all others.
func familyOf(wanted string, isFIPS, isTrusted bool, kubernetes string) string {
	if wanted == "" {
		wanted = "Ubuntu"
	}
	for _, r := range familyRows {
		if r.wanted == wanted && (r.fips == nil || *r.fips == isFIPS) && (r.trusted == nil || *r.trusted == isTrusted) && (r.since == 0 || versions.AtLeast(kubernetes, r.since)) {
			return r.family
		}
	}
	return ""
}

var familyRule = rule{
	name:  "image family",
	reads: []string{"$.machine.image.wanted", "$.machine.image.fips", "$.machine.security.vtpm", "$.machine.security.secureBoot", "$.node.cluster.kubernetesVersion"},
	sets:  []string{"$.machine.image.family"},
	decide: func(p *problems, d *launch.Document) {
		m := &d.Machine
		m.Image.Family = familyOf(m.Image.Wanted, value(m.Image.FIPS), m.Security.Trusted(), d.Node.Cluster.KubernetesVersion)
		if m.Image.Family == "" {
			p.oneOf("$.machine.image.wanted", &m.Image.Wanted, families)
		}
	},
}

// osSKU is what AKS calls the operating system of a family.
func osSKU(family string) string {
	switch family {
	case linux2, linux3:
		return "AzureLinux"
	}
	return "Ubuntu"
}

// effective is the family by the name that Karpenter gives it.
func effective(family string) string {
	if family == ubuntu2004 {
		return "Ubuntu"
	}
	return family
}
