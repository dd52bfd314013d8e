package main

import (
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// readInputs reads what the provider knows of its cluster and its cloud.
func readInputs(objects, types, version string) (karpenter.Inputs, error) {
	var in karpenter.Inputs
	data, err := os.ReadFile(objects)
	if err != nil {
		return in, err
	}
	var wrong []error
	add := func(problems []nodeconfig.Problem) {
		for _, p := range nodeconfig.Fatal(problems) {
			wrong = append(wrong, fmt.Errorf("%s: %s: %s", objects, p.Path, p.Reason))
		}
	}
	for _, part := range document.Stream(data) {
		var object struct{ Kind string }
		if err := yaml.Unmarshal(part, &object); err != nil {
			return in, fmt.Errorf("%s: %w", objects, err)
		}
		var problems []nodeconfig.Problem
		switch object.Kind {
		case "ConfigMap":
			in.Settings, problems = azure.Reload(nil, azure.SettingsSource{Name: objects, Document: part})
		case azure.DetectedKind:
			in.Detected, problems = azure.ReadDetected(part)
		case azure.ImagesKind:
			in.Images, problems = azure.ReadImages(part)
		}
		add(problems)
	}
	if version != "" && in.Detected != nil {
		in.Detected.KubernetesVersion.Value = version
	}
	if in.Settings == nil {
		return in, errors.Join(append(wrong, fmt.Errorf("%s has no settings", objects))...)
	}
	list, err := os.ReadFile(types)
	if err != nil {
		return in, err
	}
	if in.Types, err = azure.ReadInstanceTypes(list, in.Settings.Location); err != nil {
		wrong = append(wrong, fmt.Errorf("%s: %w", types, err))
	}
	return in, errors.Join(wrong...)
}

// readManifest says of all images that they have what a manifest says; of none where there is no file.
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
