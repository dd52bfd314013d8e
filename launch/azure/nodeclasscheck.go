package azure

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// What a class may say (Azure/karpenter-provider-azure: CRD aksnodeclasses, with its CEL rules).
const (
	fips                    = "FIPS"
	dnsRequired             = "Required"
	dnsPreferred            = "Preferred"
	noDriver                = "None"
	smallestDisk, mostDisk  = 30, 2048
	fewestPods, mostPods    = 10, 250
	mostOverrides           = 100
	longestZone             = 254
	longestKey, longestText = 512, 256
	portRange               = "netIPv4IPLocalPortRange"
	// reservedPort is kept from being taken as a local port, by reservedPorts (AKS node contract, sysctl rules).
	reservedPort  = 65330
	reservedPorts = "net.ipv4.ip_local_reserved_ports"
)

// The forms of texts (CRD aksnodeclasses: patterns). A size with K is refused: Kubernetes has k, and the kubelet would not start.
var (
	quantityForm = regexp.MustCompile(`^[0-9]+([EPTGM]i?|Ki)$`)
	durationForm = regexp.MustCompile(`^([0-9]+[smh])+$`)
	portsForm    = regexp.MustCompile(`^[0-9]+ [0-9]+$`)
	zoneForm     = regexp.MustCompile(`^(\.|` + zoneLabel + `(\.` + zoneLabel + `)*\.?)$`)
)

const zoneLabel = `[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?`

var (
	families  = wantedFamilies()
	fipsModes = []string{fips, "Disabled"}
	dnsModes  = []string{dnsPreferred, dnsRequired, "Disabled"}
	gpuModes  = []string{"Driver", noDriver}
	thpModes  = []string{"always", "madvise", "never"}
	defrag    = []string{"always", "defer", "defer+madvise", "madvise", "never"}
)

// kubeletFields are the fields of a class's kubelet, by the kubelet's own names.
var kubeletFields = []string{
	"cpuManagerPolicy", "cpuCFSQuota", "cpuCFSQuotaPeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "topologyManagerPolicy",
	"allowedUnsafeSysctls", "containerLogMaxSize", "containerLogMaxFiles", "podPidsLimit", "failSwapOn",
}

// sysctl is a kernel parameter that a class may set.
type sysctl struct {
	name, parameter string
	least, most     int64
}

// sysctls are all kernel parameters of a class.
var sysctls = []sysctl{
	{"fsAioMaxNr", "fs.aio-max-nr", 65536, 6553500},
	{"fsFileMax", "fs.file-max", 8192, 12000500},
	{"fsInotifyMaxUserWatches", "fs.inotify.max_user_watches", 781250, 2097152},
	{"fsNrOpen", "fs.nr_open", 8192, 20000500},
	{"kernelThreadsMax", "kernel.threads-max", 20, 513785},
	{"netCoreNetdevMaxBacklog", "net.core.netdev_max_backlog", 1000, 3240000},
	{"netCoreOptmemMax", "net.core.optmem_max", 20480, 4194304},
	{"netCoreRmemDefault", "net.core.rmem_default", 212992, 134217728},
	{"netCoreRmemMax", "net.core.rmem_max", 212992, 134217728},
	{"netCoreSomaxconn", "net.core.somaxconn", 4096, 3240000},
	{"netCoreWmemDefault", "net.core.wmem_default", 212992, 134217728},
	{"netCoreWmemMax", "net.core.wmem_max", 212992, 134217728},
	{portRange, "net.ipv4.ip_local_port_range", 0, 0},
	{"netIPv4NeighDefaultGcThresh1", "net.ipv4.neigh.default.gc_thresh1", 128, 80000},
	{"netIPv4NeighDefaultGcThresh2", "net.ipv4.neigh.default.gc_thresh2", 512, 90000},
	{"netIPv4NeighDefaultGcThresh3", "net.ipv4.neigh.default.gc_thresh3", 1024, 100000},
	{"netIPv4TCPFinTimeout", "net.ipv4.tcp_fin_timeout", 5, 120},
	{"netIPv4TCPKeepaliveIntvl", "net.ipv4.tcp_keepalive_intvl", 10, 90},
	{"netIPv4TCPKeepaliveProbes", "net.ipv4.tcp_keepalive_probes", 1, 15},
	{"netIPv4TCPKeepaliveTime", "net.ipv4.tcp_keepalive_time", 30, 432000},
	{"netIPv4TCPMaxSynBacklog", "net.ipv4.tcp_max_syn_backlog", 128, 3240000},
	{"netIPv4TCPMaxTwBuckets", "net.ipv4.tcp_max_tw_buckets", 8000, 1440000},
	{"netIPv4TCPTwReuse", "net.ipv4.tcp_tw_reuse", 0, 0},
	{"netNetfilterNfConntrackBuckets", "net.netfilter.nf_conntrack_buckets", 65536, 524288},
	{"netNetfilterNfConntrackMax", "net.netfilter.nf_conntrack_max", 131072, 2097152},
	{"vmMaxMapCount", "vm.max_map_count", 65530, 262144},
	{"vmSwappiness", "vm.swappiness", 0, 100},
	{"vmVfsCachePressure", "vm.vfs_cache_pressure", 0, 100},
}

// inOrder are pairs of parameters of which the first is at most the second.
var inOrder = [][2]string{
	{"netCoreRmemDefault", "netCoreRmemMax"},
	{"netCoreWmemDefault", "netCoreWmemMax"},
	{"netIPv4NeighDefaultGcThresh1", "netIPv4NeighDefaultGcThresh2"},
	{"netIPv4NeighDefaultGcThresh2", "netIPv4NeighDefaultGcThresh3"},
}

// check returns what is wrong with a value of the parameter.
func (s *sysctl) check(v any) string {
	switch {
	case s.name == "netIPv4TCPTwReuse":
		return boolean(v)
	case s.name != portRange:
		return whole(s.least, s.most)(v)
	}
	first, last, ok := ports(v)
	switch {
	case !ok:
		return `want two ports with a blank between, such as "32768 60999"`
	case first < 1024 || first > 60999:
		return "want a first port from 1024 to 60999"
	case last < 32768 || last > 65535:
		return "want a last port from 32768 to 65535"
	case first > last:
		return "want a first port that is not higher than the last"
	}
	return ""
}

// text is a value of the parameter as the kernel reads it.
func (s *sysctl) text(v any) string {
	if b, ok := v.(bool); ok {
		return map[bool]string{true: "1", false: "0"}[b]
	}
	return fmt.Sprint(v)
}

// Check returns everything that is wrong with the class: what the API server would refuse, and what contradicts itself.
func (c *NodeClass) Check() []nodeconfig.Problem {
	p, s := &problems{problem.Collector{Document: c.Origin()}}, &c.Spec
	if s.VnetSubnetID != nil {
		if _, err := ParseSubnet(*s.VnetSubnetID); err != nil {
			p.wrong("$.spec.vnetSubnetID", err.Error())
		}
	}
	if d := s.OSDiskSizeGB; d != nil && (*d < smallestDisk || *d > mostDisk) {
		p.wrong("$.spec.osDiskSizeGB", fmt.Sprintf("want %d to %d", smallestDisk, mostDisk))
	}
	if m := s.MaxPods; m != nil && (*m < fewestPods || *m > mostPods) {
		p.wrong("$.spec.maxPods", fmt.Sprintf("want %d to %d", fewestPods, mostPods))
	}
	for i := range s.DriftOnRelease {
		p.oneOf(document.IndexPath("$.spec.driftOnRelease", i), &s.DriftOnRelease[i], launch.ReleaseChoices())
	}
	p.oneOf("$.spec.imageFamily", s.ImageFamily, families)
	p.oneOf("$.spec.fipsMode", s.FIPSMode, fipsModes)
	p.family(s)
	p.tags("$.spec.tags", s.Tags)
	p.kubelet(s.Kubelet)
	if s.GPU != nil {
		p.oneOf("$.spec.gpu.mode", s.GPU.Mode, gpuModes)
	}
	p.system(s.LinuxOSConfig, s.Kubelet)
	p.localDNS(s.LocalDNS)
	_, found := c.userData()
	return append(p.List, found...)
}

// family checks the combinations that no image has (CEL rules of the class).
func (p *problems) family(s *ClassSpec) {
	if value(s.FIPSMode) != fips {
		return
	}
	trusted := s.Security != nil && s.Security.TrustedLaunch != nil && (value(s.Security.TrustedLaunch.VTPM) || value(s.Security.TrustedLaunch.SecureBoot))
	switch family := value(s.ImageFamily); { // none is Ubuntu
	case family == "Ubuntu2404":
		p.wrong("$.spec.fipsMode", "no image of $.spec.imageFamily Ubuntu2404 has FIPS; use Ubuntu or AzureLinux")
	case family == "Ubuntu2204" && !trusted:
		p.wrong("$.spec.fipsMode", "an image of $.spec.imageFamily Ubuntu2204 has FIPS with $.spec.security.trustedLaunch alone")
	case family == "AzureLinux" && trusted:
		p.wrong("$.spec.fipsMode", "no image of $.spec.imageFamily AzureLinux has FIPS and $.spec.security.trustedLaunch; use Ubuntu")
	}
}

// tags checks tags as Azure's resource manager takes them.
func (p *problems) tags(path string, tags map[string]string) {
	folded := make(map[string]string, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := field(path, key)
		if reason := checkTag(key, tags[key]); reason != "" {
			p.wrong(at, reason)
		}
		if other, twice := folded[foldTag(key)]; twice {
			p.wrong(at, sameTag(other))
		}
		folded[foldTag(key)] = key
		if slices.Contains(ownTags, foldTag(key)) {
			p.wrong(at, "is a tag that Karpenter sets; leave it out")
		}
	}
}

func checkTag(key, value string) string {
	switch {
	case key == "" || utf8.RuneCountInString(key) > longestKey || utf8.RuneCountInString(value) > longestText:
		return fmt.Sprintf("want at most %d characters in a tag's name and %d in its value", longestKey, longestText)
	case strings.ContainsAny(key, `<>%&\?`):
		return `has a character in its name that Azure refuses: < > % & \ ?`
	case strings.ContainsFunc(key+value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "has a control character"
	}
	return ""
}

// kubelet checks the class's fields as a kubelet does. AKS's thresholds are the kubelet's own, where the class has none. The version
// decides more, and the node's planner says it.
func (p *problems) kubelet(config map[string]any) {
	const path = "$.spec.kubelet"
	p.unknown(path, config, kubeletFields)
	known := maps.Clone(config)
	maps.DeleteFunc(known, func(name string, _ any) bool { return !slices.Contains(kubeletFields, name) })
	if text, ok := known["containerLogMaxSize"].(string); ok && !quantityForm.MatchString(text) {
		p.wrong(path+".containerLogMaxSize", "want a size such as 50Mi")
		delete(known, "containerLogMaxSize")
	}
	if len(known) > 0 {
		known["kubeReserved"] = map[string]any{"cpu": "1"} // as each node of AKS keeps processors back
	}
	for _, found := range kubeletapi.Check(kubeletapi.Settings{Minor: kubeletapi.NewestSupported, Config: known, At: path}) {
		p.Report(found.Fatal, found.Kind, found.Path, found.Reason)
	}
}

// unknown reports names that are not in a table.
func (p *problems) unknown(path string, values map[string]any, known []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(known, name) {
			continue
		}
		p.Report(true, nodeconfig.Unknown, field(path, name), "unknown field"+document.Suggestion(name, known))
	}
}

func (p *problems) system(c *LinuxOSConfig, kubelet map[string]any) {
	const path = "$.spec.linuxOSConfig"
	if c == nil {
		return
	}
	p.oneOf(path+".transparentHugePageEnabled", c.TransparentHugePageEnabled, thpModes)
	p.oneOf(path+".transparentHugePageDefrag", c.TransparentHugePageDefrag, defrag)
	if c.SwapFileSize != nil {
		switch _, ok := swapSize(*c.SwapFileSize); {
		case !ok:
			p.wrong(path+".swapFileSize", "want a size such as 1500Mi or 2Gi")
		case kubelet["failSwapOn"] != false:
			p.wrong(path+".swapFileSize", "takes $.spec.kubelet.failSwapOn false, or the kubelet would not start")
		}
	}
	var known []string
	for i := range sysctls {
		row := &sysctls[i]
		known = append(known, row.name)
		if v := c.Sysctls[row.name]; v != nil {
			if reason := row.check(v); reason != "" {
				p.wrong(field(path+".sysctls", row.name), reason)
			}
		}
	}
	p.unknown(path+".sysctls", c.Sysctls, known)
	for _, pair := range inOrder {
		less, ok := number(c.Sysctls[pair[0]])
		more, ok2 := number(c.Sysctls[pair[1]])
		if ok && ok2 && less > more {
			p.wrong(field(path+".sysctls", pair[0]), "want at most "+pair[1])
		}
	}
}

// The rules of a value. Each returns what is wrong with one, or "".

func boolean(v any) string {
	if _, ok := v.(bool); !ok {
		return "want true or false"
	}
	return ""
}

func number(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return i, err == nil
}

func whole(least, most int64) func(any) string {
	return func(v any) string {
		if n, ok := number(v); !ok || n < least || n > most {
			return fmt.Sprintf("want a whole number from %d to %d", least, most)
		}
		return ""
	}
}
