package nodeconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// RuleEKS is the capacity rule of Amazon's EKS.
const RuleEKS = "EKS"

// The facts that can be the value of a label in [Kubelet.MachineLabels].
const (
	MachineInstanceID   = "InstanceID"
	MachineInstanceType = "InstanceType"
	MachineZone         = "Zone"
	MachineLifecycle    = "Lifecycle"
)

// machineFacts are all of them.
var machineFacts = []string{MachineInstanceID, MachineInstanceType, MachineZone, MachineLifecycle}

// maxInstanceTypes limits the types that a machine may have; an EC2 group takes 40 (EC2 Auto Scaling quotas, launch template
// overrides for each mixed instances policy).
const maxInstanceTypes = 64

// capacity validates the capacity rule. If a node allows more pods than its machine can hold, some pods never start.
func (v *validator) capacity(c *Capacity) {
	if c == nil {
		return
	}
	const at = "$.kubelet.capacity"
	switch c.Rule {
	case RuleEKS:
	case "":
		v.missing(at+".rule", "is missing; the rule that is known is "+RuleEKS)
	default:
		v.vital(at+".rule", "is unknown; the rule that is known is "+RuleEKS)
	}
	if len(c.InstanceTypes) > maxInstanceTypes {
		v.vital(at+".instanceTypes", fmt.Sprintf("has %d types, and at most %d are possible", len(c.InstanceTypes), maxInstanceTypes))
		return
	}
	for i, name := range c.InstanceTypes {
		if !isInstanceType(name) {
			v.vital(document.IndexPath(at+".instanceTypes", i), `is not an instance type, such as "m5.large"`)
		}
	}
}

// isInstanceType reports whether a string can be the name of an EC2 instance type: a family, a dot and a size.
func isInstanceType(name string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	family, size, found := strings.Cut(name, ".")
	return found && len(name) <= 63 && family != "" && size != "" && strings.Trim(family, characters) == "" && strings.Trim(size, characters) == ""
}

// machineLabels validates labels whose values come from the machine.
func (v *validator) machineLabels(k *Kubelet) {
	const at = "$.kubelet.machineLabels"
	for key, fact := range k.MachineLabels {
		here := document.FieldPath(at, key)
		reason := checkLabel(key, "")
		_, twice := k.Labels[key]
		switch {
		case reason != "":
			v.vital(here, reason)
		case twice:
			v.vital(here, "is in kubelet.labels too; leave it out of one of them")
		case !slices.Contains(machineFacts, fact):
			v.vital(here, "names a fact that is not known; use one of "+strings.Join(machineFacts, ", "))
		}
	}
}
