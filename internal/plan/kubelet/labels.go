package kubelet

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// labels are the contract's, and those that follow from it.
func labels(in *concern.Input) map[string]string {
	labels := make(map[string]string)
	maps.Copy(labels, in.Config.Kubelet.Labels)
	for key, variable := range machineLabels(in, false) {
		if value := in.Known(variable); value != "" {
			labels[key] = value
		}
	}
	if servingRotation(in) {
		for name, value := range in.Family.Kubelet.ServingLabels {
			if labels[name] = value; servingOff(in) {
				delete(labels, name)
			}
		}
	}
	if concern.ExportsDNS(in) {
		maps.Copy(labels, in.Family.LocalDNS.ExporterLabels)
	}
	if in.ObservesGPU() {
		maps.Copy(labels, in.Family.GPU.Labels)
	}
	for name, value := range in.PresentLabels() {
		if _, own := labels[name]; !own {
			labels[name] = value
		}
	}
	return labels
}

// labelsOf are the node's labels as the kubelet takes them.
func labelsOf(in *concern.Input) string {
	wanted := labels(in)
	labels := make([]string, 0, len(wanted))
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		labels = append(labels, key+"="+wanted[key])
	}
	return strings.Join(labels, ",")
}

// The setting that kubelets take and ignore since concern.IdleTimeoutIgnored.
const (
	idleTimeoutFlag  = "streaming-connection-idle-timeout"
	idleTimeoutField = "streamingConnectionIdleTimeout"
	// idleTimeoutReason is why the flag is left out.
	idleTimeoutReason = "is left out: kubelets read it nowhere since Kubernetes 1.34"
)

// taintsOf are the node's taints as the kubelet takes them.
func taintsOf(k nodeconfig.Kubelet) string {
	var taints []string
	for _, t := range k.Taints {
		taints = append(taints, t.String())
	}
	return strings.Join(taints, ",")
}

// machineLabels are the labels whose values are the machine's facts, each with the fact's variable: those that the unit refers to, or
// else the others.
func machineLabels(in *concern.Input, refers bool) map[string]string {
	labels := make(map[string]string)
	for key, label := range in.Config.Kubelet.MachineLabels {
		if f := concern.Labelled(label); f != nil && in.Joins() && in.Refers(f.Variable) == refers {
			labels[key] = f.Variable
		}
	}
	return labels
}

// referredLabels are the labels on the unit's command line after those of its environment file. value has them with the known facts
// filled in. Both are empty if there are no such labels.
func referredLabels(in *concern.Input) (line unitfile.Text, value string) {
	labels := machineLabels(in, true)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		line = listed(line, unitfile.Quote(key)+"="+inUnit(in, labels[key]))
		value = listed(value, key+"="+in.Known(labels[key]))
	}
	return line, value
}

// listed are two lists with commas as one; either may be empty.
func listed[T ~string](a, b T) T {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// inUnit is a fact as a word of the unit has it.
func inUnit(in *concern.Input, variable string) unitfile.Text {
	if in.Refers(variable) {
		return unitfile.Braced(variable)
	}
	return unitfile.Quote(in.Known(variable))
}
