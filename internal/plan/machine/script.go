package machine

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/plan/concern"
)

// metadataService is how a machine asks its cloud about itself, without an agent.
type metadataService struct {
	// provider is the contract's cloud.provider.
	provider string
	address  string
	// before is run before the questions, and may set header, which each question has.
	before []string
	facts  []question
	// address6 is the path of the address of a machine in an IPv6 cluster; it has no path if that is not known.
	address6 question
}

// questionOf is how a machine asks for the fact of a variable. A node has an address of the first family that its contract names.
func (s *metadataService) questionOf(variable string, families []string) question {
	if variable == concern.AddressVariable && families[0] == "IPv6" {
		return s.address6
	}
	return s.facts[slices.IndexFunc(s.facts, func(q question) bool { return q.variable == variable })]
}

// question is the source of a variable's fact, and the fact's pattern, an extended regular expression.
type question struct {
	variable, path, pattern string
	// then converts the value, in the region of the node's cluster. If nil, the value is written unchanged.
	then func(region string) []string
}

// Patterns of facts that are alike in each cloud.
const (
	octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	ipv4  = `([1-9]|[1-9][0-9]|1[01][0-9]|12[0-689]|1[3-9][0-9]|2[01][0-9]|22[0-3])(\.` + octet + `){3}`
	// ipv6 is an address that other machines reach: one of the Internet, or a unique local one (RFC 4291, RFC 4193).
	ipv6 = `([23][0-9a-f]{3}|f[cd][0-9a-f]{2})(:[0-9a-f]{0,4}){2,7}`
)

// metadataServices are the supported services. EC2: User Guide, "Instance metadata categories" and "Use IMDSv2".
// Azure: Instance Metadata Service, "format=text".
var metadataServices = []metadataService{
	{
		provider: "aws",
		address:  "http://169.254.169.254/latest/",
		before: []string{
			`token=$(ask api/token --request PUT --header 'X-aws-ec2-metadata-token-ttl-seconds: 60') || fail "the metadata service gives no token"`,
			`[[ ${token%x} =~ ^[A-Za-z0-9+/=_-]+$ ]] || fail "what the metadata service gives is no token"`,
			`header="X-aws-ec2-metadata-token: ${token%x}"`,
		},
		facts: []question{
			{concern.AddressVariable, "meta-data/local-ipv4", ipv4, nil},
			{concern.IDVariable, "meta-data/instance-id", instanceID, nil},
			{concern.TypeVariable, "meta-data/instance-type", `[a-z0-9-]{1,31}\.([a-z0-9-]{0,30}[a-z0-9])`, nil},
			{concern.ZoneVariable, "meta-data/placement/availability-zone", `[a-z]([a-z0-9-]{0,40}[a-z0-9])`, nil},
			{concern.LifeVariable, "meta-data/instance-life-cycle", `on-demand|spot|scheduled|capacity-block`, nil},
			// One name for each domain of the network's DHCP options, with blanks between.
			{concern.NameVariable, "meta-data/local-hostname", `(ip(-[0-9]{1,3}){4}|` + instanceID + `)(\.[A-Za-z0-9.-]{1,200})?( [A-Za-z0-9. -]{1,700})?`, privateName},
		},
		address6: question{variable: concern.AddressVariable, path: "meta-data/ipv6", pattern: ipv6},
	},
	{
		provider: "azure",
		address:  "http://169.254.169.254/metadata/instance/",
		before:   []string{`header="Metadata: true"`},
		facts: []question{
			{concern.AddressVariable, "network/interface/0/ipv4/ipAddress/0/privateIpAddress" + azureText, ipv4, nil},
			{concern.IDVariable, "compute/vmId" + azureText, `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`, nil},
			{concern.TypeVariable, "compute/vmSize" + azureText, `[A-Za-z]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])`, nil},
			{concern.ZoneVariable, "compute/zone" + azureText, `[0-9]{1,3}`, nil},
			{concern.LifeVariable, "compute/priority" + azureText, `Regular|Low|Spot`, nil},
		},
	},
}

// instanceID is that of an instance of EC2.
const instanceID = `i-[0-9a-f]{8,32}`

// privateName converts EC2's names of a machine to the name that EKS uses, as [awsname.Machine] does.
func privateName(region string) []string {
	const name = concern.NameVariable
	return []string{
		`first=${` + name + `%% *}`,
		`[[ $first =~ \.(compute|ec2)\.internal$ ]] || first=${first%%.*}` + awsname.MachineDomain(region),
		`text=${text/"` + name + `=$` + name + `"/"` + name + `=$first"}`,
	}
}

const azureText = "?api-version=2021-02-01&format=text"

// MetadataServiceOf returns a provider's service, or nil.
func MetadataServiceOf(provider string) *metadataService {
	i := slices.IndexFunc(metadataServices, func(s metadataService) bool { return s.provider == provider })
	if i < 0 {
		return nil
	}
	return &metadataServices[i]
}

// factReads are the settings that want facts.
var factReads = []string{
	"$.cloud.provider",
	"$.kubelet.capacity",
	"$.kubelet.config",
	"$.kubelet.flags",
	"$.kubelet.machineLabels",
	"$.kubelet.nodeIPs",
	"$.network.ipFamilies",
}
