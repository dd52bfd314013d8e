package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// refreshOf reads the provider's inputs from a stream of objects, repeatedly. Version is the cluster's version, which replaces the
// objects'. settings is a ConfigMap in the namespace default whose settings win over theirs. Both may be empty.
func refreshOf(objects, version, settings string) *karpenter.Refresh {
	return &karpenter.Refresh{
		ConfigMap: types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: settings},
		Settings: func(context.Context) ([]azure.SettingsSource, error) {
			part, err := objectOf(objects, "ConfigMap")
			if err != nil || part == nil {
				return nil, err
			}
			return []azure.SettingsSource{{Name: objects, Document: part}}, nil
		},
		Detect: func(context.Context) (*azure.Detected, error) {
			found, err := readObject(objects, azure.DetectedKind, azure.ReadDetected)
			if found != nil && version != "" {
				found.KubernetesVersion.Value = version
			}
			return found, err
		},
		Images: func(context.Context) (*azure.Images, error) {
			return readObject(objects, azure.ImagesKind, azure.ReadImages)
		},
	}
}

// objectOf returns the object of a kind. If a case has added another one, the last counts. It returns nil if there is no such
// object.
func objectOf(objects, kind string) ([]byte, error) {
	data, err := os.ReadFile(objects)
	if err != nil {
		return nil, err
	}
	var last []byte
	for _, part := range document.Stream(data) {
		var object struct{ Kind string }
		if err := yaml.Unmarshal(part, &object); err != nil {
			return nil, fmt.Errorf("%s: %w", objects, err)
		}
		if object.Kind == kind {
			last = part
		}
	}
	return last, nil
}

// readObject reads the object of a kind, or returns nil.
func readObject[T any](objects, kind string, read func([]byte) (*T, []nodeconfig.Problem)) (*T, error) {
	part, err := objectOf(objects, kind)
	if err != nil || part == nil {
		return nil, err
	}
	found, problems := read(part)
	var wrong []error
	for _, p := range nodeconfig.Fatal(problems) {
		wrong = append(wrong, fmt.Errorf("%s: %s: %s", objects, p.Path, p.Reason))
	}
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	return found, nil
}

// readTypes reads the instance types.
func readTypes(in *karpenter.Inputs, path string) error {
	list, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if in.Types, err = azure.ReadInstanceTypes(list, in.Settings.Location); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readManifest uses one manifest for all images. Without a file, the manifests stay unknown.
func readManifest(in *karpenter.Inputs, path string) error {
	if path == "" || in.Images == nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	manifest, err := components.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	in.Manifests = make(map[string]*components.Manifest)
	for _, image := range in.Images.Images {
		in.Manifests[image.ID] = &manifest
	}
	return nil
}
