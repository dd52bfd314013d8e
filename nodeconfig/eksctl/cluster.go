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
	Version  string `json:"version"`
	Endpoint string `json:"endpoint"`

	CertificateAuthority struct {
		Data string `json:"data"`
	} `json:"certificateAuthority"`
	KubernetesNetworkConfig struct {
		ServiceIPv4CIDR string `json:"serviceIpv4Cidr"`
		ServiceIPv6CIDR string `json:"serviceIpv6Cidr"`
		IPFamily        string `json:"ipFamily"`
	} `json:"kubernetesNetworkConfig"`
}

// readCluster reads it. Its problems are those of its own document.
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

// known is a value of the document, or of what describes the cluster, where the document has none. Two that are not the same are
// of two clusters.
func (r *reader) known(own *string, at, other, name string, same func(a, b string) bool) {
	switch {
	case *own == "":
		*own = other
	case other != "" && !same(*own, other):
		r.Fatal(nodeconfig.Invalid, at, "differs from cluster.%s of %s: one of the two is of another cluster", name, r.choice.clusterName())
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
