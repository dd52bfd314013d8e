package eksctl

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The labels that eksctl gives to its nodes; it finds the nodes of a group by the second (eksctl: deleting and draining
// nodegroups). Only the machine knows the values of the last two.
const (
	clusterLabel   = "alpha.eksctl.io/cluster-name"
	groupLabel     = "alpha.eksctl.io/nodegroup-name"
	instanceLabel  = "alpha.eksctl.io/instance-id"
	lifecycleLabel = "node-lifecycle"
)

func (r *reader) translate(cluster *described) {
	if r.in.APIVersion != APIVersion {
		r.Fatal(nodeconfig.Invalid, "$.apiVersion", "want %q", APIVersion)
	}
	if r.in.Kind != Kind {
		r.Fatal(nodeconfig.Invalid, "$.kind", "want %q", Kind)
	}
	out := r.NodeConfig
	out.APIVersion, out.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	if r.group.node == nil {
		r.cluster()
		return
	}
	g := r.theGroup()
	f := r.family(g)
	out.Components.Layout, out.Components.OS = f.layout, &nodeconfig.OperatingSystem{ID: f.os, VersionID: f.version}
	r.network(r.in.Status.KubernetesNetworkConfig, func(own string) source { return source{name: "status.kubernetesNetworkConfig." + own} })
	if cluster != nil {
		r.describe(cluster)
	}
	override := r.override(g, f)
	r.arn()
	r.cluster()
	r.supported(f)
	r.registration(g, f)
	r.kubelet(g)
	r.dns(g)
	r.commands(g, f)
	r.merge(override)
	r.taints()
}

// describe uses the cluster's description, and compares it with the document.
func (r *reader) describe(cluster *described) {
	in := &r.in
	of := r.ofDescription
	r.known(&in.Metadata.Name, "$.metadata.name", cluster.Name, of("name"), sameText)
	r.known(&in.Status.Endpoint, "$.status.endpoint", cluster.Endpoint, of("endpoint"), sameServer)
	r.known(&in.Status.CertificateAuthorityData, "$.status.certificateAuthorityData", cluster.CertificateAuthority.Data, of("certificateAuthority.data"), samePEM)
	r.known(&in.Status.ARN, "$.status.arn", cluster.ARN, of("arn"), sameText)
	r.network(NetworkConfig(cluster.KubernetesNetworkConfig), func(own string) source {
		return of("kubernetesNetworkConfig." + strings.NewReplacer("IPv", "Ipv", "CIDR", "Cidr").Replace(own)) // the API's spelling
	})
	if in.Metadata.Version == "" {
		in.Metadata.Version = cluster.Version
	}
}

// from records where values of the NodeConfig are from.
func (r *reader) from(path string, to ...string) {
	for _, place := range to {
		r.origins[place] = path
	}
}

// cluster translates what is the same for all groups.
func (r *reader) cluster() {
	in, out := &r.in, r.NodeConfig
	const name, region, endpoint, authority = "$.metadata.name", "$.metadata.region", "$.status.endpoint", "$.status.certificateAuthorityData"
	for _, part := range []struct{ path, value, what string }{
		{name, in.Metadata.Name, "give the cluster's name in EKS"},
		{region, in.Metadata.Region, "give the cluster's region"},
		{endpoint, in.Status.Endpoint, `give the API server's URL, or name what "aws eks describe-cluster" prints with --cluster`},
		{authority, in.Status.CertificateAuthorityData, `give the cluster's CA certificate, or name what "aws eks describe-cluster" prints with --cluster`},
	} {
		if part.value == "" {
			r.Fatal(nodeconfig.Missing, part.path, "is missing: %s", part.what)
		}
	}
	out.Cluster = nodeconfig.Cluster{
		Name: in.Metadata.Name, Server: in.Status.Endpoint, CertificateAuthority: in.Status.CertificateAuthorityData,
		KubernetesVersion: nodeconfig.InstalledVersion, KubernetesMinor: in.Metadata.Version,
	}
	out.Join = nodeconfig.Join{Method: nodeconfig.JoinAWS, AWS: &nodeconfig.AWSIdentity{ClusterName: in.Metadata.Name, Region: in.Metadata.Region}}
	out.Cloud.Provider, out.Cloud.AWS = "aws", &nodeconfig.AWS{Region: in.Metadata.Region}
	r.from(name, "$.cluster.name", "$.join.aws.clusterName")
	r.from(region, "$.cloud.aws.region", "$.join.aws.region")
	r.from("$.metadata", "$.join")
	r.from("$.metadata.version", "$.cluster.kubernetesVersion", "$.cluster.kubernetesMinor")
	r.from(endpoint, "$.cluster.server")
	r.from(authority, "$.cluster.certificateAuthority")

	r.addresses()
}

// ipFamilies are the words of kubernetesNetworkConfig.ipFamily.
var ipFamilies = []string{"IPv4", "IPv6"}

// addresses translates how the cluster's services and nodes are addressed.
func (r *reader) addresses() {
	network, out := r.in.KubernetesNetworkConfig, r.NodeConfig
	for _, family := range ipFamilies {
		if strings.EqualFold(network.IPFamily, family) { // the cloud's own interface has it in small letters
			out.Network.IPFamilies = []string{family}
		}
	}
	if network.IPFamily != "" && out.Network.IPFamilies == nil {
		r.Fatal(nodeconfig.Invalid, r.networkField("ipFamily"), document.WantWord(network.IPFamily, ipFamilies))
	}
	r.from(r.networkField("ipFamily"), "$.network.ipFamilies", "$.network.ipFamilies[0]")
	name, text := r.serviceRange()
	if text == "" {
		return
	}
	at := r.networkField(name)
	switch prefix, err := netip.ParsePrefix(text); {
	case err != nil:
		r.Fatal(nodeconfig.Invalid, at, "is not an address range; use one such as 10.100.0.0/16")
		return
	case prefix.Addr().Is6() != (name == "serviceIPv6CIDR"):
		r.Fatal(nodeconfig.Invalid, at, "is a range of the other address family")
	}
	out.Cluster.ServiceCIDRs = []string{text}
	r.from(at, "$.cluster.serviceCIDRs", "$.cluster.serviceCIDRs[0]")
	if name == "serviceIPv6CIDR" && network.IPFamily == "" { // EKS has such a range for no other cluster
		out.Network.IPFamilies = []string{"IPv6"}
		r.from(at, "$.network.ipFamilies", "$.network.ipFamilies[0]")
	}
}

// serviceRange returns the service range that counts, and its field. Without a range, it returns the field for the cluster's IP
// family (eksctl: GetClusterDNS).
func (r *reader) serviceRange() (field, value string) {
	network := &r.in.KubernetesNetworkConfig
	if network.ServiceIPv6CIDR != "" || network.ServiceIPv4CIDR == "" && strings.EqualFold(network.IPFamily, "IPv6") {
		return "serviceIPv6CIDR", network.ServiceIPv6CIDR
	}
	return "serviceIPv4CIDR", network.ServiceIPv4CIDR
}

// theGroup is the node's group, without what its kind does not have.
func (r *reader) theGroup() *NodeGroup {
	list, without, of := r.in.NodeGroups, managedOnly, managed
	if r.group.list == managed {
		list, without, of = r.in.ManagedNodeGroups, selfOnly, selfManaged
	}
	if len(list) == 0 { // it was no map
		return new(NodeGroup)
	}
	g := &list[0]
	for _, name := range without {
		if value, ok := r.group.node.Get(name); ok && value.Kind != document.Null {
			r.Warn(nodeconfig.NotApplied, r.group.path(name), "is not applied, because only groups of %s have it in eksctl", of)
		}
	}
	if r.group.list == managed {
		g.ClusterDNS, g.ContainerRuntime, g.InstancesDistribution, g.KubeletExtraConfig = "", "", nil, nil
	} else {
		g.InstanceTypes = nil
	}
	if g.SSH != nil && g.SSH.EnableSSM != nil && *g.SSH.EnableSSM {
		r.Warn(nodeconfig.NotApplied, r.group.path("ssh", "enableSsm"), "is not applied by this version; the agent of Systems Manager runs where the image starts it")
	}
	return g
}

// family is the operating system of a group's machines. It refuses those that no node is made of.
func (r *reader) family(g *NodeGroup) *family {
	at := r.group.path("amiFamily")
	r.from(at, "$.join.method", "$.kubelet.imageCredentialProvider", "$.components.layout", "$.components.os", "$.components.os.id", "$.components.os.versionID") // the image has what the node joins with
	if g.ContainerRuntime != "" && g.ContainerRuntime != "containerd" {
		r.Fatal(nodeconfig.Invalid, r.group.path("containerRuntime"), "is a runtime that Slipway does not configure; want containerd")
	}
	name := cmp.Or(g.AMIFamily, amazonLinux2023)
	var names []string
	for i := range families {
		if families[i].name == name {
			return &families[i]
		}
		names = append(names, families[i].name)
	}
	why := "is an unknown family"
	for _, other := range otherFamilies {
		if strings.HasPrefix(name, other.prefix) {
			why = other.why
		}
	}
	r.Fatal(nodeconfig.Invalid, at, "%s; %s", why, document.WantWord(name, names))
	return &family{layout: families[0].layout, os: families[0].os, version: families[0].version}
}

// supported compares the family with the cluster's version of Kubernetes.
func (r *reader) supported(f *family) {
	at := r.group.path("amiFamily")
	if minor, ok := strings.CutPrefix(r.in.Metadata.Version, "1."); ok && f.last > 0 {
		if n, err := strconv.Atoi(minor); err == nil && n > f.last {
			r.Fatal(nodeconfig.Invalid, at, "has no images for Kubernetes 1.%d: the last version that has any is 1.%d; use %s", n, f.last, amazonLinux2023)
			return
		}
	}
	if f.warning != "" {
		r.Warn(nodeconfig.Deprecated, at, "%s", f.warning)
	}
}

// registration translates what the node registers with.
func (r *reader) registration(g *NodeGroup, f *family) {
	k := &r.NodeConfig.Kubelet
	k.Labels = maps.Clone(g.Labels)
	for label, value := range map[string]string{clusterLabel: r.in.Metadata.Name, groupLabel: g.Name} {
		if value == "" {
			continue
		}
		if own, ok := k.Labels[label]; ok && own != value {
			r.Warn(nodeconfig.Dropped, document.FieldPath(r.group.path("labels"), label), "is left out, because eksctl gives the label its own value")
		}
		if k.Labels == nil {
			k.Labels = make(map[string]string)
		}
		k.Labels[label] = value
	}
	r.from(r.group.path("labels"), "$.kubelet.labels", "$.kubelet.machineLabels")
	r.from(r.group.path("name"), document.FieldPath("$.kubelet.labels", groupLabel))
	r.from("$.metadata.name", document.FieldPath("$.kubelet.labels", clusterLabel))
	if f.scripts && r.group.list == selfManaged || f.managedScripts { // they set these two (eksctl: bootstrap.helper.sh)
		k.MachineLabels = map[string]string{instanceLabel: nodeconfig.MachineInstanceID, lifecycleLabel: nodeconfig.MachineLifecycle}
	}
	r.from(r.group.path("taints"), "$.kubelet.taints")
	for _, t := range g.Taints {
		k.Taints = append(k.Taints, nodeconfig.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
}

// kubelet translates its configuration, and what a node can hold.
func (r *reader) kubelet(g *NodeGroup) {
	k, at := &r.NodeConfig.Kubelet, r.group.path("kubeletExtraConfig")
	r.from(at, "$.kubelet.config")
	k.Config = maps.Clone(g.KubeletExtraConfig)
	for _, key := range refusedKeys {
		if _, ok := k.Config[key]; ok {
			r.Fatal(nodeconfig.Invalid, document.FieldPath(at, key), "is a key that eksctl refuses, because it sets it itself; remove it (the others are %s)",
				strings.Join(slices.DeleteFunc(slices.Clone(refusedKeys), func(other string) bool { return other == key }), ", "))
		}
	}
	maxPods := r.group.path("maxPodsPerNode")
	switch {
	case g.MaxPodsPerNode < 0:
		r.Fatal(nodeconfig.Invalid, maxPods, "is negative; use 1 or more")
	case g.MaxPodsPerNode > 0:
		if k.Config == nil {
			k.Config = make(map[string]any)
		}
		number := json.Number(strconv.Itoa(int(g.MaxPodsPerNode)))
		if other, ok := k.Config["maxPods"]; ok && other != number {
			r.Warn(nodeconfig.Dropped, document.FieldPath(at, "maxPods"), "is left out, because maxPodsPerNode has another value")
		}
		k.Config["maxPods"] = number
		r.from(maxPods, "$.kubelet.config.maxPods")
	}
	k.Capacity = &nodeconfig.Capacity{Rule: nodeconfig.RuleEKS, InstanceTypes: r.types(g)}
}

// types returns the possible instance types of the machine; nil if the type is chosen later.
func (r *reader) types(g *NodeGroup) []string {
	const capacity = "$.kubelet.capacity"
	own, from := g.InstanceTypes, "instanceTypes"
	if r.group.list == selfManaged {
		from = "instanceType"
	}
	if d := g.InstancesDistribution; d != nil && len(d.InstanceTypes) > 0 {
		own, from = d.InstanceTypes, "instancesDistribution.instanceTypes"
	}
	r.from(r.group.path(from), capacity, capacity+".instanceTypes")
	if len(own) > 0 {
		return slices.Clone(own)
	}
	r.from(r.group.path("instanceType"), capacity, capacity+".instanceTypes[0]")
	if g.InstanceType != "" && g.InstanceType != "mixed" { // eksctl's word for several
		return []string{g.InstanceType}
	}
	for _, name := range []string{"instanceSelector", "launchTemplate"} {
		if value, ok := r.group.node.Get(name); ok && value.Kind != document.Null {
			return nil
		}
	}
	return []string{defaultType}
}

// dns reports a group whose pods would have no DNS service: the first pod would fail.
func (r *reader) dns(g *NodeGroup) {
	cluster, at := &r.NodeConfig.Cluster, r.group.path("clusterDNS")
	r.from(at, "$.cluster.dnsServiceIPs", "$.cluster.dnsServiceIPs[0]")
	if g.ClusterDNS != "" {
		cluster.DNSServiceIPs = []string{g.ClusterDNS}
		return
	}
	if _, extra := g.KubeletExtraConfig["clusterDNS"]; extra || len(nodeconfig.DefaultDNSServiceIPs(cluster.ServiceCIDRs)) > 0 {
		return
	}
	field, value := r.serviceRange()
	if value != "" {
		return // its validation reports the problem
	}
	r.Fatal(nodeconfig.Missing, r.networkField(field), `is missing, and pods would be told of no DNS service: give the cluster's, or clusterDNS in the group, or name what "aws eks describe-cluster" prints with --cluster`)
}
