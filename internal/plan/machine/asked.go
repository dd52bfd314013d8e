package machine

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Asked are the same facts of a node without an agent. An agent never plans one, and does not hold what asks for them.
var Asked = concern.Concern{
	Name:    "asked facts",
	Subject: "machine",
	Joins:   true,
	Reads:   factReads,
	Plan:    planAskedFacts,
}

// planAskedFacts has the machine ask for the facts that the kubelet's unit refers to.
func planAskedFacts(in *concern.Input, out *concern.Output) {
	wanted, service, referred := in.Wanted, MetadataServiceOf(in.Config.Cloud.Provider), in.Referred()
	for _, variable := range referred {
		what := concern.FactOf(variable).What
		switch {
		case variable == concern.AddressVariable && len(in.Config.Network.IPFamilies) > 1:
			out.Fatal(nodeconfig.Missing, wanted[variable], "is not known, and a node without an agent can ask for one address alone: give %s", problem.Setting("$.kubelet.nodeIPs"))
		case variable == concern.AddressVariable && service != nil && service.questionOf(variable, in.Config.Network.IPFamilies).path == "":
			out.Fatal(nodeconfig.Missing, wanted[variable], "is not known, and a node without an agent can ask this cloud for an IPv4 address alone: give %s", problem.Setting("$.kubelet.nodeIPs"))
		case service == nil:
			out.Fatal(nodeconfig.Missing, wanted[variable], "the kubelet needs the machine's %s, which is not known, and a node without an agent can ask the metadata services of %s alone: name it in the contract or the facts, or name cloud.provider",
				what, metadataServices[0].provider+" and "+metadataServices[1].provider)
		}
	}
	if len(referred) == 0 || service == nil {
		return
	}
	out.File(resource.Join, metadataScript, 0o644, factScript(in, service, referred), "asks this machine's cloud for what only the machine knows", machineFactsUnit)
	environment := []unitfile.Text{"METADATA=" + unitfile.Quote(service.address), "NODE_ENVIRONMENT=" + profile.NodeEnvironment}
	if in.LooksUpPods() {
		environment = append(environment, "MAX_PODS_MAP="+unitfile.Quote(in.PodsMap()))
	}
	lines := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Ask the cloud what only this machine knows, for the kubelet"),
		unitfile.Set("Wants", "network-online.target"),
		unitfile.Set("After", "network-online.target"),
		unitfile.Set("Before", concern.KubeletUnit),
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
	out.File(resource.Join, resource.UnitDir+"/"+machineFactsUnit, 0o644, unitfile.File(lines...), "runs before the kubelet at each boot", machineFactsUnit)
	out.File(resource.Join, concern.KubeletDropIns+"06-machine-facts.conf", 0o644, unitfile.File(unitfile.Section("Unit"), unitfile.Set("Wants", machineFactsUnit), unitfile.Set("After", machineFactsUnit)),
		"what the kubelet's unit refers to is there before it starts", concern.KubeletUnit)
	unit := resource.Resource{Phase: resource.Join, Reason: "has said what this machine is", Spec: &resource.Unit{Unit: machineFactsUnit}}
	out.AppendTo(concern.KubeletGroup, unit)
}

const (
	machineFactsUnit = "slipway-machine-facts.service"
	metadataScript   = "/etc/slipway/machine-facts.sh"
)

// factScript reads, checks and writes facts. No program or shell interprets the service's answers: the script compares them with
// a pattern, and writes them to a file for systemd.
func factScript(in *concern.Input, service *metadataService, referred []string) []byte {
	lines := []string{
		"# Asks this machine's cloud for what only the machine knows. systemd alone reads the file that it writes.",
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
		`  [[ $first =~ ^($4)x$ ]] || fail "the metadata service's answer for the $2 of this machine is malformed ($1)"`,
		`  printf -v "$1" %s "${first%x}"`,
		`  text+="$1=${first%x}"$'\n'`,
		"}",
	}
	lines = append(lines, service.before...)
	for _, variable := range referred {
		q := service.questionOf(variable, in.Config.Network.IPFamilies)
		lines = append(lines, "fact "+variable+" '"+concern.FactOf(variable).What+"' '"+q.path+"' '"+q.pattern+"'")
		if q.then != nil {
			lines = append(lines, q.then(in.Region())...)
		}
	}
	if in.LooksUpPods() {
		lines = append(lines,
			concern.PodsVariable+"=",
			`while read -r type pods; do [ "$type" != "$`+concern.TypeVariable+`" ] || `+concern.PodsVariable+`=$pods; done <"$MAX_PODS_MAP"`,
			`[[ $`+concern.PodsVariable+` =~ ^[1-9][0-9]*$ ]] || fail "$MAX_PODS_MAP has no number of pods for the instance type $`+concern.TypeVariable+`"`,
			`text+="`+concern.PodsVariable+`=$`+concern.PodsVariable+`"$'\n'`,
		)
	}
	lines = append(lines, `mkdir -p "${NODE_ENVIRONMENT%/*}" && printf %s "$text" >"$NODE_ENVIRONMENT.new" && mv -f "$NODE_ENVIRONMENT.new" "$NODE_ENVIRONMENT" || fail "cannot write $NODE_ENVIRONMENT"`)
	return []byte(strings.Join(lines, "\n") + "\n")
}
