package karpenter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/launch/bootstraptoken"
	"github.com/slipway-dev/slipway/launch/report"
)

// exampleImage is the image of the example's claim.
const exampleImage = "/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images/2404gen2containerd/versions/202609.10.0"

// withManifest gives the example's image a manifest.
func withManifest(m *components.Manifest) func(*fixture) {
	return func(f *fixture) { f.options.Inputs.Manifests = map[string]*components.Manifest{exampleImage: m} }
}

// forbidden is the API server's answer to a caller that lacks a right.
func forbidden(what string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, what, errors.New("the controller may not"))
}

// refuseTokens has the cluster refuse to make tokens. Its answer repeats the token, as that of a webhook may.
func refuseTokens(f *fixture) {
	f.funcs.Create = func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		if secret, ok := o.(*corev1.Secret); ok {
			f.secrets = append(f.secrets, string(secret.Data["token-secret"]))
			return forbidden(secret.Name + " with " + string(secret.Data["token-secret"]))
		}
		return c.Create(ctx, o, opts...)
	}
}

// hideTokens has the cluster refuse to list tokens.
func hideTokens(f *fixture) {
	f.funcs.List = func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if _, ok := list.(*corev1.SecretList); ok {
			return forbidden("")
		}
		return c.List(ctx, list, opts...)
	}
}

// given sets a token in the settings.
func given(f *fixture) {
	f.options.Inputs = inputs(f.t, "kubelet-bootstrap-token: abcdef.0123456789canary")
	f.secrets = append(f.secrets, "0123456789canary")
}

// tokenSecret is the secret of that token.
func tokenSecret(expiration string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}, Type: corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			"token-id": []byte("abcdef"), "token-secret": []byte("0123456789canary"), "usage-bootstrap-authentication": []byte("true"),
			"expiration": []byte(expiration),
		},
	}
}

// unready is the class with another condition Ready.
func unready(t testing.TB, s metav1.ConditionStatus, generation int64) *karpenter.NodeClass {
	c := classOf(t, "")
	c.Status.Conditions = []status.Condition{{Type: status.ConditionReady, Status: s, Reason: "ImagesNotFound", Message: "the region has no images", ObservedGeneration: generation}}
	return c
}

// launches are the cases of a launch, by Karpenter's own controller.
var launches = map[string]struct {
	set     func(*fixture)
	objects func(testing.TB) []client.Object
	claim   string
	// reason is the reason of the condition Launched: "True" if the claim is launched, "deleted" if the core has deleted it.
	reason string
	// says is a part of the condition's message. If the claim is gone, it is a part of an error or an event.
	says string
}{
	"an example":              {reason: "True"},
	"an image that can do it": {set: func(f *fixture) { withManifest(manifest(f.t))(f) }, reason: "True"},
	"an image without the kubelet": {
		set: func(f *fixture) { withManifest(manifest(f.t, "kubelet 1.34.2"))(f) }, reason: string(report.ImageIncomplete), says: "kubelet",
	},
	"the same, unchecked": {
		set: func(f *fixture) { withManifest(manifest(f.t, "kubelet 1.34.2"))(f); f.options.SkipCheck = true }, reason: "True",
	},
	"an instance type of which nothing is known": {
		claim: "spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_X1]}]}", reason: karpenter.InstanceTypeUnknown, says: "Standard_X1",
	},
	"more than any instance type has": {
		claim: "spec: {resources: {requests: {cpu: 900}}}", reason: "deleted", says: "no offering that is available fulfils the claim's requirements",
	},
	"a label that the node would not have": {
		claim: "metadata: {labels: {kubernetes.io/arch: sparc}}", reason: karpenter.LaunchRefused, says: "metadata.labels",
	},
	"requirements that contradict each other": {
		claim: "spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}, {key: kubernetes.io/arch, operator: NotIn, values: [amd64]}, " +
			"{key: topology.kubernetes.io/zone, operator: In, values: [eastus-1]}, {key: topology.kubernetes.io/zone, operator: In, values: [eastus-2]}]}",
		reason: karpenter.RequirementsContradict, says: "kubernetes.io/arch, topology.kubernetes.io/zone",
	},
	"a label that the node is to have and not to have": {
		claim:  "spec: {requirements: [{key: karpenter.azure.com/sku-cpu, operator: DoesNotExist}, {key: karpenter.azure.com/sku-cpu, operator: Exists}]}",
		reason: karpenter.RequirementsContradict, says: "karpenter.azure.com/sku-cpu",
	},
	"a number that is more and less": {
		claim:  "spec: {requirements: [{key: karpenter.azure.com/sku-cpu, operator: Gt, values: [\"8\"]}, {key: karpenter.azure.com/sku-cpu, operator: Lt, values: [\"5\"]}]}",
		reason: karpenter.RequirementsContradict, says: "karpenter.azure.com/sku-cpu",
	},
	"a label that the node is not to have": {
		claim: "spec: {requirements: [{key: example.com/w, operator: DoesNotExist}, {key: example.com/x, operator: NotIn, values: [y]}]}", reason: "True",
	},
	"a pool that is gone": {
		objects: func(t testing.TB) []client.Object {
			p := object[v1.NodePool](t, "nodepool.yaml", "")
			p.Name, p.UID = "other", "other"
			return []client.Object{p}
		},
		reason: "True",
	},
	"several problems at once": {
		set:    func(f *fixture) { f.options.Inputs.Detected.CertificateAuthority = nil },
		claim:  "metadata: {labels: {kubernetes.io/arch: sparc}}",
		reason: karpenter.LaunchRefused, says: "certificateAuthority",
	},
	"more labels than user data has room for": {claim: manyLabels(), reason: karpenter.UserDataImpossible, says: "bytes"},
	"no capacity": {
		set: func(f *fixture) {
			f.cloud.startErr = func(karpenter.Launch) error {
				return fmt.Errorf("start: %w", &karpenter.LaunchError{Class: karpenter.NoCapacity})
			}
		},
		reason: "deleted", says: "NoCapacity",
	},
	"a machine that does not start": {
		set: func(f *fixture) {
			f.cloud.startErr = func(l karpenter.Launch) error {
				f.secrets = append(f.secrets, l.UserData.Reveal())
				return errors.New("bad request: " + l.UserData.Reveal())
			}
		},
		reason: karpenter.MachineNotStarted, says: "the answer repeats a secret",
	},
	"a machine that was started from something else": {
		set:    func(f *fixture) { f.cloud.add("general-abcde", "k1-0", 0) },
		reason: karpenter.MachineDiffers, says: "is stopped",
	},
	"the same, and it cannot be stopped": {
		set:    func(f *fixture) { f.cloud.add("general-abcde", "k1-0", 0); f.cloud.stopErr = errors.New("throttled") },
		reason: karpenter.MachineDiffers, says: "cannot be stopped: throttled",
	},
	"no class": {
		objects: func(t testing.TB) []client.Object { c := classOf(t, ""); c.Name = "other"; return []client.Object{c} },
		reason:  "deleted", says: "there is no AKSNodeClass default",
	},
	"a class that is not ready": {
		objects: func(t testing.TB) []client.Object { return []client.Object{unready(t, "False", 3)} }, reason: "deleted", says: "the region has no images",
	},
	"a class without a condition Ready": {
		objects: func(t testing.TB) []client.Object { return []client.Object{unready(t, "Unknown", 3)} },
		reason:  karpenter.NodeClassReadinessUnknown, says: "generation 3",
	},
	"a class that has changed since it was ready": {
		objects: func(t testing.TB) []client.Object { return []client.Object{unready(t, "True", 2)} },
		reason:  karpenter.NodeClassReadinessUnknown, says: "generation 3",
	},
	"a class with a field that is not known": {
		objects: func(t testing.TB) []client.Object { return []client.Object{classOf(t, "fipsmode: FIPS")} }, reason: "deleted", says: "$.spec.fipsmode",
	},
	"tokens that cannot be listed":  {set: hideTokens, reason: string(bootstraptoken.Unavailable), says: "the controller may not"},
	"tokens that cannot be created": {set: refuseTokens, reason: string(bootstraptoken.NotCreated), says: "the answer repeats a secret"},
	"no token needed": {
		set: func(f *fixture) { hideTokens(f); f.options.Inputs = inputs(f.t, "join-method: Attested") }, reason: "True",
	},
	"the settings' token": {
		set: func(f *fixture) { given(f); refuseTokens(f) }, objects: tokenUntil("2026-11-25T12:20:00Z"), reason: "True",
	},
	"the settings' token, expired":  {set: given, objects: tokenUntil("2026-11-25T11:59:59Z"), reason: string(bootstraptoken.Expired), says: "2026-11-25T11:59:59Z"},
	"the settings' token, expiring": {set: given, objects: tokenUntil("2026-11-25T12:19:59Z"), reason: string(bootstraptoken.Expiring), says: "2026-11-25T12:19:59Z"},
	"the settings' token, damaged":  {set: given, objects: tokenUntil("tomorrow"), reason: string(bootstraptoken.Expired), says: "1970"},
	"the settings' token, gone":     {set: given, reason: string(bootstraptoken.Expired), says: "the cluster does not have it"},
	"the settings' token, hidden":   {set: func(f *fixture) { given(f); hideTokens(f) }, reason: string(bootstraptoken.Unavailable), says: "the controller may not"},
}

// tokenUntil has the token of the settings in the cluster.
func tokenUntil(expiration string) func(testing.TB) []client.Object {
	return func(testing.TB) []client.Object { return []client.Object{tokenSecret(expiration)} }
}

// manyLabels are too many for Azure's limit of user data.
func manyLabels() string {
	var b strings.Builder
	b.WriteString("metadata: {labels: {")
	for i := range 2000 {
		fmt.Fprintf(&b, "example.com/label-%d: %s, ", i, strings.Repeat("x", 60))
	}
	return b.String() + "}}"
}

func TestLaunch(t *testing.T) {
	for name, c := range launches {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{claimOf(t, "general-abcde", c.claim)}
			if c.objects != nil {
				objects = append(objects, c.objects(t)...)
			}
			f := newFixture(t, c.set, objects...)
			claim := f.lifecycle("general-abcde")
			launched := len(f.cloud.started) == 1
			if claim == nil {
				if c.reason != "deleted" || launched || !strings.Contains(f.logged.String(), c.says) {
					t.Errorf("the claim is gone: %s", f.logged.String())
				}
				return
			}
			condition := claim.StatusConditions().Get(v1.ConditionTypeLaunched)
			got := condition.Reason
			if condition.IsTrue() {
				got = "True"
			}
			if got != c.reason || launched != (c.reason == "True") || !strings.Contains(condition.Message, c.says) {
				t.Errorf("%s: %s; started %t; %v", got, condition.Message, launched, f.errors)
			}
		})
	}
}

// TestLaunched: the claim has all that the scheduler and the next comparison need, and the machine has the taint.
func TestLaunched(t *testing.T) {
	f := newFixture(t, nil, claimOf(t, "general-abcde", ""))
	claim := f.lifecycle("general-abcde")
	template := f.cloud.started[0].Launch
	for label, want := range map[string]string{
		corev1.LabelInstanceTypeStable: "Standard_D4ds_v5", corev1.LabelTopologyZone: "eastus-2", corev1.LabelTopologyRegion: "eastus",
		v1.CapacityTypeLabelKey: "on-demand", corev1.LabelArchStable: "amd64", "karpenter.azure.com/sku-cpu": "4", "team": "blue",
	} {
		if claim.Labels[label] != want {
			t.Errorf("the label %s is %q, want %q", label, claim.Labels[label], want)
		}
	}
	if claim.Status.ProviderID != "test://general-abcde" || claim.Status.ImageID != exampleImage {
		t.Errorf("%+v", claim.Status)
	}
	for name, want := range template.Document().Machine.Allocatable {
		if got := claim.Status.Allocatable[corev1.ResourceName(name)]; got.AsDec().Cmp(must(t, want).AsDec()) != 0 {
			t.Errorf("%s of the claim is %s, want %s", name, got.String(), want)
		}
	}
	if claim.Annotations[karpenter.AnnotationKey] != template.Key() || claim.Annotations[karpenter.AnnotationRecord] != template.Record().Text() {
		t.Errorf("%v", claim.Annotations)
	}
	if n := len(claim.Annotations[karpenter.AnnotationRecord]); n > 8<<10 {
		t.Errorf("the record has %d bytes", n)
	}
	taints := fmt.Sprint(template.Document().Node.Kubelet.Taints)
	if strings.Count(taints, v1.UnregisteredTaintKey) != 1 {
		t.Errorf("the taints are %s", taints)
	}
	data := userDataOf(t, f.cloud.started[0])
	for _, token := range f.tokens() {
		if want := string(token.Data["token-id"]) + "." + string(token.Data["token-secret"]); !strings.Contains(data, want) {
			t.Error("the user data does not have the token")
		}
	}
	// Nothing has changed, so a restart of the same program changes nothing, and the key is the same to the last bit.
	f.restart()
	if reason := f.drifted("general-abcde"); reason != "" || f.claim("general-abcde").Annotations[karpenter.AnnotationKey] != template.Key() {
		t.Errorf("it has drifted at once: %s", reason)
	}
}

// TestExhausted: an offering that the cloud has no room for is not offered for a while, and the claim gets another one.
func TestExhausted(t *testing.T) {
	f := newFixture(t, func(f *fixture) {
		f.cloud.startErr = func(l karpenter.Launch) error {
			if m := &l.Launch.Document().Machine; m.Type.Name == "Standard_D4ds_v5" && m.Zone == "eastus-2" {
				return &karpenter.LaunchError{Class: karpenter.NoCapacity}
			}
			return nil
		}
	})
	pool := object[v1.NodePool](t, "nodepool.yaml", "")
	available := func() bool {
		types, err := f.provider.GetInstanceTypes(f.ctx, pool)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range types {
			for _, o := range it.Offerings {
				if it.Name == "Standard_D4ds_v5" && o.Zone() == "eastus-2" && o.CapacityType() == "on-demand" {
					return o.Available
				}
			}
		}
		t.Fatal("there is no such offering")
		return false
	}
	claim := claimOf(t, "general-abcde", "spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: kubernetes.io/arch, operator: In, values: [amd64]}, {key: topology.kubernetes.io/zone, operator: In, values: [eastus-2, eastus-3]}, {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4ds_v5]}]}")
	before := available()
	_, err := f.provider.Create(f.ctx, claim)
	during := available()
	created, again := f.provider.Create(f.ctx, claim)
	f.clock.Step(3*time.Minute - time.Second)
	late := available()
	f.clock.Step(time.Second)
	if !before || during || late || !available() {
		t.Errorf("available: %t, %t, %t, %t", before, during, late, available())
	}
	if err == nil || again != nil || created.Labels[corev1.LabelTopologyZone] != "eastus-3" {
		t.Errorf("%v, %v, %v", err, again, created)
	}
}

// TestOptions: New reports all problems of the options at once.
func TestOptions(t *testing.T) {
	_, err := karpenter.New(karpenter.Options{Tokens: bootstraptoken.Policy{Lifetime: time.Minute}})
	for _, want := range []string{"Client", "Reader", "Machines", "Recorder", "Inputs.Settings", "no token could be used"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in %v", want, err)
		}
	}
	f := newFixture(t, nil)
	if f.provider.SetInputs(karpenter.Inputs{}) == nil {
		t.Error("inputs without settings are taken")
	}
}
