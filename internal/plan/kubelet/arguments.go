package kubelet

import (
	"cmp"
	"net/netip"
	"slices"
	"sort"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
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
	// value is the kubelet's value, if it is known when the plan is made.
	value string
	// line is the value in a unit's line, with systemd's variables. Empty means that it equals value.
	line unitfile.Text
	// from is the file with the variables' values. Empty means that the value has no variables.
	from string
	// at is the contract's path of the argument. Empty means that Slipway adds it.
	at     string
	secret bool
}

// inUnit is how a line of a unit has it.
func (a *argument) inUnit() unitfile.Text { return cmp.Or(a.line, unitfile.Quote(a.value)) }

// argumentRow describes how Slipway handles one of the kubelet's flags. The kubelet takes the last of repeated flags, and a flag
// takes precedence over the field of the same setting (Kubernetes: set kubelet parameters via a configuration file). So if
// Slipway sets a flag, the contract may set the same value, and a different value is an error.
type argumentRow struct {
	flag string
	// field is the same setting in the kubelet's configuration, with dots between names; empty if it has no such field.
	field string
	// gives returns Slipway's value on this node. Without a value and a line, Slipway does not set the flag.
	gives func(in *concern.Input) argument
	// when reports whether a node gets the flag. If nil, every node with a value for it does.
	when func(in *concern.Input) bool
	// same reports whether two values mean the same. If nil, the contract may set any value: its flag takes precedence over
	// Slipway's, and Slipway does not set what the contract's configuration sets.
	same func(a, b string) bool
	// ours reports whether the contract must not set another value. If nil, it must not if Slipway has a value.
	ours func(in *concern.Input) bool
	// instead is the setting that a contract uses instead of the flag.
	instead string
	// late puts the flag among the contract's own flags, if the kubelet's command line is in one file.
	late bool
}

// kubeletArguments are the flags that Slipway gives, in the order of a command line that is in one place.
var kubeletArguments = []argumentRow{
	{flag: "node-ip", gives: addressArgument, ours: func(in *concern.Input) bool { return len(in.Config.Kubelet.NodeIPs) > 0 }, same: sameAddresses, instead: "kubelet.nodeIPs"},
	{flag: "node-labels", gives: labelsArgument, ours: func(in *concern.Input) bool { return len(in.Config.Kubelet.Labels) > 0 }, same: hasLabels, instead: "kubelet.labels"},
	{flag: concern.MaxPodsFlag, gives: podsArgument},
	{flag: "register-with-taints", field: "registerWithTaints", gives: taintsArgument, same: sameTaints, instead: "kubelet.taints"},
	{}, // the family's own
	{flag: "provider-id", field: "providerID", gives: providerArgument, when: flagsProvider},
	{flag: "pod-infra-container-image", gives: sandboxArgument, when: func(in *concern.Input) bool { return oneLine(in) && !in.Reached(concern.SandboxFlagGone) }},
	{flag: "cgroup-driver", gives: always(func(in *concern.Input) string { return in.Config.Runtime.CgroupDriver }), when: func(in *concern.Input) bool { return !in.Family.Kubelet.ConfigDefaults }},
	{flag: "container-runtime", gives: always(func(in *concern.Input) string {
		if in.Reached(concern.ContainerRuntimeFlag) {
			return ""
		}
		return remoteRuntime
	}), same: sameText, instead: "none: Slipway's nodes have containerd"},
	{flag: "container-runtime-endpoint", field: "containerRuntimeEndpoint", gives: always(func(*concern.Input) string { return concern.ContainerdSocket }), same: place.SameSocket,
		instead: "none: Slipway names containerd's socket"},
	{flag: "image-service-endpoint", field: "imageServiceEndpoint", gives: always(imageService), same: place.SameSocket,
		instead: "none: the snapshotter of runtime.lazyPull is asked for images"},
	{flag: "runtime-cgroups", gives: always(func(in *concern.Input) string { return concern.SlicePath(in.Slice) + "/" + concern.ContainerdUnit })},
	{flag: "runtime-request-timeout", field: "runtimeRequestTimeout", gives: always(func(*concern.Input) string { return "15m" })},
	{flag: "v", field: "logging.verbosity", gives: always(func(*concern.Input) string { return "2" })},
	{flag: "volume-plugin-dir", field: "volumePluginDir", gives: always(func(in *concern.Input) string { return in.Family.Paths.VolumePlugins }),
		when: func(in *concern.Input) bool { return !oneLine(in) }},
	// The two kubeconfigs count where the node joins without them too: other programs write them there.
	{flag: "kubeconfig", gives: always(func(in *concern.Input) string { return in.Family.Paths.Kubeconfig }), same: kubeletsetting.SamePath, instead: "join"},
	{flag: "bootstrap-kubeconfig", gives: always(func(in *concern.Input) string { return in.Family.Paths.BootstrapConfig }), when: bootstraps, same: kubeletsetting.SamePath, instead: "join"},
	{flag: "config", gives: always(kubeletConfigFile), ours: func(*concern.Input) bool { return true }, same: kubeletsetting.SamePath, instead: "kubelet.config"},
	{flag: "config-dir", gives: always(kubeletConfigDir), same: kubeletsetting.SamePath, instead: "kubelet.config"},
	{flag: "hostname-override", gives: always(func(in *concern.Input) string { return in.Config.Kubelet.NodeName }), same: sameHost, instead: "kubelet.nodeName", late: true},
	{flag: "hostname-override", gives: nameArgument, when: (*concern.Input).NeedsCloudName},
	{flag: "image-credential-provider-bin-dir", gives: always(func(in *concern.Input) string {
		return cmp.Or(in.Config.Kubelet.ImageCredentialProvider, &nodeconfig.ImageCredentialProvider{}).BinDir
	}), when: configuresProvider, ours: namesProvider, same: kubeletsetting.SamePath, instead: "kubelet.imageCredentialProvider.binDir", late: true},
	{flag: "image-credential-provider-config", gives: always(credentialPlace),
		when: configuresProvider, ours: namesProvider, same: kubeletsetting.SamePath, instead: "kubelet.imageCredentialProvider", late: true},
}

// always gives a value that no variable has.
func always(value func(in *concern.Input) string) func(in *concern.Input) argument {
	return func(in *concern.Input) argument { return argument{value: value(in)} }
}

func credentialPlace(in *concern.Input) string { at, _ := credentialConfig(in); return at }

func configuresProvider(in *concern.Input) bool { return credentialPlace(in) != "" }
func namesProvider(in *concern.Input) bool      { return in.Config.Kubelet.ImageCredentialProvider != nil }

// oneLine reports whether the kubelet's command line is in one place.
func oneLine(in *concern.Input) bool { return in.Family.Command.DropIn.File != "" }

// kubeletConfigFile is the path of the kubelet's configuration file. Empty means that the kubelet has none.
func kubeletConfigFile(in *concern.Input) string {
	if in.Family.Kubelet.ConfigDefaults || in.Config.Kubelet.Config != nil || len(in.CapacityConfig()) > 0 {
		return in.Family.Paths.KubeletConfig
	}
	return ""
}

func addressArgument(in *concern.Input) argument {
	if in.Wanted[concern.AddressVariable] != "" && in.Refers(concern.AddressVariable) {
		return argument{value: in.Known(concern.AddressVariable), line: inUnit(in, concern.AddressVariable), from: profile.NodeEnvironment}
	}
	return argument{value: nodeIP(in)}
}

// labelsArgument are the node's labels: those that the contract decides are in a variable.
func labelsArgument(in *concern.Input) argument {
	a := argument{value: labelsOf(in)}
	variable := in.Family.Kubelet.Variable(profile.Labels)
	if variable != "" && (a.value != "" || !oneLine(in)) {
		a.line, a.from = unitfile.Braced(variable), in.Family.Paths.KubeletEnv
	}
	if line, value := referredLabels(in); line != "" {
		if variable == "" && a.value != "" {
			a.line = unitfile.Quote(a.value)
		}
		a.line, a.value, a.from = listed(a.line, line), listed(a.value, value), profile.NodeEnvironment
	}
	return a
}

func taintsArgument(in *concern.Input) argument {
	a := argument{value: taintsOf(in.Config.Kubelet)}
	if variable := in.Family.Kubelet.Variable(profile.Taints); variable != "" && a.value != "" {
		a.line, a.from = unitfile.Braced(variable), in.Family.Paths.KubeletEnv
	}
	return a
}

// podsArgument is the number of pods, in a family that gives it with a flag, and where it depends on the machine's type.
func podsArgument(in *concern.Input) argument {
	var count string
	if in.Capacity != nil && in.Capacity.Node != nil {
		count = in.Capacity.Count()
	}
	variable := in.Family.Kubelet.Variable(profile.MaxPods)
	switch {
	case in.LooksUpPods():
		return argument{value: count, line: unitfile.Braced(cmp.Or(variable, concern.PodsVariable)), from: profile.NodeEnvironment}
	case variable == "":
		return argument{}
	case in.SetsPods():
		return argument{value: kubeletsetting.Value(in.Config.Kubelet, concern.MaxPodsFlag, concern.MaxPodsField, ""), line: unitfile.Braced(variable), from: in.Family.Paths.KubeletEnv}
	}
	return argument{value: count}
}

// flagsProvider reports whether a flag has the machine's ID in the cloud. If the command line is not in one file, the
// configuration has it, unless only the machine itself knows it.
func flagsProvider(in *concern.Input) bool {
	return in.GivesProviderID() && (oneLine(in) || in.Refers(concern.IDVariable) || in.Refers(concern.ZoneVariable))
}

func providerArgument(in *concern.Input) argument {
	return argument{
		value: "aws:///" + in.Known(concern.ZoneVariable) + "/" + in.Known(concern.IDVariable),
		line:  "aws:///" + inUnit(in, concern.ZoneVariable) + "/" + inUnit(in, concern.IDVariable),
		from:  profile.NodeEnvironment,
	}
}

// nameArgument is the Node's name where only the machine knows it.
func nameArgument(in *concern.Input) argument {
	return argument{value: in.Known(concern.NameVariable), line: inUnit(in, concern.NameVariable), from: profile.NodeEnvironment}
}

func sandboxArgument(in *concern.Input) argument {
	a := argument{value: in.SandboxImage()}
	if registry, own := in.Registry(); own {
		a.line = "${AWS_EKS_ECR_ACCOUNT}." + unitfile.Quote(registry.Service) + ".${AWS_DEFAULT_REGION}.${AWS_SERVICES_DOMAIN}/" + unitfile.Quote(in.Family.Command.SandboxImage)
		a.from = in.Family.Command.Metadata
	}
	return a
}

// argumentsOf are the kubelet's arguments: Slipway's own, those that are late after the others, and the contract's, sorted by name
// with the late ones; flags of one name keep their order.
func argumentsOf(in *concern.Input, out *concern.Output) (own, late []argument) {
	for i := range kubeletArguments {
		row := &kubeletArguments[i]
		if row.flag == "" {
			own = append(own, familyArguments(in)...)
			continue
		}
		if row.when != nil && !row.when(in) || row.same == nil && kubeletsetting.Field(in.Config.Kubelet, row.field) != nil ||
			slices.Contains(in.Family.Command.Unflagged, row.flag) || row.field != "" && in.FamilySets(row.field) != nil {
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
	if in.Joins() { // an image has no flags of one contract
		late = append(late, contractArguments(in, out)...)
	}
	return own, late
}

// byName sorts arguments; those of one name keep their order.
func byName(arguments []argument) []argument {
	sort.SliceStable(arguments, func(i, j int) bool { return arguments[i].name < arguments[j].name })
	return arguments
}

// familyArguments are the family's own flags.
func familyArguments(in *concern.Input) []argument {
	var all []argument
	for _, f := range in.Family.Command.Flags {
		if f.GivenTo(in.Minor) {
			all = append(all, argument{name: f.Name, value: f.Value})
		}
	}
	return all
}

// contractFlags are the contract's flags, without those that Slipway gives itself and those that no kubelet reads; the problems are of these.
func contractFlags(in *concern.Input) (flags []argument, problems []nodeconfig.Problem) {
	var left problem.Collector
	for i, flag := range in.Config.Kubelet.Flags {
		at := document.IndexPath("$.kubelet.flags", i)
		row, own := gives(in, flag.Name)
		switch {
		case isSelfSigned(in, flag.Name, flag.Value) || row != nil && row.same(flag.Value, own):
		case row != nil:
			left.Fatal(nodeconfig.Invalid, at, "--%s is Slipway's to give; use %s", flag.Name, row.insteadOf())
		case flag.Name == idleTimeoutFlag && in.Reached(concern.IdleTimeoutIgnored):
			left.Warn(nodeconfig.Dropped, at, "--%s %s", flag.Name, idleTimeoutReason)
		default:
			flags = append(flags, argument{name: flag.Name, value: flag.Value, at: at, secret: flag.IsSecret()})
		}
	}
	return flags, left.List
}

// contractArguments are the contract's flags that a kubelet of this version has.
func contractArguments(in *concern.Input, out *concern.Output) []argument {
	var all []argument
	flags, problems := contractFlags(in)
	out.Add(problems...)
	for _, a := range flags {
		switch {
		case a.name == rotationFlag && servingOff(in):
			a.value = "false"
			all = append(all, a)
			warnServingOff(out, a.at)
		case in.Minor == concern.Newest || !kubeletapi.LeftOut(in.Minor, a.name):
			all = append(all, a)
		}
	}
	return all
}

// gives returns the row of a flag that Slipway sets on this node, and its value. The row is nil for other flags.
func gives(in *concern.Input, flag string) (row *argumentRow, own string) {
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

// insteadOf returns the setting to use instead of the flag, by each dialect's name for it, or why no setting replaces it.
func (row *argumentRow) insteadOf() any {
	if strings.HasPrefix(row.instead, "none") {
		return row.instead
	}
	return problem.Setting("$." + row.instead)
}

// checkManagedFields reports fields that a flag of Slipway's would go before.
func checkManagedFields(in *concern.Input, out *concern.Output, at string) {
	for i := range kubeletArguments {
		row := &kubeletArguments[i]
		value := kubeletsetting.Field(in.Config.Kubelet, row.field)
		if value == nil {
			continue
		}
		if row, own := gives(in, row.flag); row != nil && !row.same(kubeletsetting.AsFlag(value), own) {
			out.Fatal(nodeconfig.Invalid, at+"."+row.field, "is Slipway's to give, with --%s; use %s", row.flag, row.insteadOf())
		}
	}
}

// written records the file of each argument.
func written(in *concern.Input, out *concern.Output, file string, arguments []argument) []argument {
	for _, a := range arguments {
		if !a.secret { // a secret is kept in the file alone
			out.Node.Argue(a.name, a.value, resource.IDOf(&resource.File{Path: cmp.Or(a.from, file)}))
		}
	}
	return arguments
}

// nodeIP is the address the node registers: the contract's, or the primary interface's where the
// family and the version need it in a flag.
func nodeIP(in *concern.Input) string {
	ips := in.Config.Kubelet.NodeIPs
	if len(ips) == 0 && in.Wanted[concern.AddressVariable] != "" && !(in.Agentless && in.Refers(concern.AddressVariable)) {
		ips = concern.AddressesOf(in.Config, in.Facts)
	}
	return strings.Join(ips, ",")
}

// remoteRuntime is the value of --container-runtime for every runtime but Docker (Kubernetes, until 1.26).
const remoteRuntime = "remote"

// bootstraps reports whether the kubelet has a credential that it only joins with.
func bootstraps(in *concern.Input) bool {
	return in.Method == nodeconfig.JoinBootstrapToken || in.Method == nodeconfig.JoinAttested && in.FallsBack()
}

// imageService is the kubelet's endpoint for images, if that is not containerd's own socket.
func imageService(in *concern.Input) string {
	if in.UsesSOCI() {
		return "unix://" + concern.SOCISocket
	}
	return ""
}

// The ways in which two values mean the same; the first is the contract's where it matters.

func sameText(a, b string) bool { return a == b }

// sameHost compares as kubelets do (k8s.io/kubernetes v1.36.3 pkg/util/node, GetHostname).
func sameHost(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// sameAddresses compares lists, in which the first address is the node's main one.
func sameAddresses(a, b string) bool {
	return slices.EqualFunc(strings.Split(a, ","), strings.Split(b, ","), func(a, b string) bool {
		one, err := netip.ParseAddr(strings.TrimSpace(a))
		other, no := netip.ParseAddr(strings.TrimSpace(b))
		return err == nil && no == nil && one.Unmap() == other.Unmap()
	})
}

// hasLabels reports whether all labels of a are among those of b. The kubelet adds the labels of its flags up
// (k8s.io/component-base cli/flag, ConfigurationMap), so the rest is there too.
func hasLabels(a, b string) bool {
	all := items(b)
	return !slices.ContainsFunc(items(a), func(label string) bool {
		key, value, _ := strings.Cut(label, "=")
		return !slices.Contains(all, strings.TrimSpace(key)+"="+strings.TrimSpace(value))
	})
}

// sameTaints compares sets. A taint without a value has an equals sign or none.
func sameTaints(a, b string) bool {
	return slices.Equal(items(strings.ReplaceAll(a, "=:", ":")), items(strings.ReplaceAll(b, "=:", ":")))
}

// items are those of a list with commas, sorted, each once.
func items(list string) []string {
	all := slices.DeleteFunc(strings.Split(list, ","), func(item string) bool { return item == "" })
	slices.Sort(all)
	return slices.Compact(all)
}
