package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// operators are those of requirements (sigs.k8s.io/karpenter v1: NodeSelectorRequirementWithMinValues).
var operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}

// formerLabels maps the former names of labels to today's (sigs.k8s.io/karpenter v1: NormalizedLabels). A requirement on a former name
// is on the label with today's name.
var formerLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   labelZone,
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
	"beta.kubernetes.io/os":                    labelOS,
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
}

// label returns today's name of the requirement's label.
func (r *requirement) label() string {
	if today, former := formerLabels[r.Key]; former {
		return today
	}
	return r.Key
}

// malformed returns the reason why a requirement is invalid for every node, and the path below it. An empty reason means that it is valid.
func (r *requirement) malformed() (below, reason string) {
	switch {
	case !slices.Contains(operators, r.Operator):
		return ".operator", "is not known; use one of " + strings.Join(operators, ", ")
	case r.Operator == "In" && len(r.Values) == 0:
		return ".values", "is empty, and so no node fulfils the requirement"
	case r.Operator == "In" && r.label() == labelOS && !slices.Contains(r.Values, "linux"):
		return ".values", "does not have linux; Slipway makes Linux nodes"
	}
	return "", ""
}

// single is the one value that fulfils the requirement.
func (r *requirement) single() (string, bool) {
	if r.Operator == "In" && len(r.Values) == 1 {
		return r.Values[0], true
	}
	return "", false
}

// fulfilled reports whether a node fulfils the requirement. has is false if the node does not have the label; then only NotIn and
// DoesNotExist are fulfilled (sigs.k8s.io/karpenter: scheduling, Requirements.Compatible).
func (r *requirement) fulfilled(value string, has bool) bool {
	switch r.Operator {
	case "In":
		return has && slices.Contains(r.Values, value)
	case "NotIn":
		return !has || !slices.Contains(r.Values, value)
	case "DoesNotExist":
		return !has
	case "Gt", "Lt", "Gte", "Lte":
		if !has || len(r.Values) != 1 {
			return false
		}
		have, err := strconv.ParseInt(value, 10, 64)
		limit, err2 := strconv.ParseInt(r.Values[0], 10, 64)
		if err != nil || err2 != nil {
			return false
		}
		return map[string]bool{"Gt": have > limit, "Lt": have < limit, "Gte": have >= limit, "Lte": have <= limit}[r.Operator]
	}
	return has
}

// check compares the claim's requirements with the launch. The caller sorts the problems. A problem does not repeat a value that only the
// claim sets, because Kubernetes may refuse that value.
func (r *Request) check(l *Launch) []nodeconfig.Problem {
	c, prefix := r.claim(), r.prefix()
	var problems []nodeconfig.Problem
	wrong := func(path, reason string) {
		problems = append(problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: path, Reason: reason, Fatal: true, Document: l.own.Origin})
	}
	differs := func(path, key, value, reason string) {
		if l.own.Document.Node.Kubelet.Labels[key] == value {
			wrong(path, "contradicts what else the claim says")
		} else {
			wrong(path, fmt.Sprintf(reason, value))
		}
	}
	labels, d := l.document.Node.Kubelet.Labels, &l.document
	for i := range c.Spec.Requirements {
		wanted := &c.Spec.Requirements[i]
		key := wanted.label()
		zoned := key == labelZone && d.Machine.Zone == "" && wanted.Operator != "DoesNotExist"
		if _, reason := wanted.malformed(); reason != "" || zoned || l.base.isForeign(key) {
			continue // reported already
		}
		value, has := labels[key]
		if !has && l.base.mayPoolLabel(key) {
			if value, has = later(c, wanted); !has && r.Claim == nil {
				continue // the claims of a pool set the values of the pool's own labels
			}
		}
		switch {
		case wanted.fulfilled(value, has):
		case has:
			differs(document.IndexPath(prefix+".spec.requirements", i), key, value, "is not fulfilled: the node would have %q")
		default:
			wrong(document.IndexPath(prefix+".spec.requirements", i), "is not fulfilled: the node would not have the label")
		}
	}
	for key, wanted := range c.Metadata.Labels {
		switch value, has := labels[key]; {
		case has && value != wanted:
			differs(document.FieldPath(prefix+".metadata.labels", key), key, value, "is not what the node would have, which is %q")
		case !has && !l.base.mayPoolLabel(key):
			wrong(document.FieldPath(prefix+".metadata.labels", key), "is not what the node would have, which has no such label")
		}
	}
	if zones := d.Machine.Type.Zones; d.Machine.Zone != "" && zones != nil && !slices.Contains(zones, d.Machine.Zone) {
		wrong(prefix+".spec.requirements", fmt.Sprintf("want a zone that does not have the instance type %s, which is in %s", d.Machine.Type.Name, cmp.Or(strings.Join(zones, ", "), "none")))
	}
	return problems
}

// later returns the value of a label that a kubelet may not set. Karpenter sets it when the node has registered.
func later(c *NodeClaim, r *requirement) (string, bool) {
	if value, found := c.Metadata.Labels[r.Key]; found {
		return value, true
	}
	return r.single()
}
