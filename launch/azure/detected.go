package azure

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The kinds of documents that programs write for launches; their apiVersion is the native contract's.
const (
	// DetectedKind is the kind of a [Detected] document.
	DetectedKind = "DetectedCluster"
	// ImagesKind is the kind of an [Images] document.
	ImagesKind = "ImageList"
)

// Detected is what a program has found out about a cluster, from Kubernetes' and Azure's interfaces. A fact that is nil is not
// known.
type Detected struct {
	APIVersion           string `json:"apiVersion"`
	Kind                 string `json:"kind"`
	KubernetesVersion    *Fact  `json:"kubernetesVersion,omitempty"`
	CertificateAuthority *Fact  `json:"certificateAuthority,omitempty"`
	DNSServiceIP         *Fact  `json:"dnsServiceIP,omitempty"`
	ServiceCIDR          *Fact  `json:"serviceCIDR,omitempty"`
	NetworkPlugin        *Fact  `json:"networkPlugin,omitempty"`
	NetworkPluginMode    *Fact  `json:"networkPluginMode,omitempty"`
	NetworkPolicy        *Fact  `json:"networkPolicy,omitempty"`
	NetworkDataplane     *Fact  `json:"networkDataplane,omitempty"`
	NodeResourceGroup    *Fact  `json:"nodeResourceGroup,omitempty"`
	SubnetID             *Fact  `json:"subnetID,omitempty"`
	VNetGUID             *Fact  `json:"vnetGUID,omitempty"`
	KubeletIdentity      *Fact  `json:"kubeletIdentity,omitempty"`
	// SecurityGroups and RouteTables are the names of all that the node resource group has; the cluster ID is in one of them.
	SecurityGroups *Fact `json:"securityGroups,omitempty"`
	RouteTables    *Fact `json:"routeTables,omitempty"`
}

// Fact is a value, or several, with where and when it was found.
type Fact struct {
	Value  string   `json:"value,omitempty"`
	Values []string `json:"values,omitempty"`
	// Source is who was asked: "GET /version of the API server".
	Source string `json:"source"`
	// Time is when, in RFC 3339.
	Time string `json:"time,omitempty"`
	// Confidence is "certain", the default, or "likely" for what follows from something else.
	Confidence string `json:"confidence,omitempty"`
}

var confidences = []string{"", "certain", "likely"}

// origin is the place of a fact for people.
func (f *Fact) origin() string {
	words := f.Source
	if f.Time != "" {
		words += " at " + f.Time
	}
	if f.Confidence == "likely" {
		words += " (likely)"
	}
	return words
}

// row is a fact, its name, and where it goes; check returns what is wrong with a value.
type row struct {
	name  string
	fact  func(*Detected) *Fact
	check func(string) string
	set   func(*launch.Document, string)
}

// rows are all facts of one value.
var rows = []row{
	{"kubernetesVersion", func(d *Detected) *Fact { return d.KubernetesVersion }, oneLine, func(d *launch.Document, v string) { d.Node.Cluster.KubernetesVersion = trimV(v) }},
	{"certificateAuthority", func(d *Detected) *Fact { return d.CertificateAuthority }, nil, func(d *launch.Document, v string) { d.Node.Cluster.CertificateAuthority = v }},
	// Before the address itself, which goes before what follows from the range.
	{"serviceCIDR", func(d *Detected) *Fact { return d.ServiceCIDR }, serviceRange, func(d *launch.Document, v string) { d.Machine.Network.DNS = nodeconfig.DefaultDNSServiceIPs(list(v)) }},
	{"dnsServiceIP", func(d *Detected) *Fact { return d.DNSServiceIP }, address, func(d *launch.Document, v string) { d.Machine.Network.DNS = []string{v} }},
	{"networkPlugin", func(d *Detected) *Fact { return d.NetworkPlugin }, among("azure", "none"), func(d *launch.Document, v string) { d.Machine.Network.Plugin = v }},
	{"networkPluginMode", func(d *Detected) *Fact { return d.NetworkPluginMode }, among("", "overlay"), func(d *launch.Document, v string) { d.Machine.Network.Mode = orNone(v) }},
	{"networkPolicy", func(d *Detected) *Fact { return d.NetworkPolicy }, among("", "azure", "calico", "cilium", "none"), func(d *launch.Document, v string) { d.Machine.Network.Policy = orNone(v) }},
	{"networkDataplane", func(d *Detected) *Fact { return d.NetworkDataplane }, among("", "azure", "cilium"), func(d *launch.Document, v string) { d.Machine.Network.Dataplane = orNone(v) }},
	{"nodeResourceGroup", func(d *Detected) *Fact { return d.NodeResourceGroup }, resourceGroup, func(d *launch.Document, v string) { azureOf(d).ResourceGroup = v }},
	{"subnetID", func(d *Detected) *Fact { return d.SubnetID }, subnetID, func(d *launch.Document, v string) { d.Machine.Network.Subnet = v }},
	{"vnetGUID", func(d *Detected) *Fact { return d.VNetGUID }, guid, func(d *launch.Document, v string) { d.Machine.Network.ID = v }},
	{"kubeletIdentity", func(d *Detected) *Fact { return d.KubeletIdentity }, guid, func(d *launch.Document, v string) { azureOf(d).Identity.UserAssignedID = v }},
}

// factRow is the row of a fact.
func factRow(name string) row {
	return rows[slices.IndexFunc(rows, func(r row) bool { return r.name == name })]
}

// azureOf is the part of a contract that is about Azure's cloud provider.
func azureOf(d *launch.Document) *nodeconfig.Azure {
	if d.Node.Cloud.Azure == nil {
		d.Node.Cloud.Azure = new(nodeconfig.Azure)
	}
	return d.Node.Cloud.Azure
}

// ReadDetected reads what was detected, YAML or JSON. Every problem is returned.
func ReadDetected(data []byte) (*Detected, []nodeconfig.Problem) {
	d := new(Detected)
	p := problems{problem.Collector{List: launch.Read(data, nodeconfig.APIVersion, DetectedKind, d)}}
	for _, r := range rows {
		f := r.fact(d)
		if f == nil {
			continue
		}
		if r.check != nil {
			if reason := r.check(f.Value); reason != "" {
				p.wrong(field("$", r.name)+".value", reason)
			}
		}
		p.finding(field("$", r.name), f)
	}
	p.names("$.securityGroups", d.SecurityGroups, "a security group")
	p.names("$.routeTables", d.RouteTables, "a route table")
	nodeconfig.SortProblems(p.List)
	return d, p.List
}

func (p *problems) finding(path string, f *Fact) {
	if f.Source == "" {
		p.Report(true, nodeconfig.Missing, path+".source", "is missing; say who was asked")
	}
	p.oneOf(path+".confidence", &f.Confidence, confidences)
}

// names checks a fact with the names of resources.
func (p *problems) names(path string, f *Fact, what string) {
	if f == nil {
		return
	}
	p.finding(path, f)
	for i, name := range f.Values {
		if !isResourceName(name) {
			p.wrong(document.IndexPath(path+".values", i), "is not the name of "+what)
		}
	}
}

// layers adds what was detected to the other layers, one for each place and time.
func (d *Detected) layers(layers []launch.Layer) []launch.Layer {
	of := func(f *Fact) *launch.Document { return within(&layers, launch.Detected, f.origin()).Document }
	for _, r := range rows {
		if f := r.fact(d); f != nil {
			r.set(of(f), f.Value)
		}
	}
	if id, _, fact, err := d.clusterID(); err == nil {
		of(fact).Machine.Network.ClusterID = id
	}
	return layers
}
