package eksctl

import (
	"encoding/base64"
	"net/netip"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// described is what "aws eks describe-cluster" prints of a cluster (Amazon EKS API Reference, DescribeCluster).
type described struct {
	Name     string `json:"name"`
	ARN      string `json:"arn"`
	Version  string `json:"version"`
	Endpoint string `json:"endpoint"`

	CertificateAuthority struct {
		Data string `json:"data"`
	} `json:"certificateAuthority"`
	KubernetesNetworkConfig struct {
		IPFamily        string `json:"ipFamily"`
		ServiceIPv4CIDR string `json:"serviceIpv4Cidr"`
		ServiceIPv6CIDR string `json:"serviceIpv6Cidr"`
	} `json:"kubernetesNetworkConfig"`
}

// readCluster reads the cluster's description. Its problems are reported for that document.
func (r *reader) readCluster() *described {
	choice := &r.choice
	if choice.Cluster == nil {
		return nil
	}
	fatal := func(p nodeconfig.Problem) {
		p.Document, p.Fatal = choice.ClusterName, true
		r.Add(p)
	}
	tree, err := document.Parse(choice.Cluster)
	if err != nil {
		fatal(nodeconfig.Unreadable(err))
		return nil
	}
	at := "$"
	if inner, ok := tree.Get("cluster"); ok { // without a query
		tree, at = inner, "$.cluster"
	}
	r.described = at
	var d described
	if tree.Kind == document.Map {
		document.Decode(tree, &d, document.Options{Names: document.JSONNames, Report: func(f document.Fault) {
			if f.Kind != document.Unknown { // there is much more
				f.Path = at + strings.TrimPrefix(f.Path, "$")
				fatal(nodeconfig.ProblemOf(f, true))
			}
		}})
	}
	if d.Endpoint == "" && d.CertificateAuthority.Data == "" {
		fatal(nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: at, Reason: `has neither endpoint nor certificateAuthority: give what "aws eks describe-cluster" prints of a cluster that is active`})
	}
	return &d
}

// source is where a value of the cluster comes from, if not from the document's own field.
type source struct {
	// name is for people.
	name string
	// path is the value's path in the cluster's description; empty if it comes from elsewhere.
	path string
}

// ofDescription is a field of the cluster's description.
func (r *reader) ofDescription(field string) source {
	return source{"cluster." + field + " of " + r.choice.clusterName(), r.described + "." + field}
}

// known fills in a value from another source if the document has none. If both have one and they differ, they describe two
// clusters, which is a problem.
func (r *reader) known(own *string, at, other string, from source, same func(a, b string) bool) {
	switch {
	case *own == "" && other != "":
		*own = other
		if from.path != "" {
			r.elsewhere[at] = from.path
		}
	case other != "" && !same(*own, other):
		r.Fatal(nodeconfig.Invalid, at, "differs from %s: one of the two is of another cluster", from.name)
	}
}

// network fills in the cluster's addresses from another source. place returns the position of a field in it.
func (r *reader) network(other NetworkConfig, place func(own string) source) {
	own := &r.in.KubernetesNetworkConfig
	for _, field := range []struct {
		name  string
		own   *string
		other string
		same  func(a, b string) bool
	}{
		{"serviceIPv4CIDR", &own.ServiceIPv4CIDR, other.ServiceIPv4CIDR, sameRange},
		{"serviceIPv6CIDR", &own.ServiceIPv6CIDR, other.ServiceIPv6CIDR, sameRange},
		{"ipFamily", &own.IPFamily, other.IPFamily, strings.EqualFold},
	} {
		r.known(field.own, r.networkField(field.name), field.other, place(field.name), field.same)
	}
}

const networkPath = "$.kubernetesNetworkConfig."

// networkField returns the document's path of a network field.
func (r *reader) networkField(name string) string {
	own, _ := r.tree.Get("kubernetesNetworkConfig")
	status, _ := r.tree.Get("status")
	known, _ := status.Get("kubernetesNetworkConfig")
	if own.GetText(name) == "" && known.GetText(name) != "" {
		return "$.status.kubernetesNetworkConfig." + name
	}
	return networkPath + name
}

// arn compares the cluster's ARN with its region and its name (IAM reference, Amazon Resource Names of EKS).
func (r *reader) arn() {
	const at = "$.status.arn"
	if r.in.Status.ARN == "" {
		return
	}
	parts := strings.Split(r.in.Status.ARN, ":")
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "eks" || !strings.HasPrefix(parts[5], "cluster/") {
		r.Warn(nodeconfig.Invalid, at, "is not the ARN of a cluster of EKS, and is not compared with the cluster's name and region")
		return
	}
	for _, part := range []struct{ arn, own, name string }{
		{parts[3], r.in.Metadata.Region, "region"}, {strings.TrimPrefix(parts[5], "cluster/"), r.in.Metadata.Name, "name"},
	} {
		if part.own != "" && part.arn != part.own {
			r.Fatal(nodeconfig.Invalid, at, "has another %s than metadata.%s; correct one of the two", part.name, part.name)
		}
	}
}

func (c *Choice) clusterName() string {
	if c.ClusterName == "" {
		return "the cluster's description"
	}
	return c.ClusterName
}

func sameText(a, b string) bool { return a == b }

func sameServer(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

// samePEM compares certificates, each PEM or the base64 of it.
func samePEM(a, b string) bool { return plainPEM(a) == plainPEM(b) }

func plainPEM(text string) string {
	if decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err == nil {
		text = string(decoded)
	}
	return strings.Join(strings.Fields(text), "\n")
}

func sameRange(a, b string) bool {
	x, errX := netip.ParsePrefix(a)
	y, errY := netip.ParsePrefix(b)
	return a == b || errX == nil && errY == nil && x.Masked() == y.Masked()
}
