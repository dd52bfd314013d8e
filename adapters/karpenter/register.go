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

// ClassDefinition is the CRD of the class, in YAML, for a cluster without Karpenter's provider for Azure.
//
//go:embed aksnodeclass.yaml
var ClassDefinition []byte

// Register adds the class to a scheme, and the labels of Azure's nodes to Karpenter's scheduler, so that pods and pools may ask for
// them. A program calls it once, with client-go's scheme, before it makes an operator. A provider that registers its own
// AKSNodeClass does not call it.
func Register(s *runtime.Scheme) {
	s.AddKnownTypeWithName(groupVersion.WithKind(azure.ClassKind), &NodeClass{})
	s.AddKnownTypeWithName(groupVersion.WithKind(azure.ClassKind+"List"), &NodeClassList{})
	metav1.AddToGroupVersion(s, groupVersion)
	ofOfferings := azure.Offering{}.Labels(new(launch.InstanceType)) // a pool may set these labels, although no rule of launch does
	for _, label := range slices.AppendSeq(new(azure.Input).Labels(), maps.Keys(ofOfferings)) {
		if v1.IsRestrictedLabel(label) == nil { // Karpenter registers its own domain's labels
			v1.WellKnownLabels.Insert(label)
		}
	}
}
