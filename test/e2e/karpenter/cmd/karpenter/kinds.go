package main

import (
	"context"
	"slices"
	"time"

	"github.com/awslabs/operatorpkg/object"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/apis"

	"github.com/slipway-dev/slipway/adapters/karpenter"
)

// define creates Karpenter's kinds and the class in the cluster, and waits until the cluster knows
// them.
func define(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	cluster, err := client.New(ctrl.GetConfigOrDie(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	class := object.Unmarshal[apiextensionsv1.CustomResourceDefinition](karpenter.ClassDefinition)
	for _, definition := range append(slices.Clip(apis.CRDs), class) {
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
