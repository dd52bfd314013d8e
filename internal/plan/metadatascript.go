package plan

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// metadataService is how a machine asks its cloud about itself, without an agent.
type metadataService struct {
	// provider is the contract's cloud.provider.
	provider string
	address  string
	// before is run before the questions, and may set header, which each question has.
	before []string
	facts  []question
}

// question is where the fact of a variable is found, and what it looks like: an extended regular expression.
type question struct{ variable, path, pattern string }

// Patterns of facts that are alike in each cloud.
const (
	octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	ipv4  = `([1-9]|[1-9][0-9]|1[01][0-9]|12[0-689]|1[3-9][0-9]|2[01][0-9]|22[0-3])(\.` + octet + `){3}`
)

// metadataServices are those that are known. EC2: User Guide, "Instance metadata categories" and "Use IMDSv2".
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
			{addressVariable, "meta-data/local-ipv4", ipv4},
			{idVariable, "meta-data/instance-id", `i-[0-9a-f]{8,32}`},
			{typeVariable, "meta-data/instance-type", `[a-z0-9-]{1,31}\.([a-z0-9-]{0,30}[a-z0-9])`},
			{zoneVariable, "meta-data/placement/availability-zone", `[a-z]([a-z0-9-]{0,40}[a-z0-9])`},
			{lifeVariable, "meta-data/instance-life-cycle", `on-demand|spot|scheduled|capacity-block`},
		},
	},
	{
		provider: "azure",
		address:  "http://169.254.169.254/metadata/instance/",
		before:   []string{`header="Metadata: true"`},
		facts: []question{
			{addressVariable, "network/interface/0/ipv4/ipAddress/0/privateIpAddress" + azureText, ipv4},
			{idVariable, "compute/vmId" + azureText, `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`},
			{typeVariable, "compute/vmSize" + azureText, `[A-Za-z]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])`},
			{zoneVariable, "compute/zone" + azureText, `[0-9]{1,3}`},
			{lifeVariable, "compute/priority" + azureText, `Regular|Low|Spot`},
		},
	},
}

const azureText = "?api-version=2021-02-01&format=text"

// metadataServiceOf is a provider's; nil where it is not known.
func metadataServiceOf(provider string) *metadataService {
	i := slices.IndexFunc(metadataServices, func(s metadataService) bool { return s.provider == provider })
	if i < 0 {
		return nil
	}
	return &metadataServices[i]
}

// withoutAgent makes an input that of a node without an agent.
func withoutAgent(in *input) {
	in.agentless, in.asking, in.service = true, planAsking, metadataServiceOf(in.config.Cloud.Provider)
}

// planAsking has the machine ask for the facts that the kubelet's unit refers to.
func planAsking(in *input, out *output, referred []string) {
	wanted, service := in.wanted, in.service
	for _, variable := range referred {
		what := factOf(variable).what
		switch {
		case variable == addressVariable && !slices.Equal(in.config.Network.IPFamilies, []string{"IPv4"}):
			out.fatal(nodeconfig.Missing, wanted[variable], "is not known, and a node without an agent can ask for one IPv4 address alone: give kubelet.nodeIPs")
		case service == nil:
			out.fatal(nodeconfig.Missing, wanted[variable], "the kubelet is told the machine's %s, which is not known, and a node without an agent can ask the metadata services of %s alone: name it in the contract or the facts, or name cloud.provider",
				what, metadataServices[0].provider+" and "+metadataServices[1].provider)
		}
	}
	if len(referred) == 0 || service == nil {
		return
	}
	out.file(resource.Join, metadataScript, 0o644, factScript(in, service, referred), "asks this machine's cloud for what only the machine knows", machineFactsUnit)
	environment := []unitfile.Text{"METADATA=" + unitfile.Quote(service.address), "NODE_ENVIRONMENT=" + profile.NodeEnvironment}
	if in.looksUpPods() {
		environment = append(environment, "MAX_PODS_MAP="+unitfile.Quote(in.podsMap()))
	}
	lines := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Ask the cloud what only this machine knows, for the kubelet"),
		unitfile.Set("Wants", "network-online.target"),
		unitfile.Set("After", "network-online.target"),
		unitfile.Set("Before", kubeletUnit),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
	}
	for _, e := range environment {
		lines = append(lines, unitfile.Set("Environment", e))
	}
	lines = append(lines,
		unitfile.Set("ExecStart", "/bin/bash "+metadataScript),
		unitfile.Comment("Its own limits come to less. When it fails, the kubelet's next start starts it again."),
		unitfile.Set("TimeoutStartSec", "30"),
		unitfile.Set("StandardError", "journal+console"),
	)
	out.file(resource.Join, resource.UnitDir+"/"+machineFactsUnit, 0o644, unitfile.File(lines...), "runs before the kubelet at each boot", machineFactsUnit)
	out.file(resource.Join, kubeletDropIns+"06-machine-facts.conf", 0o644, unitfile.File(unitfile.Section("Unit"), unitfile.Set("Wants", machineFactsUnit), unitfile.Set("After", machineFactsUnit)),
		"what the kubelet's unit refers to is there before it starts", kubeletUnit)
	unit := resource.Resource{Phase: resource.Join, Reason: "has said what this machine is", Spec: &resource.Unit{Unit: machineFactsUnit}}
	out.addTo(kubeletGroup, unit)
}

// factScript asks, checks and writes. Nothing that the service says is run, or read by a shell: it is compared with a
// pattern, and written to a file for systemd.
func factScript(in *input, service *metadataService, referred []string) []byte {
	lines := []string{
		"# Asks this machine's cloud for what only the machine knows. systemd reads the file that it writes, and nobody else.",
		"set -u -o pipefail",
		"export LC_ALL=C",
		`fail() { echo "slipway: $1" >&2; exit 1; }`,
		`missing=`,
		`for program in systemctl curl head tr mkdir mv rm; do command -v "$program" >/dev/null || missing+=" $program"; done`,
		`[ -z "$missing" ] || fail "the image lacks:$missing"`,
		`rm -f "$NODE_ENVIRONMENT"`,
		`header=`,
		"# An x at the end keeps what a shell would drop: line breaks.",
		`ask() { curl -q -gsf --noproxy '*' --proto =http --max-time 2 ${header:+--header "$header"} "${@:2}" "$METADATA$1" | head -c 1024 | tr '\0' '?' && printf x; }`,
		`text=`,
		"fact() { # variable, its name for people, where it is, what it looks like",
		`  local first second`,
		`  first=$(ask "$3") || fail "the metadata service does not say the $2 of this machine ($1)"`,
		`  second=$(ask "$3") || fail "the metadata service says the $2 of this machine once only ($1)"`,
		`  [ "$first" = "$second" ] || fail "the metadata service gives two answers for the $2 of this machine ($1)"`,
		`  [[ $first =~ ^($4)x$ ]] || fail "what the metadata service says for the $2 of this machine is none ($1)"`,
		`  printf -v "$1" %s "${first%x}"`,
		`  text+="$1=${first%x}"$'\n'`,
		"}",
	}
	lines = append(lines, service.before...)
	for _, variable := range referred {
		q := service.facts[slices.IndexFunc(service.facts, func(q question) bool { return q.variable == variable })]
		lines = append(lines, "fact "+variable+" '"+factOf(variable).what+"' '"+q.path+"' '"+q.pattern+"'")
	}
	if in.looksUpPods() {
		lines = append(lines,
			podsVariable+"=",
			`while read -r type pods; do [ "$type" != "$`+typeVariable+`" ] || `+podsVariable+`=$pods; done <"$MAX_PODS_MAP"`,
			`[[ $`+podsVariable+` =~ ^[1-9][0-9]*$ ]] || fail "$MAX_PODS_MAP has no number of pods for the instance type $`+typeVariable+`"`,
			`text+="`+podsVariable+`=$`+podsVariable+`"$'\n'`,
		)
	}
	lines = append(lines, `mkdir -p "${NODE_ENVIRONMENT%/*}" && printf %s "$text" >"$NODE_ENVIRONMENT.new" && mv -f "$NODE_ENVIRONMENT.new" "$NODE_ENVIRONMENT" || fail "cannot write $NODE_ENVIRONMENT"`)
	return []byte(strings.Join(lines, "\n") + "\n")
}
