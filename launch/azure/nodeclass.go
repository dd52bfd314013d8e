package azure

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The API of node classes.
const (
	ClassVersion = "karpenter.azure.com/v1beta1"
	ClassKind    = "AKSNodeClass"
)

// NodeClass is an AKSNodeClass (karpenter.azure.com/v1beta1): what nodes of a class are like.
type NodeClass struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Metadata   launch.Meta `json:"metadata"`
	Spec       ClassSpec   `json:"spec"`
}

// ClassSpec is a class's specification. The API's documentation describes each field.
type ClassSpec struct {
	VnetSubnetID      *string           `json:"vnetSubnetID,omitempty"`
	OSDiskSizeGB      *int32            `json:"osDiskSizeGB,omitempty"`
	ImageFamily       *string           `json:"imageFamily,omitempty"`
	FIPSMode          *string           `json:"fipsMode,omitempty"`
	Tags              map[string]string `json:"tags,omitempty"`
	Kubelet           map[string]any    `json:"kubelet,omitempty"`
	MaxPods           *int32            `json:"maxPods,omitempty"`
	Security          *ClassSecurity    `json:"security,omitempty"`
	LocalDNS          *LocalDNS         `json:"localDNS,omitempty"`
	GPU               *GPU              `json:"gpu,omitempty"`
	ArtifactStreaming *struct {
		Enabled *bool `json:"enabled,omitempty"`
	} `json:"artifactStreaming,omitempty"`
	LinuxOSConfig *LinuxOSConfig `json:"linuxOSConfig,omitempty"`
	// UserData is Slipway's own: a NodeConfig, which is a part of what the class says, or a shell script or a MIME document for the
	// machine. It may hold secrets.
	UserData nodeconfig.Secret `json:"userData,omitzero"`
	// DriftOnRelease is Slipway's own: what a release chooses by itself, and nodes follow all the same ([launch.ReleaseChoices]).
	DriftOnRelease []string `json:"driftOnRelease,omitempty"`
}

// ClassSecurity is a class's security.
type ClassSecurity struct {
	EncryptionAtHost *bool `json:"encryptionAtHost,omitempty"`
	TrustedLaunch    *struct {
		VTPM       *bool `json:"vtpm,omitempty"`
		SecureBoot *bool `json:"secureBoot,omitempty"`
	} `json:"trustedLaunch,omitempty"`
}

// GPU is a class's settings for graphics processors.
type GPU struct {
	Mode *string `json:"mode,omitempty"`
}

// LinuxOSConfig is a class's operating system.
type LinuxOSConfig struct {
	SwapFileSize               *string        `json:"swapFileSize,omitempty"`
	TransparentHugePageEnabled *string        `json:"transparentHugePageEnabled,omitempty"`
	TransparentHugePageDefrag  *string        `json:"transparentHugePageDefrag,omitempty"`
	Sysctls                    map[string]any `json:"sysctls,omitempty"`
}

// ReadNodeClass reads a node class, YAML or JSON, and checks it as the API server would. Every problem is returned, and the class
// without what could not be read, so that what else is wrong with a launch can be said at once. It is nil where the document is no class.
func ReadNodeClass(data []byte) (*NodeClass, []nodeconfig.Problem) {
	c := new(NodeClass)
	problems := launch.Read(data, ClassVersion, ClassKind, c)
	if c.Kind == "" {
		return nil, problems
	}
	unread := len(problems)
	for _, p := range c.Check() {
		if !slices.ContainsFunc(problems[:unread], func(known nodeconfig.Problem) bool {
			return document.Within(known.Path, p.Path) || document.Within(p.Path, known.Path)
		}) {
			problems = append(problems, p) // of what could not be read nothing else is known
		}
	}
	nodeconfig.SortProblems(problems)
	return c, problems
}

// Origin is the class for people, in problems and explanations.
func (c *NodeClass) Origin() string { return c.Metadata.Origin(ClassKind) }

// layer returns the class's values as fields of a node and its machine.
func (c *NodeClass) layer() launch.Layer {
	l := launch.Layer{Source: launch.Class, Origin: c.Origin(), Document: new(launch.Document), Place: classPlace}
	n, m, s := &l.Document.Node, &l.Document.Machine, &c.Spec
	m.Network.Subnet = value(s.VnetSubnetID)
	m.Disk.SizeGB = value(s.OSDiskSizeGB)
	m.Image.Wanted = value(s.ImageFamily)
	if s.FIPSMode != nil {
		m.Image.FIPS = new(*s.FIPSMode == fips)
	}
	m.Tags, m.MaxPods, m.DriftOnRelease = tagNames(s.Tags), s.MaxPods, s.DriftOnRelease
	if s.Security != nil {
		m.Security.EncryptionAtHost = s.Security.EncryptionAtHost
		if t := s.Security.TrustedLaunch; t != nil {
			m.Security.VTPM, m.Security.SecureBoot = t.VTPM, t.SecureBoot
		}
	}
	if s.GPU != nil {
		m.GPUDriver = value(s.GPU.Mode)
	}
	if s.ArtifactStreaming != nil {
		m.Streaming = s.ArtifactStreaming.Enabled
	}
	s.addKubelet(&n.Kubelet.Config, false)
	s.LinuxOSConfig.system(&n.System)
	if s.LocalDNS != nil && value(s.LocalDNS.Mode) == dnsRequired {
		n.Network.LocalDNS, _ = s.LocalDNS.cache()
	}
	if own, found := c.userData(); own != nil && len(nodeconfig.Fatal(found)) == 0 { // what is refused is in no launch
		given := new(launch.Document)
		own.overlay(given)
		l.AddLines(given, pathUserData)
		l.AddLines(l.Document, "") // the class's fields go before it
		own.overlay(l.Document)
	}
	s.addKubelet(&n.Kubelet.Config, true)
	return l
}

// kubeletDefaults are those of a class that has a kubelet (CRD aksnodeclasses: defaults): the API server writes them into a class.
var kubeletDefaults = map[string]any{
	"containerLogMaxFiles": json.Number("5"), logSize: "50Mi", "cpuCFSQuota": true, "cpuCFSQuotaPeriod": "100ms",
	"cpuManagerPolicy": "none", "topologyManagerPolicy": "none",
}

// logSize is the one whose default is not the kubelet's own, so a class in a file must have it as well.
const logSize = "containerLogMaxSize"

// addKubelet adds what the class wants of the kubelet and config does not say. A default may be the API server's, so it goes below
// the class's user data: isDefault chooses these.
func (s *ClassSpec) addKubelet(config *map[string]any, isDefault bool) {
	wanted := make(map[string]any, len(s.Kubelet)+1)
	for name, v := range s.Kubelet {
		if v != nil && reflect.DeepEqual(v, kubeletDefaults[name]) == isDefault { // the API server takes a null for nothing
			wanted[name] = v
		}
	}
	if isDefault && s.Kubelet != nil {
		wanted[logSize] = kubeletDefaults[logSize]
	}
	maps.Copy(wanted, *config)
	if len(wanted) > 0 {
		*config = wanted
	}
}

// system sets the class's values for the operating system.
func (c *LinuxOSConfig) system(s *nodeconfig.System) {
	if c == nil {
		return
	}
	if c.SwapFileSize != nil {
		if bytes, ok := swapSize(*c.SwapFileSize); ok {
			s.SwapMB, s.SwapDisk = int32((bytes+swapUnit/2)/swapUnit), nodeconfig.PreferTemporary
		}
	}
	for file, setting := range map[string]*string{"enabled": c.TransparentHugePageEnabled, "defrag": c.TransparentHugePageDefrag} {
		if setting != nil {
			if s.TransparentHugePages == nil {
				s.TransparentHugePages = make(map[string]string)
			}
			s.TransparentHugePages[file] = *setting
		}
	}
	for _, row := range sysctls {
		given := c.Sysctls[row.name]
		if given == nil {
			continue
		}
		if s.Sysctls == nil {
			s.Sysctls = make(map[string]string)
		}
		s.Sysctls[row.parameter] = row.text(given)
		if row.name != portRange {
			continue
		}
		if _, last, ok := ports(given); ok && last >= reservedPort {
			s.Sysctls[reservedPorts] = strconv.Itoa(reservedPort)
		}
	}
}

// swapUnit is the unit of nodeconfig.System.SwapMB: 1000 KiB, as AKS counts.
const swapUnit = 1000 << 10

// swapSize is the size of a swap file that the contract can say.
func swapSize(text string) (bytes int64, ok bool) {
	bytes, ok = capacity.Bytes(text)
	return bytes, ok && quantityForm.MatchString(text) && bytes <= 1<<31*swapUnit/2
}

// ports reads a range of two ports with a blank between.
func ports(v any) (first, last int64, ok bool) {
	text, _ := v.(string)
	from, to, _ := strings.Cut(text, " ")
	first, err := strconv.ParseInt(from, 10, 32)
	last, err2 := strconv.ParseInt(to, 10, 32)
	return first, last, portsForm.MatchString(text) && err == nil && err2 == nil
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// problems collects what is wrong with an object.
type problems struct{ problem.Collector }

func (p *problems) wrong(path, reason string) { p.Report(true, nodeconfig.Invalid, path, reason) }

// oneOf reports a text that is not in a list. If nil, the text is not set and not checked.
func (p *problems) oneOf(path string, text *string, allowed []string) {
	if text != nil && !slices.Contains(allowed, *text) {
		p.wrong(path, "want one of "+strings.Join(allowed, ", "))
	}
}

func field(path, name string) string { return document.FieldPath(path, name) }

// placeRow maps a path of a launch, and the paths below it, to the class's field. asIs is true if the names below are the same.
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
	{"$.machine.driftOnRelease", "$.spec.driftOnRelease", false},
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

// classPlace returns the class's field for a path of a launch. The first matching row counts.
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
