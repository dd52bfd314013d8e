package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// argument is a flag of the kubelet's that a node has.
type argument struct {
	// name is without dashes.
	name string
	// value is what the kubelet gets, as far as it is known where the plan is made.
	value string
	// line is how a line of a unit has it, with variables of systemd's in it; empty where it is the value itself.
	line unitfile.Text
	// from is the file that has the variables' values; empty for none.
	from string
	// at is the contract's path of it; empty for what Slipway gives.
	at     string
	secret bool
}

// inUnit is how a line of a unit has it.
func (a *argument) inUnit() unitfile.Text { return cmp.Or(a.line, unitfile.Quote(a.value)) }

// argumentRow is what Slipway does about one of the kubelet's flags. A second flag of the contract's would go before the first,
// as the kubelet takes the last; and any flag goes before the field of the same setting (Kubernetes: set kubelet parameters via a
// configuration file). So where a flag is Slipway's to give, the contract may say the same, and a different value is an error.
type argumentRow struct {
	flag string
	// field is the same setting in the kubelet's configuration, with dots between names; empty for none.
	field string
	// gives is what Slipway gives on this node; nothing has neither a value nor a line.
	gives func(in *input) argument
	// when reports whether a node gets it; nil where each does that there is a value for.
	when func(in *input) bool
	// same reports whether two values mean the same. It is nil where the contract may say what it wants: its flag goes before
	// Slipway's, and Slipway does not give what the contract's configuration sets.
	same func(a, b string) bool
	// ours reports whether the contract must not say anything else; nil where it must not if there is a value.
	ours func(in *input) bool
	// instead is what a contract is to use.
	instead string
	// late says that it is among the contract's own flags, where the kubelet's command line is in one place.
	late bool
}

// kubeletArguments are the flags that Slipway gives, in the order of a command line that is in one place.
var kubeletArguments = []argumentRow{
	{flag: "node-ip", gives: addressArgument, ours: func(in *input) bool { return len(in.config.Kubelet.NodeIPs) > 0 }, same: sameAddresses, instead: "kubelet.nodeIPs"},
	{flag: "node-labels", gives: labelsArgument, ours: func(in *input) bool { return len(in.config.Kubelet.Labels) > 0 }, same: hasLabels, instead: "kubelet.labels"},
	{flag: maxPodsFlag, gives: podsArgument},
	{flag: "register-with-taints", field: "registerWithTaints", gives: taintsArgument, same: sameTaints, instead: "kubelet.taints"},
	{}, // the family's own
	{flag: "provider-id", gives: providerArgument, when: (*input).givesProviderID},
	{flag: "pod-infra-container-image", gives: sandboxArgument, when: func(in *input) bool { return in.oneLine() && !in.reached(sandboxFlagGone) }},
	{flag: "cgroup-driver", gives: always(func(in *input) string { return in.config.Runtime.CgroupDriver }), when: func(in *input) bool { return !in.family.Kubelet.ConfigDefaults }},
	{flag: "container-runtime", gives: always(func(in *input) string {
		if in.reached(containerRuntimeFlag) {
			return ""
		}
		return remoteRuntime
	}), same: sameText, instead: "none: Slipway's nodes have containerd"},
	{flag: "container-runtime-endpoint", field: "containerRuntimeEndpoint", gives: always(func(*input) string { return containerdSocket }), same: place.SameSocket,
		instead: "none: Slipway names containerd's socket"},
	{flag: "image-service-endpoint", field: "imageServiceEndpoint", gives: always((*input).imageService), same: place.SameSocket,
		instead: "none: the snapshotter of runtime.lazyPull is asked for images"},
	{flag: "runtime-cgroups", gives: always(func(in *input) string { return slicePath(in.slice) + "/" + containerdUnit })},
	{flag: "runtime-request-timeout", field: "runtimeRequestTimeout", gives: always(func(*input) string { return "15m" })},
	{flag: "v", field: "logging.verbosity", gives: always(func(*input) string { return "2" })},
	{flag: "volume-plugin-dir", field: "volumePluginDir", gives: always(func(in *input) string { return in.family.Paths.VolumePlugins }),
		when: func(in *input) bool { return !in.oneLine() }},
	// The two kubeconfigs count where the node joins without them too: other programs write them there.
	{flag: "kubeconfig", gives: always(func(in *input) string { return in.family.Paths.Kubeconfig }), same: samePath, instead: "join"},
	{flag: "bootstrap-kubeconfig", gives: always(func(in *input) string { return in.family.Paths.BootstrapConfig }), when: (*input).bootstraps, same: samePath, instead: "join"},
	{flag: "config", gives: always((*input).kubeletConfigFile), ours: func(*input) bool { return true }, same: samePath, instead: "kubelet.config"},
	{flag: "hostname-override", gives: always(func(in *input) string { return in.config.Kubelet.NodeName }), same: sameHost, instead: "kubelet.nodeName", late: true},
	{flag: "image-credential-provider-bin-dir", gives: always(func(in *input) string {
		return cmp.Or(in.config.Kubelet.ImageCredentialProvider, &nodeconfig.ImageCredentialProvider{}).BinDir
	}), when: (*input).configuresProvider, ours: (*input).namesProvider, same: samePath, instead: "kubelet.imageCredentialProvider.binDir", late: true},
	{flag: "image-credential-provider-config", gives: always(credentialPlace),
		when: (*input).configuresProvider, ours: (*input).namesProvider, same: samePath, instead: "kubelet.imageCredentialProvider", late: true},
}

// always gives a value that no variable has.
func always(value func(in *input) string) func(in *input) argument {
	return func(in *input) argument { return argument{value: value(in)} }
}

func credentialPlace(in *input) string { at, _ := credentialConfig(in); return at }

func (in *input) configuresProvider() bool { return credentialPlace(in) != "" }
func (in *input) namesProvider() bool      { return in.config.Kubelet.ImageCredentialProvider != nil }

// oneLine reports whether the kubelet's command line is in one place.
func (in *input) oneLine() bool { return in.family.Command.DropIn.File != "" }

// kubeletConfigFile is where the kubelet's configuration is; empty for a kubelet that has none.
func (in *input) kubeletConfigFile() string {
	if in.family.Kubelet.ConfigDefaults || in.config.Kubelet.Config != nil || len(in.capacityConfig()) > 0 {
		return in.family.Paths.KubeletConfig
	}
	return ""
}

func addressArgument(in *input) argument {
	if in.wanted[addressVariable] != "" && in.refers(addressVariable) {
		return argument{value: in.known(addressVariable), line: in.inUnit(addressVariable), from: profile.NodeEnvironment}
	}
	return argument{value: nodeIP(in)}
}

// labelsArgument are the node's labels: those that the contract decides are in a variable.
func labelsArgument(in *input) argument {
	a := argument{value: labelsOf(in)}
	if a.value != "" || !in.oneLine() {
		a.line, a.from = unitfile.Braced(in.family.Kubelet.Variable(profile.Labels)), in.family.Paths.KubeletEnv
	}
	if line, value := in.referredLabels(); line != "" {
		a.line, a.value, a.from = listed(a.line, line), listed(a.value, value), profile.NodeEnvironment
	}
	return a
}

func taintsArgument(in *input) argument {
	a := argument{value: taintsOf(in.config.Kubelet)}
	if variable := in.family.Kubelet.Variable(profile.Taints); variable != "" && a.value != "" {
		a.line, a.from = unitfile.Braced(variable), in.family.Paths.KubeletEnv
	}
	return a
}

// podsArgument is the number of pods, in a family that gives it with a flag, and where it depends on the machine's type.
func podsArgument(in *input) argument {
	var count string
	if in.capacity != nil && in.capacity.node != nil {
		count = in.capacity.count()
	}
	variable := in.family.Kubelet.Variable(profile.MaxPods)
	switch {
	case in.looksUpPods():
		return argument{value: count, line: unitfile.Braced(cmp.Or(variable, podsVariable)), from: profile.NodeEnvironment}
	case variable == "":
		return argument{}
	case in.setsPods():
		return argument{value: kubeletSetting(in.config.Kubelet, maxPodsFlag, maxPodsField, ""), line: unitfile.Braced(variable), from: in.family.Paths.KubeletEnv}
	}
	return argument{value: count}
}

func providerArgument(in *input) argument {
	return argument{
		value: "aws:///" + in.known(zoneVariable) + "/" + in.known(idVariable),
		line:  "aws:///" + in.inUnit(zoneVariable) + "/" + in.inUnit(idVariable),
		from:  profile.NodeEnvironment,
	}
}

func sandboxArgument(in *input) argument {
	a := argument{value: in.sandboxImage()}
	if _, own := in.registry(); own {
		a.line = "${AWS_EKS_ECR_ACCOUNT}.dkr.ecr.${AWS_DEFAULT_REGION}.${AWS_SERVICES_DOMAIN}/" + unitfile.Quote(in.family.Command.SandboxImage)
		a.from = in.family.Command.Metadata
	}
	return a
}

// argumentsOf are the kubelet's arguments: Slipway's own, those that are late after the others, and the contract's, sorted by name
// with the late ones; flags of one name keep their order.
func argumentsOf(in *input, out *output) (own, late []argument) {
	for i := range kubeletArguments {
		row := &kubeletArguments[i]
		if row.flag == "" {
			own = append(own, familyArguments(in)...)
			continue
		}
		if row.when != nil && !row.when(in) || row.same == nil && configured(in.config.Kubelet, row.field) != nil {
			continue
		}
		a := row.gives(in)
		a.name = row.flag
		switch {
		case a.value == "" && a.line == "":
		case row.late:
			late = append(late, a)
		default:
			own = append(own, a)
		}
	}
	if in.joins() { // an image has no flags of one contract
		late = append(late, contractArguments(in, out)...)
	}
	return own, late
}

// byName sorts arguments; those of one name keep their order.
func byName(arguments []argument) []argument {
	slices.SortStableFunc(arguments, func(a, b argument) int { return cmp.Compare(a.name, b.name) })
	return arguments
}

// familyArguments are the family's own flags.
func familyArguments(in *input) []argument {
	var all []argument
	for _, f := range in.family.Command.Flags {
		if f.GivenTo(in.minor) {
			all = append(all, argument{name: f.Name, value: f.Value})
		}
	}
	return all
}

// contractFlags are the contract's flags, without those that Slipway gives itself and those that no kubelet reads; the problems are of these.
func contractFlags(in *input) (flags []argument, problems []nodeconfig.Problem) {
	var left problem.Collector
	for i, flag := range in.config.Kubelet.Flags {
		at := document.IndexPath("$.kubelet.flags", i)
		row, own := in.gives(flag.Name)
		switch {
		case isSelfSigned(in, flag.Name, flag.Value) || row != nil && row.same(flag.Value, own):
		case row != nil:
			left.Fatal(nodeconfig.Invalid, at, "--%s is Slipway's to give; use %s", flag.Name, row.instead)
		case flag.Name == idleTimeoutFlag && in.reached(idleTimeoutIgnored):
			left.Warn(nodeconfig.Dropped, at, "--%s %s", flag.Name, idleTimeoutReason)
		default:
			flags = append(flags, argument{name: flag.Name, value: flag.Value, at: at, secret: flag.IsSecret()})
		}
	}
	return flags, left.List
}

// contractArguments are the contract's flags that a kubelet of this version has.
func contractArguments(in *input, out *output) []argument {
	var all []argument
	flags, problems := contractFlags(in)
	out.Add(problems...)
	for _, a := range flags {
		switch {
		case a.name == rotationFlag && in.servingOff():
			a.value = "false"
			all = append(all, a)
			warnServingOff(out, a.at)
		case in.minor == newest || !kubeletapi.LeftOut(in.minor, a.name):
			all = append(all, a)
		}
	}
	return all
}

// gives returns the row of a flag that is Slipway's to give on this node, and its value; nil for another flag.
func (in *input) gives(flag string) (row *argumentRow, own string) {
	i := slices.IndexFunc(kubeletArguments, func(row argumentRow) bool { return row.flag == flag })
	if i < 0 || kubeletArguments[i].same == nil {
		return nil, ""
	}
	row = &kubeletArguments[i]
	own = row.gives(in).value
	if row.ours != nil && !row.ours(in) || row.ours == nil && own == "" {
		return nil, ""
	}
	return row, own
}

// checkManagedFields reports fields that a flag of Slipway's would go before.
func checkManagedFields(in *input, out *output, at string) {
	for i := range kubeletArguments {
		row := &kubeletArguments[i]
		value := configured(in.config.Kubelet, row.field)
		if value == nil {
			continue
		}
		if row, own := in.gives(row.flag); row != nil && !row.same(asFlag(value), own) {
			out.Fatal(nodeconfig.Invalid, at+"."+row.field, "is Slipway's to give, with --%s; use %s", row.flag, row.instead)
		}
	}
}

// written says which file arguments are in.
func (in *input) written(out *output, file string, arguments []argument) []argument {
	for _, a := range arguments {
		if !a.secret { // a secret is kept in the file alone
			out.node.Argue(a.name, a.value, resource.IDOf(&resource.File{Path: cmp.Or(a.from, file)}))
		}
	}
	return arguments
}

// nodeIP is the address the node registers: the contract's, or the primary interface's where the
// family and the version need it in a flag.
func nodeIP(in *input) string {
	ips := in.config.Kubelet.NodeIPs
	if len(ips) == 0 && in.wanted[addressVariable] != "" && !(in.agentless && in.refers(addressVariable)) {
		ips = addressesOf(in.config, in.facts)
	}
	return strings.Join(ips, ",")
}

// remoteRuntime is what --container-runtime says of every runtime but Docker (Kubernetes, until 1.26).
const remoteRuntime = "remote"

// bootstraps reports whether the kubelet has a credential that it only joins with.
func (in *input) bootstraps() bool {
	return in.method == nodeconfig.JoinBootstrapToken || in.method == nodeconfig.JoinAttested && in.fallsBack()
}

// imageService is where the kubelet asks for images, where that is not containerd's own socket.
func (in *input) imageService() string {
	if in.usesSOCI() {
		return "unix://" + sociSocket
	}
	return ""
}
