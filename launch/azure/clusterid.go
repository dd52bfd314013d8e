package azure

import (
	"fmt"
	"hash/fnv"
	"math/rand"
	"net/netip"
	"slices"
	"strings"
)

// clusterIDLength is the number of digits of a cluster ID.
const clusterIDLength = 8

// prefixLength is how much of an API server's name AKS takes for the DNS prefix (Karpenter for Azure, until 2026).
const prefixLength = 33

// ClusterIDError is the error of an unknown cluster ID.
type ClusterIDError struct {
	// Why is the reason, and what to give.
	Why string
	// Candidates are the possible security groups, if there are several.
	Candidates []string
}

// Error returns the reason, with the candidates.
func (e *ClusterIDError) Error() string {
	if len(e.Candidates) == 0 {
		return e.Why
	}
	return e.Why + ": " + strings.Join(e.Candidates, ", ")
}

// SecurityGroups finds the cluster ID in the names of the security groups of the node resource group: one is
// aks-agentpool-ID-nsg (Karpenter for Azure, since 2026). The error is a [*ClusterIDError].
func SecurityGroups(names []string) (id, group string, err error) {
	return named(names, groupSuffix, "security group")
}

// named finds the cluster ID in the names of the resources that AKS creates for clusters.
func named(names []string, suffix, what string) (id, name string, err error) {
	found := make([]string, 0, 4) // one, but for a resource group that is shared
	for _, name := range names {
		if _, ok := idIn(name, suffix); ok {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", "", &ClusterIDError{Why: "no " + what + " of the node resource group is called " + madePrefix + "DIGITS" + suffix + "; give cluster-id"}
	case 1:
		id, _ = idIn(found[0], suffix)
		return id, found[0], nil
	}
	return "", "", &ClusterIDError{"several " + what + "s could be the cluster's; give cluster-id", slices.Clone(found)}
}

// idIn returns the cluster ID in the name of a resource that AKS has created.
func idIn(name, suffix string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(name), madePrefix)
	id, ok2 := strings.CutSuffix(rest, suffix)
	return id, ok && ok2 && clusterID(id) == ""
}

// clusterID returns the cluster ID in the name of the security group, or else of the route table, which only some clusters have. It also
// returns which resource has the name, and the fact with the name.
func (d *Detected) clusterID() (id, what string, fact *Fact, err error) {
	err = errNoGroups
	if d != nil && d.SecurityGroups != nil {
		if id, _, err = SecurityGroups(d.SecurityGroups.Values); err == nil {
			return id, "security group", d.SecurityGroups, nil
		}
	}
	if id := d.tableID(); id != "" {
		return id, "route table", d.RouteTables, nil
	}
	return "", "", nil, err
}

// tableID returns the cluster ID in the name of the route table. Empty means that there is no route table, or there are several.
func (d *Detected) tableID() string {
	if d == nil || d.RouteTables == nil || len(d.RouteTables.Values) == 0 {
		return ""
	}
	id, _, _ := named(d.RouteTables.Values, tableSuffix, "route table")
	return id
}

// hashedClusterID computes the cluster ID from the name of the API server, as AKS does for most clusters. The real ID differs if the DNS
// prefix is not 33 characters long, or if the cluster uses its owner's private zone. The error is a [*ClusterIDError].
func hashedClusterID(host string) (string, error) {
	switch _, err := netip.ParseAddr(strings.Trim(host, "[]")); {
	case host == "":
		return "", &ClusterIDError{Why: "the API server has no name"}
	case err == nil:
		return "", &ClusterIDError{Why: "the API server's name is an address"}
	case len(host) < prefixLength:
		return "", &ClusterIDError{Why: fmt.Sprintf("the API server's name has %d characters, and the cluster ID is made of %d", len(host), prefixLength)}
	case !strings.Contains(strings.ToLower(host), ".hcp."):
		return "", &ClusterIDError{Why: "the API server's name is not one that AKS has published, or it is in a private zone"}
	}
	return hashed(host[:prefixLength]), nil
}

// hashed returns the number that AKS computes from a DNS prefix. The prefix's FNV-1a hash is the seed of Go's generator, which gives the
// same numbers in every version of Go. So the result is not random.
func hashed(prefix string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(prefix))
	return fmt.Sprintf("%08d", rand.New(rand.NewSource(int64(h.Sum64()))).Uint32())[:clusterIDLength]
}
