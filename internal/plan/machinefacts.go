package plan

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// machineFacts brings what only the machine knows to its kubelet. Where a unit refers to such a fact, its value is in an
// environment file that does not outlast a boot: a kubelet whose machine has not said what it is does not start, and a disk
// that another machine is started from has nobody's. The agent knows the facts and writes the file. Without one, a unit asks
// the cloud's metadata service at each boot (see metadataScript).
var machineFacts = concern{
	name:  "machine facts",
	joins: true,
	reads: []string{
		"$.cloud.provider",
		"$.kubelet.capacity",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.machineLabels",
		"$.kubelet.nodeIPs",
		"$.network.ipFamilies",
	},
	plan: planMachineFacts,
}

// machineFact is one of them.
type machineFact struct {
	// variable is its name in the environment file, what is its name for people.
	variable, what string
	// label is what a contract calls it as the value of a label; empty where it cannot be one.
	label string
	// need is what an agent asks for where it does not know the fact.
	need Need
	// of is its value; empty where it is not known.
	of func(in *input) string
}

// The variables of the environment file.
const (
	addressVariable  = "NODE_IP"
	idVariable       = "INSTANCE_ID"
	typeVariable     = "INSTANCE_TYPE"
	zoneVariable     = "AVAILABILITY_ZONE"
	lifeVariable     = "INSTANCE_LIFECYCLE"
	podsVariable     = "MAX_PODS"
	machineFactsUnit = "slipway-machine-facts.service"
	metadataScript   = "/etc/slipway/machine-facts.sh"
)

// ownFacts are all there are.
var ownFacts = []machineFact{
	{addressVariable, "address", "", NeedAddress, func(in *input) string { return strings.Join(addressesOf(in.config, in.facts), ",") }},
	{idVariable, "instance ID", nodeconfig.MachineInstanceID, NeedDescription, func(in *input) string { return in.instance().ID }},
	{typeVariable, "instance type", nodeconfig.MachineInstanceType, NeedDescription, func(in *input) string { return in.instance().Type }},
	{zoneVariable, "zone", nodeconfig.MachineZone, NeedDescription, func(in *input) string { return in.instance().Zone }},
	{lifeVariable, "lifecycle", nodeconfig.MachineLifecycle, NeedDescription, func(in *input) string { return in.instance().Lifecycle }},
}

// factOf is the fact of a variable.
func factOf(variable string) *machineFact {
	return &ownFacts[slices.IndexFunc(ownFacts, func(f machineFact) bool { return f.variable == variable })]
}

// labelled is the fact that a contract calls by a name as the value of a label; nil for none.
func labelled(name string) *machineFact {
	i := slices.IndexFunc(ownFacts, func(f machineFact) bool { return f.label == name && name != "" })
	if i < 0 {
		return nil
	}
	return &ownFacts[i]
}

// wantedFacts are the variables of the facts that the node cannot be made without, each with the setting that wants it.
func (in *input) wantedFacts() map[string]string {
	wanted := make(map[string]string)
	if !in.joins() {
		return wanted
	}
	if in.needsAddress() && len(in.config.Kubelet.NodeIPs) == 0 && kubeletSetting(in.config.Kubelet, "node-ip", "", "") == "" {
		wanted[addressVariable] = "$.kubelet.nodeIPs"
	}
	if in.givesProviderID() {
		wanted[idVariable], wanted[zoneVariable] = "$.cloud.provider", "$.cloud.provider"
	}
	for _, label := range in.config.Kubelet.MachineLabels {
		if f := labelled(label); f != nil {
			wanted[f.variable] = "$.kubelet.machineLabels"
		}
	}
	if in.looksUpPods() {
		wanted[typeVariable] = capacityPath
	}
	return wanted
}

// known is the value of a fact; empty where it is not known. Facts that do not name the machine's instance are of its image:
// where the machine itself can be asked, it is.
func (in *input) known(variable string) string {
	if _, asked := metadataServices[in.config.Cloud.Provider]; in.agentless && asked && in.instance().ID == "" {
		return ""
	}
	value := factOf(variable).of(in)
	if variable == addressVariable {
		for address := range strings.SplitSeq(value, ",") {
			if _, err := netip.ParseAddr(address); err != nil {
				return ""
			}
		}
		return value
	}
	if !isPlain(value) {
		return ""
	}
	return value
}

// isPlain reports whether a fact can be a label's value, and so stand in any file as it is.
func isPlain(s string) bool {
	const ends = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s != "" && len(s) <= 63 && strings.Trim(s, ends+"-_.") == "" && strings.Trim(s[:1]+s[len(s)-1:], ends) == ""
}

// refers reports whether the kubelet's unit refers to the fact by its variable, and does not have its value.
func (in *input) refers(variable string) bool {
	if in.agentless {
		return in.known(variable) == ""
	}
	return in.family.Command.Local != ""
}

// inUnit is a fact as a word of the unit has it.
func (in *input) inUnit(variable string) string {
	if in.refers(variable) {
		return "${" + variable + "}"
	}
	return unitValue(in.known(variable))
}

// referred are the variables that the unit refers to, sorted.
func (in *input) referred() []string {
	var all []string
	for _, variable := range slices.Sorted(maps.Keys(in.wantedFacts())) {
		if in.refers(variable) {
			all = append(all, variable)
		}
	}
	return all
}

// machineLabels are the labels whose values are the machine's facts, as --node-labels takes them: those that the unit refers
// to, or else those that are known.
func (in *input) machineLabels(refers bool, value func(variable string) string) map[string]string {
	labels := make(map[string]string)
	for key, label := range in.config.Kubelet.MachineLabels {
		f := labelled(label)
		if f == nil || !in.joins() || in.refers(f.variable) != refers {
			continue
		}
		if v := value(f.variable); v != "" {
			labels[key] = v
		}
	}
	return labels
}

// referredLabels are the labels of the unit's command line, after those of its environment file; empty for none.
func (in *input) referredLabels() string {
	labels := in.machineLabels(true, in.inUnit)
	var words []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, unitValue(key)+"="+labels[key])
	}
	return strings.Join(words, ",")
}

func planMachineFacts(in *input, out *output) {
	wanted := in.wantedFacts()
	referred := in.referred()
	if in.agentless {
		planAsking(in, out, referred)
		return
	}
	var lines [][2]string
	for _, variable := range slices.Sorted(maps.Keys(wanted)) {
		value := in.known(variable)
		if value == "" {
			unknownFact(in, out, wanted[variable], factOf(variable).what)
			continue
		}
		lines = append(lines, [2]string{variable, value})
	}
	if in.family.Command.Local == "" {
		return
	}
	if in.looksUpPods() && in.capacity.node != nil {
		lines = append(lines, [2]string{podsVariable, in.capacity.count()})
	}
	if len(lines) > 0 {
		out.file(resource.Join, profile.NodeEnvironment, 0o644, environmentFile(lines...),
			"what only this machine knows, for the kubelet's unit; it is gone after a boot, and the agent writes it again", kubeletUnit)
	}
}

// unknownFact reports a fact that is not known. On a workstation, without facts, it need not be.
func unknownFact(in *input, out *output, path, what string) {
	if what == factOf(addressVariable).what && in.family.Command.Local == "" {
		return // a kubelet that is told none finds one, and the agent has said so
	}
	if in.facts.OS.ID == "" && len(in.facts.Components) == 0 {
		out.warn(nodeconfig.Missing, path, "no facts say the machine's %s, which the kubelet is told", what)
		return
	}
	out.fatal(nodeconfig.Missing, path, "the kubelet is told the machine's %s, and neither the cloud's metadata service nor the facts say it", what)
}

// metadataService is how a machine asks its cloud about itself, without an agent.
type metadataService struct {
	address string
	// before is run before the questions, and may set header, which each question has.
	before []string
	// facts are by variable.
	facts map[string]question
}

// question is where a fact is found, and what it looks like: an extended regular expression.
type question struct{ path, pattern string }

// Patterns of facts that are alike in each cloud.
const (
	octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	ipv4  = `([1-9]|[1-9][0-9]|1[01][0-9]|12[0-689]|1[3-9][0-9]|2[01][0-9]|22[0-3])(\.` + octet + `){3}`
)

// metadataServices are by the contract's cloud.provider. EC2: User Guide, "Instance metadata categories" and "Use IMDSv2".
// Azure: Instance Metadata Service, "format=text".
var metadataServices = map[string]metadataService{
	"aws": {
		address: "http://169.254.169.254/latest/",
		before: []string{
			`token=$(ask api/token --request PUT --header 'X-aws-ec2-metadata-token-ttl-seconds: 60') || fail "the metadata service gives no token"`,
			`[[ ${token%x} =~ ^[A-Za-z0-9+/=_-]+$ ]] || fail "what the metadata service gives is no token"`,
			`header="X-aws-ec2-metadata-token: ${token%x}"`,
		},
		facts: map[string]question{
			addressVariable: {"meta-data/local-ipv4", ipv4},
			idVariable:      {"meta-data/instance-id", `i-[0-9a-f]{8,32}`},
			typeVariable:    {"meta-data/instance-type", `[a-z0-9-]{1,31}\.([a-z0-9-]{0,30}[a-z0-9])`},
			zoneVariable:    {"meta-data/placement/availability-zone", `[a-z]([a-z0-9-]{0,40}[a-z0-9])`},
			lifeVariable:    {"meta-data/instance-life-cycle", `on-demand|spot|scheduled|capacity-block`},
		},
	},
	"azure": {
		address: "http://169.254.169.254/metadata/instance/",
		before:  []string{`header="Metadata: true"`},
		facts: map[string]question{
			addressVariable: {"network/interface/0/ipv4/ipAddress/0/privateIpAddress" + azureText, ipv4},
			idVariable:      {"compute/vmId" + azureText, `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`},
			typeVariable:    {"compute/vmSize" + azureText, `[A-Za-z]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])`},
			zoneVariable:    {"compute/zone" + azureText, `[0-9]{1,3}`},
			lifeVariable:    {"compute/priority" + azureText, `Regular|Low|Spot`},
		},
	},
}

const azureText = "?api-version=2021-02-01&format=text"

// planAsking has the machine ask for the facts that the kubelet's unit refers to.
func planAsking(in *input, out *output, referred []string) {
	wanted := in.wantedFacts()
	service, known := metadataServices[in.config.Cloud.Provider]
	for _, variable := range referred {
		what := factOf(variable).what
		switch {
		case variable == addressVariable && !slices.Equal(in.config.Network.IPFamilies, []string{"IPv4"}):
			out.fatal(nodeconfig.Missing, wanted[variable], "is not known, and a node without an agent can ask for one IPv4 address alone: give kubelet.nodeIPs")
		case !known:
			out.fatal(nodeconfig.Missing, wanted[variable], "the kubelet is told the machine's %s, which is not known, and a node without an agent can ask the metadata services of %s alone: name it in the contract or the facts, or name cloud.provider",
				what, strings.Join(slices.Sorted(maps.Keys(metadataServices)), " and "))
		}
	}
	if len(referred) == 0 || !known {
		return
	}
	out.file(resource.Join, metadataScript, 0o644, factScript(in, service, referred), "asks this machine's cloud for what only the machine knows", machineFactsUnit)
	environment := []string{"METADATA=" + service.address, "NODE_ENVIRONMENT=" + profile.NodeEnvironment}
	if in.looksUpPods() {
		environment = append(environment, "MAX_PODS_MAP="+in.podsMap())
	}
	lines := []string{
		"[Unit]",
		"Description=Ask the cloud what only this machine knows, for the kubelet",
		"Wants=network-online.target",
		"After=network-online.target",
		"Before=" + kubeletUnit,
		"",
		"[Service]",
		"Type=oneshot",
		"RemainAfterExit=yes",
	}
	for _, e := range environment {
		lines = append(lines, "Environment="+e)
	}
	lines = append(lines,
		"ExecStart=/bin/bash "+metadataScript,
		"# Its own limits come to less. When it fails, the kubelet's next start starts it again.",
		"TimeoutStartSec=30",
		"StandardError=journal+console",
	)
	out.file(resource.Join, resource.UnitDir+"/"+machineFactsUnit, 0o644, unitFile(lines...), "runs before the kubelet at each boot", machineFactsUnit)
	out.file(resource.Join, kubeletDropIns+"06-machine-facts.conf", 0o644, unitFile("[Unit]", "Wants="+machineFactsUnit, "After="+machineFactsUnit),
		"what the kubelet's unit refers to is there before it starts", kubeletUnit)
	unit := resource.Resource{Phase: resource.Join, Reason: "has said what this machine is", Spec: &resource.Unit{Unit: machineFactsUnit}}
	out.addTo(kubeletGroup, unit)
}

// factScript asks, checks and writes. Nothing that the service says is run, or read by a shell: it is compared with a
// pattern, and written to a file for systemd.
func factScript(in *input, service metadataService, referred []string) []byte {
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
		q := service.facts[variable]
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

// givesProviderID reports whether the kubelet is told its machine's name in the cloud, which a cloud provider of its own
// would tell it (Kubernetes: cloud-provider-aws, node names).
func (in *input) givesProviderID() bool {
	const flag, field = "provider-id", "providerID"
	return in.family.Command.DropIn.File != "" && in.config.Cloud.Provider == "aws" && kubeletSetting(in.config.Kubelet, "cloud-provider", "", in.commandFlag("cloud-provider")) == "external" &&
		kubeletSetting(in.config.Kubelet, flag, field, "") == ""
}
