package karpenter_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/singleton"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
)

// settingsMap is a ConfigMap with the example's settings, and more laid over them.
func settingsMap(t testing.TB, over map[string]string) *corev1.ConfigMap {
	t.Helper()
	data := make(map[string]any)
	if err := yaml.Unmarshal(read(t, "settings.yaml"), &data); err != nil {
		t.Fatal(err)
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "settings", UID: "settings"}, Data: make(map[string]string)}
	for name, value := range data {
		text, err := yaml.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		m.Data[name] = strings.Trim(strings.TrimSpace(string(text)), `"'`)
	}
	for name, value := range over {
		m.Data[name] = value
	}
	return m
}

// world is a fake of a refresh's sources.
type world struct {
	detected *azure.Detected
	images   *azure.Images
	// failed and imagesFailed are the errors of the detection and of the image list.
	failed, imagesFailed error
}

// refreshing returns a provider that refreshes its inputs from a ConfigMap and a world.
func refreshing(t testing.TB, w *world, over map[string]string) *fixture {
	t.Helper()
	in := inputs(t, "")
	w.detected, w.images = in.Detected, in.Images
	f := newFixture(t, func(f *fixture) {
		f.options.Refresh = &karpenter.Refresh{
			ConfigMap: types.NamespacedName{Namespace: "kube-system", Name: "settings"},
			Detect:    func(context.Context) (*azure.Detected, error) { return w.detected, w.failed },
			Images:    func(context.Context) (*azure.Images, error) { return w.images, w.imagesFailed },
		}
	}, settingsMap(t, over))
	first, err := f.options.Refresh.Read(f.ctx, f.client)
	if err != nil {
		t.Fatal(err)
	}
	first.Types = in.Types
	f.options.Inputs = first
	f.restart()
	return f
}

// refresh has the provider refresh its inputs and reconcile the class. It returns the class's condition, in short.
func (f *fixture) refresh() string {
	f.t.Helper()
	controllers := f.provider.Controllers()
	result, err := controllers[len(controllers)-1].(singleton.Reconciler).Reconcile(f.ctx)
	if err != nil || result.RequeueAfter != 5*time.Minute {
		f.t.Errorf("it asks again in %s: %v", result.RequeueAfter, err)
	}
	c := f.judge().StatusConditions().Get(karpenter.ConditionTypeInputs)
	if c == nil {
		f.t.Fatal("the class does not have the condition")
	}
	return c.Reason + ": " + c.Message
}

// set changes the ConfigMap.
func (f *fixture) set(data map[string]string) {
	f.t.Helper()
	m := new(corev1.ConfigMap)
	if err := f.client.Get(f.ctx, client.ObjectKey{Namespace: "kube-system", Name: "settings"}, m); err != nil {
		f.t.Fatal(err)
	}
	for name, value := range data {
		m.Data[name] = value
	}
	if err := f.client.Update(f.ctx, m); err != nil {
		f.t.Fatal(err)
	}
}

// launched launches a claim, and returns its template.
func (f *fixture) launched(name string) *launch.Launch {
	f.t.Helper()
	if _, err := f.provider.Create(f.ctx, claimOf(f.t, name, "")); err != nil {
		f.t.Fatal(err)
	}
	return f.cloud.started[len(f.cloud.started)-1].Launch
}

// TestSettingsAreRefreshed: the next launch uses a setting that changes in the ConfigMap, and the class shows the change. The class
// shows all problems of the ConfigMap at once, and the last good settings stay in use until it is good again.
func TestSettingsAreRefreshed(t *testing.T) {
	f := refreshing(t, new(world), nil)
	user := func(name string) string { return f.launched(name).Document().Machine.AdminUser }
	step := func(name, wantUser, wantShown string) {
		t.Helper()
		shown := f.refresh()
		if got := user(name); got != wantUser || !strings.HasPrefix(shown, wantShown) {
			t.Errorf("%s: %q, and the class says %q", name, got, shown)
		}
	}
	step("nothing-has-changed", "azureuser", "InputsApplied: ")
	if len(f.recorder.events) != 0 {
		t.Errorf("%v", f.recorder.events)
	}
	f.set(map[string]string{"linux-admin-username": "operator"})
	step("a-good-change", "operator", "InputsApplied: changed while it runs: linux-admin-username")
	if !f.recorder.said("InputsApplied", "linux-admin-username") {
		t.Error("no event names the change")
	}
	step("nothing-more", "operator", "InputsApplied: changed while it runs: linux-admin-username")

	f.set(map[string]string{"linux-admin-username": "root user", "dns-service-ip": "ten"})
	step("a-bad-change", "operator", "SettingsRefused: what was known before stays in use: ")
	for _, want := range []string{"linux-admin-username", "dns-service-ip"} {
		if !f.recorder.said("SettingsRefused", want) {
			t.Errorf("no event says %s", want)
		}
	}
	f.set(map[string]string{"linux-admin-username": "operator", "dns-service-ip": ""})
	step("mended", "operator", "InputsApplied: ")

	subnet := settingsMap(t, nil).Data["vnet-subnet-id"]
	f.set(map[string]string{"vnet-subnet-id": "", "linux-admin-username": "other"}) // nothing was detected that could replace it
	step("lost", "operator", "SettingsRefused: what was known before stays in use: vnet-subnet-id")
	f.set(map[string]string{"vnet-subnet-id": subnet, "linux-admin-username": "operator"})
	step("found", "operator", "InputsApplied: ")

	f.set(map[string]string{"batch-max-duration": "30s", "team": "blue"}) // the first is a setting of the core, the second of another program
	step("of-others", "operator", "InputsApplied: ")
	if !f.recorder.said("SettingsIgnored", "team") || f.recorder.said("InputsApplied", "batch-max-duration") {
		t.Errorf("%v", f.recorder.events)
	}

	m := settingsMap(t, nil)
	if err := f.client.Delete(f.ctx, m); err != nil {
		t.Fatal(err)
	}
	step("gone", "operator", "SettingsRefused: what was known before stays in use: there is no ConfigMap kube-system/settings")
	if err := f.client.Create(f.ctx, m); err != nil {
		t.Fatal(err)
	}
	step("back", "azureuser", "InputsApplied: changed while it runs: linux-admin-username")
}

// TestTokenIsRefreshed: a new token in the settings is used, and no output shows either token.
func TestTokenIsRefreshed(t *testing.T) {
	f := refreshing(t, new(world), map[string]string{"kubelet-bootstrap-token": "abcdef.0123456789canary"})
	f.secrets = []string{"0123456789canary", "fedcba9876543210"}
	f.set(map[string]string{"kubelet-bootstrap-token": "abcdef.fedcba9876543210"})
	if shown := f.refresh(); shown != "InputsApplied: changed while it runs: kubelet-bootstrap-token" {
		t.Error(shown)
	}
	f.set(map[string]string{"kubelet-bootstrap-token": "fedcba9876543210"})
	if shown := f.refresh(); !strings.HasPrefix(shown, "SettingsRefused: ") || strings.Contains(shown, "fedcba9876543210") {
		t.Error(shown)
	}
}

// TestClusterIsDetectedAgain: a changed fact is used; the same fact with another time changes nothing; a fact that cannot be
// detected now keeps its value while the others are used.
func TestClusterIsDetectedAgain(t *testing.T) {
	w := new(world)
	f := refreshing(t, w, nil)
	fact := func(value string) *azure.Fact {
		return &azure.Fact{Value: value, Source: "GET /version of the API server", Time: "2026-11-25T12:00:00Z"}
	}
	detect := func(change func(*azure.Detected)) {
		again := *w.detected
		change(&again)
		w.detected = &again
	}
	version := func() string { return f.launched("general-abcde").Document().Node.Cluster.KubernetesVersion }
	authority := w.detected.CertificateAuthority

	old := *w.detected.KubernetesVersion
	detect(func(d *azure.Detected) { old.Time = "2026-11-25T11:59:00Z"; d.KubernetesVersion = &old })
	if shown := f.refresh(); shown != "InputsApplied: " {
		t.Error(shown)
	}
	detect(func(d *azure.Detected) { d.KubernetesVersion = fact("1.34.3") })
	if shown := f.refresh(); shown != "InputsApplied: changed while it runs: kubernetesVersion" || version() != "1.34.3" {
		t.Error(shown, version())
	}
	f.cloud.machines = nil
	w.failed = errors.New("certificateAuthority: the server is away")
	detect(func(d *azure.Detected) { d.KubernetesVersion, d.CertificateAuthority = fact("1.34.4"), nil })
	if shown := f.refresh(); !strings.HasPrefix(shown, "DetectionFailed: ") || !strings.Contains(shown, "the server is away") || version() != "1.34.4" {
		t.Error(shown, version())
	}
	f.cloud.machines = nil
	w.detected = nil
	if shown := f.refresh(); !strings.HasPrefix(shown, "DetectionFailed: ") || version() != "1.34.4" {
		t.Error(shown)
	}
	w.failed = nil
	w.detected = &azure.Detected{CertificateAuthority: authority, KubernetesVersion: fact("1.34.4")}
	if shown := f.refresh(); !strings.HasPrefix(shown, "DetectionFailed: ") || !strings.Contains(shown, "apiVersion") {
		t.Error(shown) // a document that a launch would refuse is not used
	}
}

// TestImagesAreListedAgain: new images are used, and a list that cannot be read changes nothing.
func TestImagesAreListedAgain(t *testing.T) {
	w := new(world)
	f := refreshing(t, w, nil)
	image := func() string { return f.launched("general-abcde").Document().Machine.Image.Version }
	before := image()
	w.imagesFailed = errors.New("throttled")
	if shown := f.refresh(); !strings.Contains(shown, "the images: throttled") || image() != before {
		t.Error(shown)
	}
	w.imagesFailed = nil
	w.images, _ = azure.ReadImages(append(read(t, "images.yaml"), "\ntime: \"2026-11-25T12:05:00Z\"\n"...))
	if shown := f.refresh(); shown != "InputsApplied: " {
		t.Error(shown) // only the time of the list differs
	}
	w.images, _ = azure.ReadImages([]byte(strings.ReplaceAll(string(read(t, "images.yaml")), before, "202611.01.0")))
	f.cloud.machines = nil
	if shown := f.refresh(); shown != "InputsApplied: changed while it runs: images" || image() != "202611.01.0" {
		t.Error(shown, image(), before)
	}
}

// TestFirstInputs: a program cannot start without settings. It can start without facts and images: the class reports what is
// missing, and the provider tries again.
func TestFirstInputs(t *testing.T) {
	f := newFixture(t, nil, settingsMap(t, nil))
	at := types.NamespacedName{Namespace: "kube-system", Name: "settings"}
	for name, c := range map[string]struct {
		refresh karpenter.Refresh
		says    string
	}{
		"no source":   {says: "have no settings"},
		"no such map": {refresh: karpenter.Refresh{ConfigMap: types.NamespacedName{Namespace: "kube-system", Name: "other"}}, says: "there is no ConfigMap kube-system/other"},
		"a file that cannot be read": {refresh: karpenter.Refresh{Settings: func(context.Context) ([]azure.SettingsSource, error) {
			return nil, errors.New("no such file")
		}}, says: "no such file"},
		"wrong settings": {refresh: karpenter.Refresh{Settings: func(context.Context) ([]azure.SettingsSource, error) {
			return []azure.SettingsSource{{Name: "environment", Variables: map[string]string{"CLUSTER_NAME": "example"}}}, nil
		}}, says: "cluster-endpoint"},
		"the map goes before the environment": {refresh: karpenter.Refresh{ConfigMap: at, Settings: func(context.Context) ([]azure.SettingsSource, error) {
			return []azure.SettingsSource{{Name: "environment", Variables: map[string]string{"CLUSTER_NAME": "of the environment"}}}, nil
		}}},
		"a cluster that does not answer": {refresh: karpenter.Refresh{
			ConfigMap: at,
			Detect:    func(context.Context) (*azure.Detected, error) { return nil, errors.New("the server is away") },
			Images:    func(context.Context) (*azure.Images, error) { return nil, errors.New("throttled") },
		}},
	} {
		in, err := c.refresh.Read(f.ctx, f.client)
		switch {
		case c.says == "" && (err != nil || in.Settings.Cluster != "example"):
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
	}
}
