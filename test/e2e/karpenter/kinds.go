package main

import (
	"context"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/apis"
)

// classDefinition defines AKSNodeClass. Its fields are checked by Slipway.
var classDefinition = &apiextensionsv1.CustomResourceDefinition{
	ObjectMeta: metav1.ObjectMeta{Name: "aksnodeclasses.karpenter.azure.com"},
	Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "karpenter.azure.com", Scope: apiextensionsv1.ClusterScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "AKSNodeClass", ListKind: "AKSNodeClassList", Plural: "aksnodeclasses", Singular: "aksnodeclass"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1beta1", Served: true, Storage: true,
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: new(apiextensionsv1.CustomResourceSubresourceStatus)},
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: new(true),
			}},
		}},
	},
}

// define makes Karpenter's kinds and the class known to the cluster, and waits until they are.
func define(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	cluster, err := client.New(ctrl.GetConfigOrDie(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	for _, definition := range append(apis.CRDs, classDefinition) {
		if err := cluster.Create(ctx, definition.DeepCopy()); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			var known apiextensionsv1.CustomResourceDefinition
			if err := cluster.Get(ctx, client.ObjectKeyFromObject(definition), &known); err != nil {
				return false, err
			}
			for _, c := range known.Status.Conditions {
				if c.Type == apiextensionsv1.Established {
					return c.Status == apiextensionsv1.ConditionTrue, nil
				}
			}
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
