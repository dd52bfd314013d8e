package azure

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Input has everything that Azure's decisions depend on, except the request. It is a [launch.Cloud]. Callers may use it for any number
// of requests.
type Input struct {
	// Settings are required.
	Settings *Settings
	// Class is the node class. If nil, no class sets values.
	Class *NodeClass
	// Type is the chosen instance type. TypeSource names its source in messages: a file, a list with its time. TypeSource may be empty.
	Type       *launch.InstanceType
	TypeSource string
	// Images are the region's images. If nil, no image is chosen, which is a problem.
	Images *Images
	// Detected has the known facts of the cluster. If nil, no facts are known.
	Detected *Detected
}

// hardcoded has the values that are the same for all AKS nodes. No code changes it.
var hardcoded = launch.Layer{Source: launch.Hardcoded, Origin: "AKS", Document: &launch.Document{
	Node: nodeconfig.NodeConfig{
		Join: nodeconfig.Join{Method: nodeconfig.JoinBootstrapToken},
		Kubelet: nodeconfig.Kubelet{
			Config: kubeletConfig(),
			Labels: map[string]string{"kubernetes.azure.com/mode": "user", labelUltraSSD: "false"},
		},
		Runtime: nodeconfig.Runtime{
			CgroupDriver: "systemd",
			SandboxImage: sandboxImage,
			Containerd: nodeconfig.Containerd{
				MetricsAddress:  "0.0.0.0:10257",
				RegistryHeaders: map[string]nodeconfig.Secret{"X-Meta-Source-Client": nodeconfig.NewSecret("azure/aks")},
			},
		},
		// AKS node contract, sysctl rules.
		System: nodeconfig.System{Sysctls: map[string]string{
			"net.core.message_burst": "80", "net.core.message_cost": "40", "net.core.somaxconn": "16384",
			"net.ipv4.neigh.default.gc_thresh1": "4096", "net.ipv4.neigh.default.gc_thresh2": "8192", "net.ipv4.neigh.default.gc_thresh3": "16384",
			"net.ipv4.tcp_max_syn_backlog": "16384", "net.ipv4.tcp_retries2": "8",
		}},
		Cloud:      azureCloud(),
		Components: nodeconfig.Components{Layout: nodeconfig.LayoutAKS, Preinstalled: new(true)},
	},
	Machine: launch.Machine{
		CapacityType: onDemand, GPUDriver: "Driver",
		Image: launch.Image{Wanted: "Ubuntu"}, Disk: launch.Disk{SizeGB: standardDisk}, Network: launch.Network{DNS: []string{clusterDNSDefault}},
	},
}}

// standardDisk is the default size of the machine's OS disk (Karpenter for Azure: AKSNodeClass, osDiskSizeGB).
const standardDisk = 128

// azureCloud returns the configuration of Azure's cloud provider that all nodes share.
func azureCloud() nodeconfig.Cloud {
	return nodeconfig.Cloud{Provider: "azure", Azure: &nodeconfig.Azure{
		VMType: "standard", UseInstanceMetadata: true,
		Identity:     nodeconfig.AzureIdentity{ClientID: "msi", Managed: true},
		LoadBalancer: nodeconfig.AzureLoadBalancer{SKU: "standard", MaxRules: new(int32(250))},
	}}
}

// usualLayers is the usual number of layers.
const usualLayers = 12

// Layers returns the values of the input, and the problems with it.
func (in *Input) Layers() ([]launch.Layer, []nodeconfig.Problem) {
	p := new(problems)
	layers := append(make([]launch.Layer, 0, usualLayers), in.standard())
	s := in.Settings
	if s == nil {
		p.Report(true, nodeconfig.Missing, "$", "no settings are given")
		return layers, p.List
	}
	layers = append(layers, s.layered...)
	if in.Class != nil {
		layers = append(layers, in.Class.layer())
		in.userData(p)
	}
	if in.Type != nil {
		d := new(launch.Document)
		d.Machine.Type = *in.Type
		d.Node.Cloud.InstanceType = in.Type.Name
		layers = append(layers, launch.Layer{Source: launch.Detected, Origin: in.typeOrigin(), Document: d})
		if reason := in.Type.Unavailable; reason != "" {
			p.wrong("$.machine.type.unavailable", fmt.Sprintf("is %q: the subscription cannot have %s in its region; use another instance type, or ask Azure for this one", reason, in.Type.Name))
		}
	} else {
		p.Report(true, nodeconfig.Missing, "$.machine.type", "no instance type is given")
	}
	if !in.isOwn() {
		layers = append(layers, in.clusterID(p)...)
	}
	if in.Detected != nil {
		layers = in.Detected.layers(layers)
	}
	in.missing(p)
	in.subnet(p)
	in.version(p)
	return layers, p.List
}

// isOwn reports whether the input is for a self-managed cluster.
func (in *Input) isOwn() bool { return in.Class != nil && value(in.Class.Spec.ImageFamily) == custom }

// standard returns the values that are the same for all nodes.
func (in *Input) standard() launch.Layer {
	if in.isOwn() {
		return own
	}
	return hardcoded
}

// lineOf names the line of a setting in its document.
func lineOf(n *document.Node) string { return "line " + strconv.Itoa(int(n.Line)) }

// typeOrigin names the instance type and its source in messages.
func (in *Input) typeOrigin() string {
	if in.TypeSource == "" {
		return "instance type " + in.Type.Name
	}
	return "instance type " + in.Type.Name + " of " + in.TypeSource
}

// layers returns the layers of the settings: the options that a source sets, the program's environment, and the defaults.
func (s *Settings) layers() []launch.Layer {
	defaults := launch.Layer{Source: launch.Hardcoded, Origin: "default of the settings", Document: new(launch.Document)}
	layers := make([]launch.Layer, 0, 4) // settings and environment of a file, and the defaults
	for i := range options {
		o := &options[i]
		v, given := s.raw[o.name], s.given[o.name]
		if o.into == nil || v == "" && given == "" {
			continue
		}
		if given == "" {
			o.into(defaults.Document, v)
			continue
		}
		source := launch.Global
		if slices.Contains(environment, o.name) {
			source = launch.Environment
		}
		l := within(&layers, source, given)
		o.into(l.Document, v)
		if place := s.places[o.name]; place != "" {
			one := new(launch.Document)
			o.into(one, v)
			l.AddLines(one, place)
		}
	}
	return append(layers, defaults)
}

// within returns the layer of a source and an origin. If there is no such layer, it adds one.
func within(layers *[]launch.Layer, source launch.Source, origin string) *launch.Layer {
	for i := range *layers {
		if l := &(*layers)[i]; l.Source == source && l.Origin == origin {
			return l
		}
	}
	*layers = append(*layers, launch.Layer{Source: source, Origin: origin, Document: new(launch.Document)})
	return &(*layers)[len(*layers)-1]
}

// orNone returns a text, or "none" if a source sets it to the empty text.
func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

// environmentName returns the contract's name for a cloud.
func environmentName(cloud string) string {
	if cloud == "AzureUSGovernment" {
		return "AzureUSGovernmentCloud"
	}
	return cloud
}

// server returns the API server's URL as in a kubeconfig, with AKS's port 443 by default.
func server(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return endpoint // the contract's check reports it
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return "https://" + host + ":" + port
}

// errNoGroups is the error if no facts name the security groups.
var errNoGroups error = &ClusterIDError{Why: "no security groups are known; give cluster-id"}

// clusterID returns the layer with the cluster ID from the API server's name, and compares that ID with the detected one. A missing ID is
// an error only if the other one is missing too.
func (in *Input) clusterID(p *problems) []launch.Layer {
	byName, nameErr := in.Settings.hashedID, in.Settings.hashErr
	found, what, _, foundErr := in.Detected.clusterID()
	const path = "$.machine.network.clusterID"
	switch given, byTable := in.Settings.ClusterID, in.Detected.tableID(); {
	case given != "":
	case foundErr != nil && nameErr != nil:
		p.Report(true, nodeconfig.Missing, path, fmt.Sprintf("is not known: %s; %s", nameErr, foundErr))
	case foundErr == nil && byTable != "" && byTable != found:
		p.Report(false, nodeconfig.Conflict, path, fmt.Sprintf("is %q in the name of the %s, and %q in that of the route table; the first is used", found, what, byTable))
	case foundErr == nil && nameErr == nil && byName != found:
		p.Report(false, nodeconfig.Conflict, path, fmt.Sprintf("is %q in the name of the %s, and %q by the API server's name; the first is used", found, what, byName))
	case foundErr != nil && in.Detected != nil && in.Detected.SecurityGroups != nil:
		p.Report(false, nodeconfig.Conflict, path, foundErr.Error()+"; the API server's name is used, which says "+byName)
	}
	if nameErr != nil || foundErr == nil {
		return nil
	}
	d := new(launch.Document)
	d.Machine.Network.ClusterID = byName
	return []launch.Layer{{Source: launch.Detected, Origin: "name of the API server (likely)", Document: d}}
}

// place returns the subnet and resource group of the cluster's nodes: from the settings, or else from the detected facts.
func (in *Input) place() (subnet, resourceGroup string) {
	found := in.Detected
	if found == nil {
		found = new(Detected)
	}
	return cmp.Or(in.Settings.SubnetID, value(found.SubnetID).Value), cmp.Or(in.Settings.NodeResourceGroup, value(found.NodeResourceGroup).Value)
}

// Missing returns the names of the settings that launches need and that neither the settings nor the detected facts have. A class may
// set another subnet. Detected may be nil.
func (s *Settings) Missing(detected *Detected) []string {
	subnet, group := (&Input{Settings: s, Detected: detected}).place()
	var names []string
	if subnet == "" {
		names = append(names, "vnet-subnet-id")
	}
	if group == "" {
		names = append(names, "node-resource-group")
	}
	return names
}

// missing reports what a launch needs and neither the settings nor the detected facts have.
func (in *Input) missing(p *problems) {
	subnet, group := in.place()
	const reason = "is not known; set %s, or give what was detected"
	if subnet == "" && (in.Class == nil || in.Class.Spec.VnetSubnetID == nil) {
		p.Report(true, nodeconfig.Missing, "$.machine.network.subnet", fmt.Sprintf(reason, "vnet-subnet-id"))
	}
	if group == "" {
		p.Report(true, nodeconfig.Missing, "$.node.cloud.azure.resourceGroup", fmt.Sprintf(reason, "node-resource-group"))
	}
}

// subnet compares the class's subnet with the cluster's (Karpenter for Azure: nodeclass status, subnet).
func (in *Input) subnet(p *problems) {
	if in.Class == nil || in.Class.Spec.VnetSubnetID == nil {
		return
	}
	subnet, group := in.place()
	own, err := ParseSubnet(*in.Class.Spec.VnetSubnetID)
	global, err2 := ParseSubnet(subnet)
	if err != nil || err2 != nil || own.same(global) {
		return
	}
	p.Document = in.Class.Origin()
	switch {
	case managedNetwork(global, group):
		p.wrong("$.spec.vnetSubnetID", "is not possible: the cluster's network is one that AKS has made")
	case !own.sameNetwork(global):
		p.wrong("$.spec.vnetSubnetID", "is a subnet of another network than the cluster's")
	}
	p.Document = ""
}

// mostSkew is how many minors a kubelet may be older than the API server (Kubernetes: version skew policy).
const mostSkew = 3

// version checks the version of Kubernetes: of the node, and against the cluster's.
func (in *Input) version(p *problems) {
	const path = "$.node.cluster.kubernetesVersion"
	wanted, cluster := trimV(in.Settings.KubernetesVersion), ""
	if in.Detected != nil && in.Detected.KubernetesVersion != nil {
		cluster = trimV(in.Detected.KubernetesVersion.Value)
	}
	if wanted == "" {
		wanted = cluster
	}
	minor, ok := versions.Minor(wanted)
	if !ok {
		return // the contract's check reports it
	}
	if minor < kubeletapi.OldestSupported {
		p.wrong(path, "is older than 1."+strconv.Itoa(kubeletapi.OldestSupported)+", the oldest that is supported")
	}
	if minor > kubeletapi.NewestSupported {
		p.Report(false, nodeconfig.Invalid, path, "is newer than 1."+strconv.Itoa(kubeletapi.NewestSupported)+"; the node is made as for that")
	}
	switch server, ok := versions.Minor(cluster); {
	case !ok:
	case minor > server:
		p.wrong(path, "is newer than the API server, 1."+strconv.Itoa(server)+"; a kubelet may not be")
	case server-minor > mostSkew:
		p.wrong(path, fmt.Sprintf("is more than %d minors older than the API server, 1.%d", mostSkew, server))
	}
}

func trimV(version string) string { return strings.TrimPrefix(version, "v") }

// Rules are Azure's decisions. A later one reads what an earlier one has set.
func (in *Input) Rules() []launch.Rule {
	rules := [...]rule{
		familyRule, imageRule(in.Images, in.Settings), zoneRule, sizeRule, offeringRule, ultraSSDRule, securityRule, diskRule, capacityRule, networkRule, kubeletRule, streamingRule, gpuRule, labelsRule, tagsRule,
	}
	all := make([]launch.Rule, 0, len(rules))
	for _, r := range rules {
		all = append(all, launch.Rule{Name: r.name, Reads: r.reads, Sets: r.sets, Run: r.run})
	}
	return all
}

// rule is a [launch.Rule] that collects its problems.
type rule struct {
	name        string
	reads, sets []string
	decide      func(*problems, *launch.Document)
}

// run runs the rule, and returns what it cannot decide.
func (r rule) run(d *launch.Document) []nodeconfig.Problem {
	p := new(problems)
	r.decide(p, d)
	return p.List
}

// Domains returns the label domains of AKS and of Karpenter for Azure, and AKS's labels without a domain.
func (in *Input) Domains() []string { return ownDomains }

// Regional returns the value of the zone label of a machine in no zone.
func (in *Input) Regional() string { return regional }

// ClassRef names the class.
func (in *Input) ClassRef() launch.ClassRef {
	if in.Class == nil {
		return launch.ClassRef{}
	}
	group, _, _ := strings.Cut(ClassVersion, "/")
	return launch.ClassRef{Group: group, Kind: ClassKind, Name: in.Class.Metadata.Name}
}

// Fields returns the sources that may set each field.
func (in *Input) Fields() map[string][]launch.Source { return fields }

// Labels returns the labels that follow from the node, for every input. A pool or a pod may require them, but no source can set them.
func (in *Input) Labels() []string { return labelKeys() }
