package kubelet

import (
	"cmp"
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletCommandLine writes the kubelet's unit with its command line. An image has the unit, with what is the same for each node; the
// rest is in drop-ins and an environment file. If the command line is in one file, that is a drop-in, or a snap's settings.
var kubeletCommandLine = concern.Concern{
	Name: "kubelet command line",
	Reads: []string{
		setting.AWSFIPS,
		setting.AWSRegion,
		"$.cloud.provider",
		"$.cluster.server",
		"$.cluster.serviceCIDRs", // the IP family of the node's address
		"$.join.aws",
		"$.join.bootstrapToken",
		"$.kubelet.capacity",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.imageCredentialProvider",
		"$.kubelet.labels",
		"$.kubelet.machineLabels",
		"$.kubelet.nodeIPs",
		"$.kubelet.nodeName",
		"$.kubelet.taints",
		"$.network.ipFamilies",
		setting.LocalDNS, // with the next, whether the node has the label of a DNS cache's exporter
		setting.Nameservers,
		"$.network.policy",
		"$.runtime.cgroupDriver",
		setting.LazyPull,
		"$.runtime.sandboxImage",
		setting.GPU, // whether the node has the label of the exporter of its GPUs' metrics
	},
	Plan: planKubeletCommand,
}

func planKubeletCommand(in *concern.Input, out *concern.Output) {
	own, late := argumentsOf(in, out)
	writer := &commandWriter{in: in, out: out, own: own, late: late}
	switch {
	case !oneLine(in):
		writer.parts()
		if aws, joins := in.Config.Cloud.AWS, in.Config.Join.AWS; aws != nil && aws.Region != "" && (joins == nil || joins.Region != aws.Region) {
			out.NotApplied(setting.AWSRegion)
		}
	case in.Joins():
		writer.line()
	}
	planKubeletUnit(in, out, writer.exec)
	if !in.Joins() {
		return
	}
	checkProvider(in, out)
	checkFamilies(in, out)
	writer.environment()
}

// checkFamilies reports families of the node's addresses that differ from the contract's. A contract without families has IPv4.
func checkFamilies(in *concern.Input, out *concern.Output) {
	const at = "$.network.ipFamilies"
	given, planned := in.Given.Network.IPFamilies, in.Config.Network.IPFamilies
	switch byDefault := []string{"IPv4"}; {
	case slices.Equal(given, byDefault):
	case !in.Family.Kubelet.NodeIP:
		out.NotApplied(at)
	case !slices.Equal(given, planned):
		out.Warn(nodeconfig.Dropped, at, "is not used: nodes of this layout have an address of the family of cluster.serviceCIDRs alone, which is %s", planned[0])
	}
}

// commandWriter writes the kubelet's arguments into a family's files.
type commandWriter struct {
	in  *concern.Input
	out *concern.Output
	// own and late are the arguments that are not written yet.
	own, late []argument
	// exec are the words of the unit's own command line.
	exec []unitfile.Text
}

// take returns the arguments with these names, in the order of the names, and records the file for them.
func (w *commandWriter) take(file string, names ...string) []argument {
	var taken []argument
	for _, name := range names {
		w.own = slices.DeleteFunc(w.own, func(a argument) bool {
			if a.name == name {
				taken = append(taken, a)
			}
			return a.name == name
		})
	}
	return written(w.in, w.out, file, taken)
}

// asWords are arguments as words of a unit's line.
func asWords(arguments []argument) []unitfile.Text {
	words := make([]unitfile.Text, len(arguments))
	for i := range arguments {
		words[i] = "--" + unitfile.Quote(arguments[i].name) + "=" + arguments[i].inUnit()
	}
	return words
}

// parts writes the unit's own words, and drop-ins that set variables of its command line.
func (w *commandWriter) parts() {
	kubelet := &w.in.Family.Kubelet
	w.exec = append(w.exec, unitfile.Quote(w.in.Family.Paths.Kubelet))
	if kubelet.Variable(profile.Labels) != "" {
		w.exec = append(w.exec, asWords(w.take(kubeletUnitFile, "v", "node-labels", "volume-plugin-dir"))...)
	}
	for _, part := range []struct {
		profile.Arguments
		phase resource.Phase
		flags []string
	}{
		{kubelet.Kubeconfig, resource.Join, []string{"kubeconfig", "bootstrap-kubeconfig"}},
		{kubelet.Config, resource.Join, []string{"config"}},
		{kubelet.Runtime, resource.Base, []string{"runtime-request-timeout", "container-runtime-endpoint", "image-service-endpoint", "runtime-cgroups"}},
		{kubelet.RuntimeKind, resource.Base, []string{"container-runtime"}},
		{kubelet.CgroupDriver, resource.Base, []string{"cgroup-driver"}},
	} {
		if part.Variable == "" {
			continue
		}
		w.exec = append(w.exec, unitfile.Variable(part.Variable))
		words := asWords(w.take(concern.KubeletDropIns+part.File, part.flags...))
		if len(words) > 0 && (part.phase == resource.Base || w.in.Joins()) {
			w.out.File(part.phase, concern.KubeletDropIns+part.File, part.Mode, unitfile.File(unitfile.Section("Service"), unitfile.Set("Environment", `"`+unitfile.Quote(part.Variable)+"="+unitfile.Words(words...)+`"`)),
				concern.Sourced("part of the kubelet's command line", part.Source), concern.KubeletUnit)
		}
	}
	w.exec = append(w.exec, unitfile.Variable(kubelet.Variable(profile.Flags)))
	var referring []string
	for _, a := range w.own {
		if a.line != "" {
			referring = append(referring, a.name)
		}
	}
	w.exec = append(w.exec, asWords(w.take(kubeletUnitFile, referring...))...)
	w.late = append(w.own, w.late...)
}

// line writes a drop-in with the whole command line.
func (w *commandWriter) line() {
	in, command := w.in, &w.in.Family.Command
	var variables [][2]string
	for _, v := range command.Variables {
		variables = append(variables, [2]string{v.Name, clusterValue(in, v.Holds)})
	}
	w.out.File(resource.Join, command.Metadata, 0o644, textfile.Environment(variables...), "what is true of the cluster", concern.KubeletUnit)
	files := []string{command.Metadata, in.Family.Paths.KubeletEnv}
	if len(in.Referred()) > 0 {
		files = append(files, command.Local)
		w.out.Append(resource.Resource{
			Phase: resource.Join, Reason: "what only the machine knows is in one place",
			Spec: &resource.Symlink{Path: command.Local, Target: profile.NodeEnvironment},
		})
	}
	lines := []unitfile.Line{unitfile.Section("Service")}
	for _, file := range files {
		lines = append(lines, unitfile.Set("EnvironmentFile", unitfile.Quote(file)))
	}
	// The first line takes the place of an ExecStart= that the image's own unit has (systemd.service(5)).
	lines = append(lines, unitfile.Set("ExecStart", ""))
	if in.Snapped() {
		planSnap(in, w.out, lines, w.own, byName(slices.Clone(w.late)))
		return
	}
	file := concern.KubeletDropIns + command.DropIn.File
	words := append([]unitfile.Text{unitfile.Quote(in.Family.Paths.Kubelet)}, asWords(written(in, w.out, file, w.own))...)
	words = append(words, unitfile.Variable(in.Family.Kubelet.Variable(profile.Flags)))
	lines = append(lines, unitfile.Command("ExecStart", words...))
	w.out.File(resource.Join, file, command.DropIn.Mode, unitfile.File(lines...),
		concern.Sourced("the kubelet's command line", command.DropIn.Source), concern.KubeletUnit)
}

// environment writes the kubelet's environment file: the rest of its flags, and its labels.
func (w *commandWriter) environment() {
	in, file := w.in, w.in.Family.Paths.KubeletEnv
	flags := byName(w.late)
	if !in.Snapped() {
		written(in, w.out, file, flags)
	}
	pairs := make([][2]string, len(flags))
	for i, a := range flags {
		pairs[i] = [2]string{a.name, a.value}
	}
	values := map[profile.Content]string{
		profile.Flags:         textfile.Flags(pairs),
		profile.Labels:        labelsOf(in),
		profile.NetworkPolicy: in.Config.Network.Policy,
		profile.CustomCloud:   in.Family.Paths.CustomCloud,
		profile.Taints:        taintsOf(in.Config.Kubelet),
	}
	if in.SetsPods() {
		values[profile.MaxPods] = podsArgument(in).value
	}
	if dropsIn(in) && !in.Reached(concern.ConfigDropInsOn) {
		values[profile.DropIns] = "on"
	}
	var variables [][2]string
	for _, v := range in.Family.Kubelet.Environment {
		if (v.Holds == profile.MaxPods || v.Holds == profile.DropIns) && values[v.Holds] == "" {
			continue
		}
		if a := in.Config.Cloud.Azure; v.Holds == profile.CustomCloud && (a == nil || a.Custom == nil) {
			continue
		}
		variables = append(variables, [2]string{v.Name, cmp.Or(v.Value, values[v.Holds])})
	}
	secret := slices.ContainsFunc(in.Config.Kubelet.Flags, nodeconfig.Flag.IsSecret)
	write := textfile.Environment
	if in.Family.Command.Helper != "" {
		write = textfile.Shell // the script there reads the file, too
	}
	w.out.Guarded(secret, resource.Join, file, 0o600, write(variables...), "the kubelet's flags and labels", concern.KubeletUnit)
}

// clusterValue is what a variable of the cluster's holds.
func clusterValue(in *concern.Input, holds profile.Content) string {
	registry, _ := in.Registry()
	switch holds {
	case profile.Region:
		return in.Region()
	case profile.ClusterName:
		if a := in.Config.Join.AWS; a != nil {
			return a.ClusterName
		}
	case profile.Server:
		return in.Config.Cluster.Server
	case profile.RegistryAccount:
		return registry.Account
	case profile.RegistryDomain:
		return registry.Domain
	}
	return ""
}
