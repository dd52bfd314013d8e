package azure

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// placeRow is where a class says what a launch has at a path and below it. asIs says that the names below are the same.
type placeRow struct {
	path, place string
	asIs        bool
}

// classPlaces are the fields of a class, by the paths that [NodeClass.layer] gives them.
var classPlaces = append([]placeRow{
	{"$.machine.network.subnet", "$.spec.vnetSubnetID", false},
	{"$.machine.disk.sizeGB", "$.spec.osDiskSizeGB", false},
	{"$.machine.image.wanted", "$.spec.imageFamily", false},
	{"$.machine.image.fips", "$.spec.fipsMode", false},
	{"$.machine.tags", "$.spec.tags", true},
	{"$.machine.maxPods", "$.spec.maxPods", false},
	{"$.machine.security.encryptionAtHost", "$.spec.security.encryptionAtHost", false},
	{"$.machine.security.vtpm", "$.spec.security.trustedLaunch.vtpm", false},
	{"$.machine.security.secureBoot", "$.spec.security.trustedLaunch.secureBoot", false},
	{"$.machine.gpuDriver", "$.spec.gpu.mode", false},
	{"$.machine.streaming", "$.spec.artifactStreaming.enabled", false},
	{"$.node.kubelet.config", "$.spec.kubelet", true},
	{"$.node.system.swapMB", "$.spec.linuxOSConfig.swapFileSize", false},
	{"$.node.system.swapDisk", "$.spec.linuxOSConfig.swapFileSize", false},
	{"$.node.system.transparentHugePages.enabled", "$.spec.linuxOSConfig.transparentHugePageEnabled", false},
	{"$.node.system.transparentHugePages.defrag", "$.spec.linuxOSConfig.transparentHugePageDefrag", false},
	{"$.node.network.localDNS.host", "$.spec.localDNS.vnetDNSOverrides", false},
	{"$.node.network.localDNS.pods", "$.spec.localDNS.kubeDNSOverrides", false},
	{"$.node.network.localDNS", "$.spec.localDNS", false},
}, sysctlPlaces()...)

// sysctlPlaces are those of kernel parameters.
func sysctlPlaces() []placeRow {
	rows := make([]placeRow, 0, len(sysctls))
	for _, s := range sysctls {
		rows = append(rows, placeRow{document.FieldPath("$.node.system.sysctls", s.parameter), "$.spec.linuxOSConfig.sysctls." + s.name, false})
	}
	return append(rows, placeRow{document.FieldPath("$.node.system.sysctls", reservedPorts), "$.spec.linuxOSConfig.sysctls." + portRange, false})
}

// classPlace is the place in a class of what a launch has at a path. The first row counts.
func classPlace(path string) (string, bool) {
	for _, r := range classPlaces {
		if !document.Within(path, r.path) {
			continue
		}
		if r.asIs {
			return r.place + strings.TrimPrefix(path, r.path), true
		}
		return r.place, true
	}
	return "", false
}
