package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// labels are the contract's, and those that follow from it.
func labels(in *input) map[string]string {
	labels := make(map[string]string)
	maps.Copy(labels, in.config.Kubelet.Labels)
	for key, variable := range in.machineLabels(false) {
		if value := in.known(variable); value != "" {
			labels[key] = value
		}
	}
	if servingRotation(in.config) {
		for name, value := range in.family.Kubelet.ServingLabels {
			if labels[name] = value; in.servingOff() {
				delete(labels, name)
			}
		}
	}
	if exportsDNS(in) {
		maps.Copy(labels, in.family.LocalDNS.ExporterLabels)
	}
	if in.observesGPU() {
		maps.Copy(labels, in.family.GPU.Labels)
	}
	return labels
}

// labelsOf are the node's labels as the kubelet takes them.
func labelsOf(in *input) string {
	wanted := labels(in)
	labels := make([]string, 0, len(wanted))
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		labels = append(labels, key+"="+wanted[key])
	}
	return strings.Join(labels, ",")
}

// The setting that kubelets take and ignore since idleTimeoutIgnored.
const (
	idleTimeoutFlag  = "streaming-connection-idle-timeout"
	idleTimeoutField = "streamingConnectionIdleTimeout"
	// idleTimeoutReason says why it is not given.
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
func (in *input) machineLabels(refers bool) map[string]string {
	labels := make(map[string]string)
	for key, label := range in.config.Kubelet.MachineLabels {
		if f := labelled(label); f != nil && in.joins() && in.refers(f.variable) == refers {
			labels[key] = f.variable
		}
	}
	return labels
}

// referredLabels are the labels that the unit's command line has after those of its environment file, and what they are where the
// facts are known; empty for none.
func (in *input) referredLabels() (line unitfile.Text, value string) {
	labels := in.machineLabels(true)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		line = listed(line, unitfile.Quote(key)+"="+in.inUnit(labels[key]))
		value = listed(value, key+"="+in.known(labels[key]))
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
func (in *input) inUnit(variable string) unitfile.Text {
	if in.refers(variable) {
		return unitfile.Braced(variable)
	}
	return unitfile.Quote(in.known(variable))
}
