package karpenter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// ConditionTypeInputs is a class's condition. It is true if the provider uses the present values of its sources. A class can be
// ready while it is false: the provider then uses the former values.
const ConditionTypeInputs = "InputsCurrent"

// The reasons of the condition.
const (
	// InputsApplied: the provider uses the present values. The message names the last change.
	InputsApplied = "InputsApplied"
	// SettingsRefused: the settings cannot be read, or have a problem. The former ones stay in use.
	SettingsRefused = "SettingsRefused"
	// DetectionFailed: facts of the cluster, or the images, could not be detected. The former ones stay in use.
	DetectionFailed = "DetectionFailed"
)

// DefaultRefreshEvery is the interval of a [Refresh].
const DefaultRefreshEvery = 5 * time.Minute

// Refresh has the sources of a program's inputs, so that a provider can read them again while it runs. The next launch and the next
// comparison use a changed value. A value with a problem changes nothing: the last good inputs stay in use.
type Refresh struct {
	// ConfigMap names the ConfigMap with settings, as azure.Reload reads them. It is watched. Empty means none.
	ConfigMap types.NamespacedName
	// Settings reads the other settings, such as the environment. Those of the ConfigMap win. If nil, only those count.
	Settings func(context.Context) ([]azure.SettingsSource, error)
	// Detect detects facts of the cluster, as package adapters/azure/detect does. If nil, the inputs keep theirs. If it returns an
	// error, the facts that it returns count, and the others keep their former values.
	Detect func(context.Context) (*azure.Detected, error)
	// Images lists the images of the region. If nil, or after an error, the inputs keep theirs.
	Images func(context.Context) (*azure.Images, error)
	// Every is the interval. 0 means [DefaultRefreshEvery].
	Every time.Duration
}

// Read reads the first inputs, before there is a provider. The error says why there are no settings. A fact that could not be
// detected is unknown; the provider tries again, and the classes' conditions say what is missing.
func (r *Refresh) Read(ctx context.Context, reader client.Reader) (Inputs, error) {
	found := r.again(ctx, reader, Inputs{})
	if found.inputs.Settings != nil {
		return found.inputs, nil
	}
	if found.refused != nil {
		return Inputs{}, found.refused
	}
	return Inputs{}, errors.New("the inputs have no settings: name a ConfigMap, or where else they are from")
}

// refreshed is the result of reading the sources again.
type refreshed struct {
	inputs Inputs
	// changed names the inputs with another value.
	changed []string
	// configMap is the ConfigMap that was read. If nil, none was.
	configMap *corev1.ConfigMap
	// refused and failed are the reasons why inputs keep their former values.
	refused, failed error
	// ignored are settings that have no effect.
	ignored []nodeconfig.Problem
}

// condition converts the result to the classes' condition.
func (f *refreshed) condition() status.Condition {
	c := status.Condition{Type: ConditionTypeInputs, Status: "False", Reason: DetectionFailed}
	if f.refused != nil {
		c.Reason = SettingsRefused
	}
	if err := errors.Join(f.refused, f.failed); err != nil {
		c.Message = short("what was known before stays in use: " + strings.ReplaceAll(err.Error(), "\n", "; "))
		return c
	}
	c.Status, c.Reason = "True", InputsApplied
	if len(f.changed) > 0 {
		c.Message = short("changed while it runs: " + strings.Join(f.changed, ", "))
	}
	return c
}

// again reads all sources.
func (r *Refresh) again(ctx context.Context, reader client.Reader, old Inputs) refreshed {
	found := refreshed{inputs: old}
	found.settings(ctx, r, reader)
	if r.Detect != nil {
		found.detected(r.Detect(ctx))
	}
	if r.Images == nil {
		return found
	}
	images, err := r.Images(ctx)
	switch {
	case err != nil:
		found.failed = errors.Join(found.failed, fmt.Errorf("the images: %w", err))
	case images != nil && !sameImages(images, old.Images):
		found.inputs.Images, found.changed = images, append(found.changed, "images")
	}
	return found
}

// sameImages compares all of two lists except their times of creation.
func sameImages(a, b *azure.Images) bool {
	if a == nil || b == nil {
		return a == b
	}
	said := func(i azure.Images) []byte {
		i.Time = ""
		data, _ := json.Marshal(i) // it has only strings and times, so it cannot fail
		return data
	}
	return bytes.Equal(said(*a), said(*b))
}

// settings reads the settings of all sources. It takes all of them or none.
func (f *refreshed) settings(ctx context.Context, r *Refresh, reader client.Reader) {
	var sources []azure.SettingsSource
	var err error
	if r.Settings != nil {
		if sources, err = r.Settings(ctx); err != nil {
			f.refused = fmt.Errorf("the settings: %w", err)
			return
		}
	}
	if r.ConfigMap.Name != "" {
		object := new(corev1.ConfigMap)
		switch err := reader.Get(ctx, r.ConfigMap, object); {
		case apierrors.IsNotFound(err):
			f.refused = fmt.Errorf("there is no ConfigMap %s", r.ConfigMap)
			return
		case err != nil:
			f.refused = fmt.Errorf("the ConfigMap %s: %w", r.ConfigMap, err)
			return
		}
		document, err := json.Marshal(map[string]any{"kind": "ConfigMap", "data": object.Data})
		if err != nil {
			f.refused = err // it has only strings
			return
		}
		f.configMap = object
		sources = append(sources, azure.SettingsSource{Name: "ConfigMap " + r.ConfigMap.String(), Document: document})
	}
	if len(sources) == 0 {
		return
	}
	old := f.inputs.Settings
	settings, problems := azure.Reload(old, sources...)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		f.refused = problemsError(fatal)
		return
	}
	f.ignored = problems
	if f.refused = f.lost(settings); f.refused != nil {
		return
	}
	if changed := changedSettings(old, settings); old == nil || len(changed) > 0 {
		f.inputs.Settings, f.changed = settings, append(f.changed, changed...)
	}
}

// lost is the error of settings that no longer contain a setting which launches have used and which was not detected. At the
// program's start that is no error: each class may have its own.
func (f *refreshed) lost(now *azure.Settings) error {
	before := f.inputs.Settings
	if before == nil {
		return nil
	}
	var wrong []error
	never := before.Missing(nil)
	for _, name := range now.Missing(f.inputs.Detected) {
		if !slices.Contains(never, name) {
			wrong = append(wrong, fmt.Errorf("%s is missing, and was not detected", name))
		}
	}
	return errors.Join(wrong...)
}

// changedSettings names the settings that have another value and affect a node. It does not return the values: one of them is a
// token.
func changedSettings(old, now *azure.Settings) []string {
	if old == nil {
		return nil
	}
	var changed []string
	before := old.Options()
	for i, o := range now.Options() {
		if o.Effect == "" && o.Value != before[i].Value {
			changed = append(changed, o.Name)
		}
	}
	if token := "kubelet-bootstrap-token"; old.BootstrapToken.Reveal() != now.BootstrapToken.Reveal() && !slices.Contains(changed, token) {
		changed = append(changed, token) // both are shown as a secret
	}
	return changed
}

// detected takes the facts that were found. If detection was incomplete, a fact that was found before, and not now, keeps its
// value.
func (f *refreshed) detected(now *azure.Detected, err error) {
	if err != nil {
		f.failed = fmt.Errorf("the cluster: %w", err)
	}
	if now == nil {
		return
	}
	taken, old := *now, cmp.Or(f.inputs.Detected, new(azure.Detected))
	before := make(map[string]*azure.Fact)
	for name, at := range old.Facts() {
		before[name] = *at
	}
	var changed []string
	for name, at := range taken.Facts() {
		if *at == nil && err != nil {
			*at = before[name]
		}
		if !sameFact(before[name], *at) {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 && f.inputs.Detected != nil {
		return // only its time differs
	}
	document, marshalErr := json.Marshal(&taken)
	if marshalErr != nil {
		f.failed = errors.Join(f.failed, marshalErr)
		return
	}
	if _, problems := azure.ReadDetected(document); len(nodeconfig.Fatal(problems)) > 0 {
		f.failed = errors.Join(f.failed, fmt.Errorf("the cluster: %w", problemsError(nodeconfig.Fatal(problems))))
		return
	}
	f.inputs.Detected = &taken
	f.changed = append(f.changed, changed...)
}

// sameFact compares two facts by their values.
func sameFact(a, b *azure.Fact) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Value == b.Value && slices.Equal(a.Values, b.Values)
}
