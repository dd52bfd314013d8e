package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/namelookup"
)

const (
	// clusterDNSPatience is how long the cluster's DNS may take.
	clusterDNSPatience = 2 * time.Second
	// servicesPatience is how long a new Node may take to have its Services.
	servicesPatience = time.Minute
	// usualDomain is the kubelet's clusterDomain in nearly all clusters (Kubernetes: DNS for Services and Pods).
	usualDomain = "cluster.local"
)

// clusterDNSChecks are those of the cluster's own DNS.
var clusterDNSChecks = []Check{{
	Name: "cluster-dns", Asks: "Does the cluster's DNS, which the kubelet gives to pods, answer on this node?",
	Needs: []string{"node"}, Live: true, Deadline: clusterDNSPatience + time.Second,
	Causes: []Cause{
		{"silent", "the address does not answer", "check that clusterDNS in the kubelet's configuration is the address of the Service kube-dns (`kubectl -n kube-system get service kube-dns`), that its pods run, and that kube-proxy or its replacement runs on this node"},
		{"refused", "the Service has no endpoint that answers", "look at the pods of CoreDNS (`kubectl -n kube-system get pods -l k8s-app=kube-dns`): none is ready"},
		{"unknown-name", "the DNS server does not know the cluster's names", "correct clusterDNS and clusterDomain in the kubelet's configuration: another DNS server answers at that address"},
		{"failing", "the DNS server answers with an error", "look at CoreDNS's log: it does not reach the API server, or its configuration is wrong"},
	},
	Look: lookClusterDNS,
}}

func lookClusterDNS(ctx context.Context, p *Patient) *Finding {
	n, none := readNode(p)
	switch {
	case none.is("missing"):
		return fine("the cluster has no Node yet")
	case n == nil:
		return none
	case p.Now().Sub(n.Metadata.CreationTimestamp) < p.Patience(servicesPatience):
		return fine("the Node is new: its Services may not be set up yet")
	}
	servers, domain := clusterDNS(p.Kubelet())
	if len(servers) == 0 {
		return fine("the kubelet gives pods no DNS server of the cluster")
	}
	name := "kubernetes.default.svc." + domain + "."
	limited, cancel := context.WithTimeout(ctx, p.Patience(clusterDNSPatience))
	defer cancel()
	replies := namelookup.AskAll(limited, p.Machine, servers, name)
	f := new(Finding)
	var said []string
	for i := range replies {
		r := &replies[i]
		f.with("ask "+r.Server+" for "+name, r.Detail())
		said = append(said, fmt.Sprintf("%s %s", r.Server, r.Sentence(name)))
	}
	for i := range replies {
		if replies[i].Found() {
			return f.fine("the cluster's DNS %s knows %s", replies[i].Server, name)
		}
	}
	cause := replies[0].Cause()
	if cause == "no-address" {
		cause = "unknown-name"
	}
	return f.wrong(cause, "the cluster's DNS does not answer on this node: %s", strings.Join(said, "; "))
}

// clusterDNS are the addresses and the domain that the kubelet gives to pods.
func clusterDNS(k *kubeletsetup.Kubelet) (servers []string, domain string) {
	domain = usualDomain
	add := func(text string) {
		if _, err := netip.ParseAddr(text); err == nil && len(servers) < namelookup.MaxServers {
			servers = append(servers, text)
		}
	}
	if text, has := k.Flag("cluster-dns"); has {
		for address := range strings.SplitSeq(text, ",") {
			add(address)
		}
	} else if k.Settings != nil {
		if list := k.Settings.At("$.clusterDNS"); list != nil && list.Kind == document.List {
			for i := range list.Items {
				add(list.Items[i].Text)
			}
		}
	}
	if text, has := k.Flag("cluster-domain"); has && text != "" {
		domain = text
	} else if k.Settings != nil {
		if text := k.Settings.GetText("clusterDomain"); text != "" {
			domain = text
		}
	}
	return servers, strings.Trim(domain, ".")
}
