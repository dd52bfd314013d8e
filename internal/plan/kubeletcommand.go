package plan

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletCommandLine is the kubelet's command line, in the families that have it in one place: as a drop-in of its unit, or, on
// machines whose kubelet is a snap, as the snap's settings.
var kubeletCommandLine = concern{
	name:  "kubelet command line",
	joins: true,
	reads: []string{
		"$.cloud.aws.region",
		"$.cloud.provider",
		"$.cluster.server",
		"$.join.aws",
		"$.kubelet.capacity",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.labels",
		"$.kubelet.machineLabels",
		"$.kubelet.nodeIPs",
		"$.kubelet.taints",
		LazyPullPath,
		"$.runtime.sandboxImage",
	},
	plan: planKubeletCommand,
}

// argument is a flag of the kubelet's without its dashes, as a unit's line has it: variables are systemd's.
type argument struct{ name, value string }

func planKubeletCommand(in *input, out *output) {
	command := &in.family.Command
	if command.DropIn.File == "" {
		if in.config.Cloud.AWS != nil && in.config.Cloud.AWS.Region != "" {
			out.notApplied(regionPath)
		}
		return
	}
	var variables [][2]string
	for _, v := range command.Variables {
		variables = append(variables, [2]string{v.Name, in.clusterValue(v.Holds)})
	}
	out.file(resource.Join, command.Metadata, 0o644, environmentFile(variables...), "what is true of the cluster", kubeletUnit)
	files := []string{command.Metadata, in.family.Paths.KubeletEnv}
	if len(in.referred()) > 0 {
		files = append(files, command.Local)
		out.add(resource.Resource{
			Phase: resource.Join, Reason: "what only the machine knows is in one place",
			Spec: &resource.Symlink{Path: command.Local, Target: profile.NodeEnvironment},
		})
	}
	lines := []string{"[Service]"}
	for _, file := range files {
		lines = append(lines, "EnvironmentFile="+file)
	}
	// The first line takes the place of an ExecStart= that the image's own unit has (systemd.service(5)).
	lines = append(lines, "ExecStart=")
	arguments := in.commandLine()
	if in.snapped() {
		planSnap(in, out, lines, arguments)
		return
	}
	words := []string{in.family.Paths.Kubelet}
	for _, a := range arguments {
		words = append(words, "--"+a.name+"="+a.value)
	}
	words = append(words, "$"+in.family.Kubelet.Variable(profile.Flags))
	lines = append(lines, "ExecStart="+strings.Join(words, " \\\n    "))
	out.file(resource.Join, kubeletDropIns+command.DropIn.File, command.DropIn.Mode, unitFile(lines...),
		sourced("the kubelet's command line", command.DropIn.Source), kubeletUnit)
}

// clusterValue is what a variable of the cluster's holds.
func (in *input) clusterValue(holds profile.Content) string {
	registry, _ := in.registry()
	switch holds {
	case profile.Region:
		return in.region()
	case profile.ClusterName:
		if a := in.config.Join.AWS; a != nil {
			return a.ClusterName
		}
	case profile.Server:
		return in.config.Cluster.Server
	case profile.RegistryAccount:
		return registry.account
	case profile.RegistryDomain:
		return registry.domain
	}
	return ""
}

// commandFlag is the value of one of the family's own flags on this node; empty where its version does not have it.
func (in *input) commandFlag(name string) string {
	for _, f := range in.family.Command.Flags {
		if f.Name == name && f.GivenTo(in.minor) {
			return f.Value
		}
	}
	return ""
}

// commandLine is all that the kubelet is told, but for what the contract's flags say.
func (in *input) commandLine() []argument {
	var all []argument
	add := func(name, value string) {
		if value != "" {
			all = append(all, argument{name, value})
		}
	}
	k := in.config.Kubelet
	if in.wanted[addressVariable] != "" {
		add("node-ip", in.inUnit(addressVariable))
	} else {
		add("node-ip", unitValue(strings.Join(k.NodeIPs, ",")))
	}
	add("node-labels", in.labelsInUnit())
	switch {
	case in.setsPods(), in.looksUpPods():
		add(maxPodsFlag, "${"+in.family.Kubelet.Variable(profile.MaxPods)+"}")
	case in.capacity != nil && in.capacity.node != nil:
		add(maxPodsFlag, in.capacity.count())
	}
	if len(k.Taints) > 0 {
		add("register-with-taints", "${"+in.family.Kubelet.Variable(profile.Taints)+"}")
	}
	for _, f := range in.family.Command.Flags {
		add(f.Name, in.commandFlag(f.Name))
	}
	all = slices.Compact(all) // one flag may have a value for each of several ranges of versions
	if in.givesProviderID() {
		add("provider-id", "aws:///"+in.inUnit(zoneVariable)+"/"+in.inUnit(idVariable))
	}
	if in.reached(sandboxFlagGone) {
	} else if _, own := in.registry(); own {
		add("pod-infra-container-image", "${AWS_EKS_ECR_ACCOUNT}.dkr.ecr.${AWS_DEFAULT_REGION}.${AWS_SERVICES_DOMAIN}/"+in.family.Command.SandboxImage)
	} else {
		add("pod-infra-container-image", unitValue(in.sandboxImage()))
	}
	if !in.reached(containerRuntimeFlag) {
		add("container-runtime", remoteRuntime)
	}
	add("container-runtime-endpoint", containerdSocket)
	add("image-service-endpoint", in.imageService())
	add("runtime-cgroups", slicePath(in.slice)+"/"+containerdUnit)
	for _, f := range []argument{{"runtime-request-timeout", "15m"}, {"v", "2"}} {
		if byDefault(k, f.name, f.value) != "" {
			add(f.name, f.value)
		}
	}
	for _, f := range kubeconfigFlags(in) {
		add(f.name, f.value)
	}
	add("config", in.family.Paths.KubeletConfig)
	return all
}

// labelsInUnit are the node's labels as its command line has them: those that the contract decides are in a variable.
func (in *input) labelsInUnit() string {
	var parts []string
	if len(labels(in)) > 0 {
		parts = append(parts, "${"+in.family.Kubelet.Variable(profile.Labels)+"}")
	}
	if own := in.referredLabels(); own != "" {
		parts = append(parts, own)
	}
	return strings.Join(parts, ",")
}

// snapped reports whether the machine's kubelet is a snap.
func (in *input) snapped() bool {
	snap := &in.family.Command.Snap
	if !slices.Contains(snap.Distributions, in.facts.OS.ID) {
		return false
	}
	return !slices.ContainsFunc(in.facts.Components, func(c components.Component) bool { return c.Name == "kubelet" && c.Path == in.family.Paths.Kubelet })
}

// kubeletProgram is what starts the kubelet.
func (in *input) kubeletProgram() string {
	if in.snapped() {
		return in.family.Command.Snap.Program
	}
	return in.family.Paths.Kubelet
}

// kubeletProcess is the unit that the kubelet's process is in: that of its snap, where it is one (snapd: wrappers, services).
func (in *input) kubeletProcess() string {
	if in.snapped() {
		return "snap." + in.family.Command.Snap.Name + ".daemon.service"
	}
	return kubeletUnit
}

// snapScript gives a snap the settings that differ, and starts it. A setting that the snap has already is not set again,
// because each change of a snap's settings runs its own hooks. The snap is kept from starting by itself: snapd would start
// it with the settings of the boot before.
const snapScript = `# Gives a snap those of its settings that differ, and starts it: the snap, then its settings as name=value.
set -u -o pipefail
snap=$1
shift
snap stop --disable "$snap" || exit
changed=()
for setting; do
  value=$(snap get "$snap" "${setting%%=*}" 2>/dev/null) || value=
  [ "$value" = "${setting#*=}" ] || changed+=("$setting")
done
if [ ${#changed[@]} -gt 0 ]; then
  snap set "$snap" "${changed[@]}" || exit
fi
exec snap start "$snap"
`

// planSnap has the kubelet's unit set the snap's flags at each boot, before it starts the snap.
func planSnap(in *input, out *output, lines []string, arguments []argument) {
	snap := &in.family.Command.Snap
	scratch := &output{} // what there is to say of a flag is said where the environment file is made
	for _, f := range flags(in, scratch) {
		at := document.IndexPath("$.kubelet.flags", slices.Index(in.config.Kubelet.Flags, f))
		switch {
		case strings.Trim(f.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			out.fatal(nodeconfig.Invalid, at, "is a name that no setting of a snap can have (snapcraft docs, configuration in snaps)")
			continue
		case f.Value == "" || f.Value == "null" || strings.ContainsAny(f.Value[:1], `{["`):
			out.fatal(nodeconfig.Invalid, at, "has a value that a snap would take for another one: set it in kubelet.config, if it can be set there")
			continue
		}
		set := slices.IndexFunc(arguments, func(a argument) bool { return a.name == f.Name })
		switch {
		case set < 0:
			arguments = append(arguments, argument{f.Name, unitValue(f.Value)})
		case f.IsSecret() || slices.ContainsFunc(in.config.Kubelet.Flags, func(other nodeconfig.Flag) bool { return other.Name == f.Name && other.Value != f.Value }):
			out.fatal(nodeconfig.Invalid, at, "is given twice, and a setting of a snap has one value")
		default:
			arguments[set].value = unitValue(f.Value)
		}
	}
	words := []string{"/bin/bash", snap.Script, snap.Name}
	for _, a := range arguments {
		words = append(words, `"`+a.name+"="+a.value+`"`)
	}
	lines = append(lines, "ExecStart="+strings.Join(words, " \\\n    "))
	secret := slices.ContainsFunc(in.config.Kubelet.Flags, nodeconfig.Flag.IsSecret)
	out.file(resource.Join, snap.Script, 0o644, []byte(snapScript), "gives the kubelet's snap its settings, where they differ", kubeletUnit)
	out.guarded(secret, resource.Join, kubeletDropIns+snap.DropIn.File, snap.DropIn.Mode, unitFile(lines...),
		sourced("the settings of the kubelet's snap, before it starts, at each boot", snap.DropIn.Source), kubeletUnit)
}
