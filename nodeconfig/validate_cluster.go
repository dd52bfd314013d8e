package nodeconfig

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/document"
)

func (v *validator) cluster(c *NodeConfig) {
	cl := &c.Cluster
	joins := c.Join.Method != JoinNone
	switch {
	case cl.KubernetesVersion == "" && joins:
		v.missing("$.cluster.kubernetesVersion", "is missing; give the version of the node's kubelet, such as 1.34.2")
	case cl.KubernetesVersion == "" || cl.KubernetesVersion == InstalledVersion:
	case !isKubernetesVersion(cl.KubernetesVersion):
		v.vital("$.cluster.kubernetesVersion", "is not a Kubernetes version; use three numbers, such as 1.34.2")
	}
	if cl.KubernetesMinor != "" && (!isKubernetesVersion(cl.KubernetesMinor + ".0")) {
		v.invalid("$.cluster.kubernetesMinor", "is not a minor version of Kubernetes; use two numbers, such as 1.34", func() { cl.KubernetesMinor = "" })
	}
	if cl.Server == "" && joins {
		v.missing("$.cluster.server", "is missing; give the API server's URL, https://HOST[:PORT]")
	} else if cl.Server != "" {
		if reason := checkServer(cl.Server); reason != "" {
			v.vital("$.cluster.server", reason)
		}
	}
	v.authority(cl, joins)
	if cl.ServerCertificate != "" {
		if err := checkCertificates(cl.ServerCertificate); err != nil {
			v.invalid("$.cluster.serverCertificate", err.Error(), func() { cl.ServerCertificate = "" })
		}
	}
	if !isDNSName(cl.DNSDomain) {
		v.invalid("$.cluster.dnsDomain", "is not a DNS name", func() { cl.DNSDomain = DefaultDNSDomain })
	}
	checkList(v, "$.cluster.dnsServiceIPs", &cl.DNSServiceIPs, checkIP)
	checkList(v, "$.cluster.serviceCIDRs", &cl.ServiceCIDRs, func(cidr string) string {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			return "is not an address range; use one such as 10.0.0.0/16"
		}
		return ""
	})
	v.dnsService(c)
}

// dnsService refuses service ranges of which none has the address of the cluster's DNS service, if that is to follow from them: pods could
// look up no name of a service.
func (v *validator) dnsService(c *NodeConfig) {
	_, configured := c.Kubelet.Config["clusterDNS"]
	if len(c.Cluster.DNSServiceIPs) > 0 || len(DefaultDNSServiceIPs(c.Cluster.ServiceCIDRs)) > 0 || configured || slices.ContainsFunc(c.Kubelet.Flags, func(f Flag) bool { return f.Name == "cluster-dns" }) {
		return
	}
	for i := range c.Cluster.ServiceCIDRs {
		v.unsafe(document.IndexPath("$.cluster.serviceCIDRs", i), "has no tenth address, which is that of the cluster's DNS service: give the cluster's service range, such as 10.100.0.0/16, or cluster.dnsServiceIPs")
		v.naming("$.cluster.dnsServiceIPs")
	}
}

// authority validates the CA, or the settings for fetching it.
func (v *validator) authority(cl *Cluster, joins bool) {
	const at = "$.cluster.certificateAuthorityHashes"
	good := true
	for i, hash := range cl.CertificateAuthorityHashes {
		if !isPin(hash) {
			v.vital(document.IndexPath(at, i), "is not the hash of a public key; use sha256: and 64 hexadecimal digits")
			good = false
		}
	}
	pinned := len(cl.CertificateAuthorityHashes) > 0
	switch {
	case cl.CertificateAuthority != "":
		if err := checkCertificates(cl.CertificateAuthority); err != nil {
			v.vital("$.cluster.certificateAuthority", err.Error())
		} else if good && pinned && !cl.AcceptsAuthority(cl.CertificateAuthority) {
			v.vital(at, "have none that is the hash of a certificate in cluster.certificateAuthority; correct one of the two")
		}
	case joins && !cl.FetchesAuthority():
		v.missing("$.cluster.certificateAuthority", "is missing; give the cluster's CA certificate, as PEM or the base64 of it")
	}
}

func checkServer(server string) string {
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "":
		return "is not a URL of the form https://HOST[:PORT]"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/":
		return "has more than a host and a port; use https://HOST[:PORT]"
	case !isDNSName(strings.ToLower(u.Hostname())) && checkIP(u.Hostname()) != "":
		return "has a host that is not a DNS name or an address"
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); strings.HasSuffix(u.Host, ":"+u.Port()) && (err != nil || port == 0) {
		return "has a port that does not exist; use 1 to 65535"
	}
	return ""
}

func checkIP(ip string) string {
	if addr, err := netip.ParseAddr(ip); err != nil || addr.Zone() != "" {
		return "is not an IP address"
	}
	return ""
}

func (v *validator) join(c *NodeConfig) {
	j := &c.Join
	fetches := c.Cluster.FetchesAuthority()
	if fetches && j.Method != JoinNone && j.Method != JoinBootstrapToken && j.BootstrapToken.IsZero() && j.DiscoveryToken.IsZero() {
		v.missing("$.join.bootstrapToken", "is missing, and the cluster shows its CA to who has one: give a token, or the CA itself in cluster.certificateAuthority")
	}
	switch j.Method {
	case JoinBootstrapToken:
		if j.BootstrapToken.IsZero() {
			v.missing("$.join.bootstrapToken", "is missing, and there is no other credential, so the node could not join")
		} else {
			v.bootstrapToken("$.join.bootstrapToken", j.BootstrapToken)
		}
	case JoinClientCertificate:
		v.clientCertificate(j.ClientCertificate)
	case JoinExec:
		v.exec(j.Exec)
	case JoinAWS:
		v.aws(c)
	case JoinAttested:
		if !j.BootstrapToken.IsZero() {
			v.bootstrapToken("$.join.bootstrapToken", j.BootstrapToken)
		}
	}
	switch {
	case j.DiscoveryToken.IsZero():
	case fetches:
		v.bootstrapToken("$.join.discoveryToken", j.DiscoveryToken)
	default:
		v.problems = append(v.problems, Problem{Kind: NoEffect, Path: "$.join.discoveryToken", Reason: "has no effect: the agent fetches no CA"})
		j.DiscoveryToken = Secret{}
	}
	if j.Attested != nil {
		for _, step := range slices.Sorted(maps.Keys(j.Attested.Timeouts)) {
			at := document.FieldPath("$.join.attested.timeouts", step)
			if !slices.Contains(AttestedSteps, step) {
				v.vital(at, "is no step of the client; "+document.WantWord(step, AttestedSteps))
			}
			v.timeout(at, j.Attested.Timeouts[step])
		}
	}
}

func (v *validator) aws(c *NodeConfig) {
	a := c.Join.AWS
	if a == nil {
		a = new(AWSIdentity)
	}
	for _, part := range []struct {
		path, value, want string
		valid             func(string) bool
	}{
		{"$.join.aws.clusterName", a.ClusterName, "1 to 100 letters, digits, dashes and underscores that begin with a letter or digit", awsname.IsCluster},
		{"$.join.aws.region", a.Region, `a region, such as "us-east-1"`, awsname.IsRegion},
	} {
		switch {
		case part.value == "":
			v.missing(part.path, "is missing, and join.method needs it")
		case !part.valid(part.value):
			v.vital(part.path, "want "+part.want)
		}
	}
	const at, server = "$.join.aws.region", "$.cluster.server"
	if region := eksRegion(c.Cluster.Server); region != "" && awsname.IsRegion(a.Region) && region != a.Region {
		v.vital(at, "is another region than that of cluster.server; correct one of the two")
		v.naming(server)
	}
	if c.Cloud.AWS != nil && c.Cloud.AWS.Region != "" && awsname.IsRegion(a.Region) && c.Cloud.AWS.Region != a.Region {
		v.vital(at, "is another region than cloud.aws.region; correct one of the two")
		v.naming("$.cloud.aws.region")
	}
}

// eksRegion returns the region in the name of an EKS API server, or "" for another server (Amazon EKS User Guide, Cluster API
// server endpoint: ID.GROUP.REGION.eks.DOMAIN, and with two address families ID.eks-cluster.REGION.DOMAIN).
func eksRegion(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	words := strings.Split(strings.ToLower(u.Hostname()), ".")
	for i, word := range words {
		switch {
		case word == "eks" && i > 0 && awsname.IsRegion(words[i-1]):
			return words[i-1]
		case word == "eks-cluster" && i+1 < len(words) && awsname.IsRegion(words[i+1]):
			return words[i+1]
		}
	}
	return ""
}

// AttestedSteps are the steps of the client of [JoinAttested] that have a timeout, in their order.
var AttestedSteps = []string{"validateKubeconfig", "accessToken", "instanceData", "nonce", "attestedData", "credential"}

func (v *validator) bootstrapToken(path string, token Secret) {
	if !IsBootstrapToken(token.Reveal()) {
		v.vital(path, fmt.Sprintf("is not a bootstrap token (it has %d characters); use 6 lower case letters or digits, a dot, and 16 more", len(token.Reveal())))
	}
}

func (v *validator) clientCertificate(cc *ClientCertificate) {
	const at = "$.join.clientCertificate"
	if cc == nil {
		v.missing(at, "is missing, and join.method needs it")
		return
	}
	badCertificate, badKey := checkCertificates(cc.Certificate), checkKey(cc.Key.Reveal())
	if badCertificate != nil {
		v.vital(at+".certificate", badCertificate.Error())
	}
	if badKey != nil {
		v.vital(at+".key", badKey.Error())
	}
	if badCertificate != nil || badKey != nil {
		return
	}
	if _, err := tls.X509KeyPair([]byte(cc.Certificate), []byte(cc.Key.Reveal())); err != nil {
		v.vital(at+".key", "does not belong to the certificate, or is of an unknown type")
	}
}

func (v *validator) exec(e *ExecCredential) {
	const at = "$.join.exec"
	if e == nil || e.Command == "" {
		v.missing(at+".command", "is missing, and join.method needs it")
		return
	}
	if reason := checkAbsolute(e.Command); reason != "" {
		v.vital(at+".command", reason)
	}
	for i, env := range e.Env {
		if !isEnvName(env.Name) {
			v.vital(document.IndexPath(at+".env", i), "has a name that is not possible for a variable")
		}
	}
}
