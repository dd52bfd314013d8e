package karpenter_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch/azure"
)

// TestControllers: each controller has a unique name, and the manager knows the kinds of its objects.
func TestControllers(t *testing.T) {
	f := newFixture(t, func(f *fixture) {
		f.options.Refresh = &karpenter.Refresh{ConfigMap: types.NamespacedName{Namespace: "kube-system", Name: "settings"}}
	})
	m, err := controllerruntime.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, controllerruntime.Options{
		Scheme: scheme.Scheme, Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	controllers := f.provider.Controllers()
	if len(controllers) != 4 {
		t.Errorf("%d controllers", len(controllers))
	}
	for _, c := range controllers {
		if err := c.Register(t.Context(), m); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
}

// TestRegister: the class has its kind, and the scheduler knows the labels of Azure's nodes, except those of Karpenter's own
// domain.
func TestRegister(t *testing.T) {
	gvk, err := apiutil.GVKForObject(&karpenter.NodeClass{}, scheme.Scheme)
	if err != nil || gvk.GroupVersion().String() != azure.ClassVersion || gvk.Kind != azure.ClassKind {
		t.Errorf("%v, %v", gvk, err)
	}
	if list, err := apiutil.GVKForObject(&karpenter.NodeClassList{}, scheme.Scheme); err != nil || list.Kind != "AKSNodeClassList" {
		t.Errorf("%v, %v", list, err)
	}
	if !v1.WellKnownLabels.Has("karpenter.azure.com/sku-cpu") || v1.WellKnownLabels.Has(v1.NodeDoNotSyncTaintsLabelKey) {
		t.Error(v1.WellKnownLabels.UnsortedList())
	}
}

// TestCRD: the adapter's CRD defines the kind that Register registers.
func TestCRD(t *testing.T) {
	data, err := os.ReadFile("aksnodeclass.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(data, &crd); err != nil {
		t.Fatal(err)
	}
	version := crd.Spec.Versions[0]
	if crd.Spec.Group+"/"+version.Name != azure.ClassVersion || crd.Spec.Names.Kind != azure.ClassKind || crd.Spec.Scope != apiextensionsv1.ClusterScoped ||
		crd.Name != crd.Spec.Names.Plural+"."+crd.Spec.Group || version.Subresources.Status == nil || !version.Served || !version.Storage {
		t.Errorf("%+v", crd.Spec)
	}
	if keep := version.Schema.OpenAPIV3Schema.Properties["status"].XPreserveUnknownFields; keep == nil || !*keep {
		t.Error("the API server would take fields off the status that others have written")
	}
}
