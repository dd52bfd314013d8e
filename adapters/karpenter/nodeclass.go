package karpenter

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/slipway-dev/slipway/launch/azure"
)

// NodeClass is an AKSNodeClass as Karpenter's core handles it. Its spec stays unparsed JSON: package launch/azure decodes and
// validates it, so this type loses no field.
type NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              runtime.RawExtension `json:"spec,omitzero"`
	Status            NodeClassStatus      `json:"status,omitzero"`
}

// NodeClassList is a list of classes.
type NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeClass `json:"items"`
}

// NodeClassStatus is a class's status. Fields that other programs have written are kept.
type NodeClassStatus struct {
	Conditions []status.Condition
	others     map[string]json.RawMessage
}

// conditionsField is the field of the conditions in a status.
const conditionsField = "conditions"

// MarshalJSON writes the status with the other programs' fields.
func (s NodeClassStatus) MarshalJSON() ([]byte, error) {
	fields := make(map[string]any, len(s.others)+1)
	for name, value := range s.others {
		fields[name] = value
	}
	if len(s.Conditions) > 0 {
		fields[conditionsField] = s.Conditions
	}
	return json.Marshal(fields)
}

// UnmarshalJSON reads a status, and keeps the fields that it does not know.
func (s *NodeClassStatus) UnmarshalJSON(data []byte) error {
	var known struct {
		Conditions []status.Condition `json:"conditions"`
	}
	var others map[string]json.RawMessage
	if err := json.Unmarshal(data, &known); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &others); err != nil {
		return err
	}
	delete(others, conditionsField)
	*s = NodeClassStatus{Conditions: known.Conditions, others: others}
	return nil
}

// GetConditions returns the conditions.
func (c *NodeClass) GetConditions() []status.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *NodeClass) SetConditions(conditions []status.Condition) { c.Status.Conditions = conditions }

// StatusConditions is the set of conditions that Karpenter's core looks at: Ready alone.
func (c *NodeClass) StatusConditions(opts ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(c, opts...)
}

// document is the class in JSON, with its kind, as package launch/azure reads it.
func (c *NodeClass) document() ([]byte, error) {
	copied := *c
	copied.TypeMeta = metav1.TypeMeta{APIVersion: azure.ClassVersion, Kind: azure.ClassKind}
	return json.Marshal(&copied)
}

// DeepCopy returns a class that shares nothing with this one.
func (c *NodeClass) DeepCopy() *NodeClass {
	copied := &NodeClass{TypeMeta: c.TypeMeta, Status: NodeClassStatus{Conditions: slices.Clone(c.Status.Conditions)}}
	c.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	c.Spec.DeepCopyInto(&copied.Spec)
	copied.Status.others = maps.Clone(c.Status.others) // the values are never modified
	return copied
}

// DeepCopyObject is DeepCopy for runtime.Object.
func (c *NodeClass) DeepCopyObject() runtime.Object { return c.DeepCopy() }

// DeepCopyObject returns a list that shares nothing with this one.
func (l *NodeClassList) DeepCopyObject() runtime.Object {
	copied := &NodeClassList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].DeepCopy())
	}
	return copied
}
