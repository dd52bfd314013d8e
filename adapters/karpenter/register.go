package karpenter

import (
	_ "embed"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
)

// groupVersion is that of the classes.
var groupVersion = func() schema.GroupVersion {
	gv, err := schema.ParseGroupVersion(azure.ClassVersion)
	if err != nil {
		panic(err)
	}
	return gv
}()

// ClassDefinition is the definition of the class, in YAML, for a cluster that does not have it from Karpenter's provider for Azure.
//
//go:embed aksnodeclass.yaml
var ClassDefinition []byte

// Register makes the class known to a scheme, and the labels of Azure's nodes to Karpenter's scheduler: pods and pools may then
// ask for them. A program calls it once, with client-go's scheme, before it makes an operator. A provider that has an
// AKSNodeClass of its own does not call it.
func Register(s *runtime.Scheme) {
	s.AddKnownTypeWithName(groupVersion.WithKind(azure.ClassKind), &NodeClass{})
	s.AddKnownTypeWithName(groupVersion.WithKind(azure.ClassKind+"List"), &NodeClassList{})
	metav1.AddToGroupVersion(s, groupVersion)
	ofOfferings := azure.Offering{}.Labels(new(launch.InstanceType)) // a pool may set one of them, and no rule of launch does
	for _, label := range slices.AppendSeq(new(azure.Input).Labels(), maps.Keys(ofOfferings)) {
		if v1.IsRestrictedLabel(label) == nil { // those of Karpenter's own domain are Karpenter's to register
			v1.WellKnownLabels.Insert(label)
		}
	}
}
