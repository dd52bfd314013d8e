package karpenter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
	agentstatus "github.com/slipway-dev/slipway/status"
)

// isReason matches what the API server accepts as the reason of a claim's condition (Karpenter's CRD).
var isReason = regexp.MustCompile(`^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$`)

// reportOf is the agent's report after it has applied the contract of an update.
func reportOf(t testing.TB, l karpenter.Launch, code int, message string) []byte {
	t.Helper()
	s := agentstatus.Status{Outcome: agentstatus.OutcomeSuccess, ExitCode: code}
	s.Config.Digest = nodeconfig.Digest(node.Read(node.Document{Data: []byte(userDataOf(t, l))}).Config())
	if code != 0 {
		s.Outcome, s.Error = agentstatus.OutcomeFailure, &agentstatus.Failure{Message: message}
	}
	data, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sysctl is a class spec whose change a running node can apply.
const sysctl = "linuxOSConfig: {sysctls: {vmMaxMapCount: 100000}}"

// TestDrift: which differences count, and what Karpenter's own controller does about each.
func TestDrift(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*fixture)
		change func(*fixture)
		want   string // the reason of the condition Drifted
		event  string
		update bool
	}{
		"nothing":                               {change: func(f *fixture) { f.change("{}") }},
		"a sysctl":                              {change: func(f *fixture) { f.change(sysctl) }, update: true},
		"a sysctl less":                         {change: func(f *fixture) { f.change("linuxOSConfig: null") }, update: true},
		"a disk that is too large for the host": {change: func(f *fixture) { f.change("osDiskSizeGB: 1000") }, want: "LaunchTemplateDrifted:machine_disk_ephemeral,machine_disk_placement,machine_disk_sizeGB"},
		"more than a reason names": {change: func(f *fixture) {
			f.change("osDiskSizeGB: 64\nimageFamily: Ubuntu2204\nsecurity: {encryptionAtHost: true}")
		},
			want: "LaunchTemplateDrifted:machine_disk_sizeGB,machine_image_definition,machine_image_distribution,machine_image_family,machine_image_id,machine_image_version,and_1_more"},
		"tags": {change: func(f *fixture) { f.change("tags: {team: red}") }, update: true, event: "ChangedInPlace"},
		"a policy that takes a drain": {change: func(f *fixture) { f.change("kubelet: {cpuManagerPolicy: none}") },
			want: "NotChangedInPlace:node_kubelet_config_containerLogMaxSize,node_kubelet_config_cpuManagerPolicy", event: "NotChangedInPlace"},
		"the size of the disk":    {change: func(f *fixture) { f.change("osDiskSizeGB: 64") }, want: "LaunchTemplateDrifted:machine_disk_sizeGB", event: "LaunchTemplateDrifted"},
		"the family of the image": {change: func(f *fixture) { f.change("imageFamily: Ubuntu2204") }, want: "LaunchTemplateDrifted:machine_image_definition,machine_image_distribution,machine_image_family,machine_image_id,machine_image_version"},
		"a disk and a sysctl":     {change: func(f *fixture) { f.change("osDiskSizeGB: 64\n" + sysctl) }, want: "LaunchTemplateDrifted:machine_disk_sizeGB"},
		"who may log in":          {change: inputsOf("ssh-public-key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOther admin@example")},
		"a newer image": {change: func(f *fixture) {
			in := inputs(f.t, "")
			in.Images.Images = append(in.Images.Images, azure.ImageVersion{ID: strings.Replace(exampleImage, "202609.10.0", "202611.20.0", 1), Published: "2026-11-21T00:00:00Z"})
			in.Images.Remember()
			f.setInputs(in)
		}, want: "LaunchTemplateDrifted:machine_image_id,machine_image_version"},
		"a class that cannot be": {change: func(f *fixture) { f.change("maxPods: 1") }},
		"a node that the image cannot be": {
			change: func(f *fixture) {
				in := inputs(f.t, "")
				in.Manifests = map[string]*components.Manifest{exampleImage: manifest(f.t, "kubelet 1.34.2")}
				f.setInputs(in)
				f.change("osDiskSizeGB: 64")
			},
			event: "ReplacementImpossible",
		},
		"a cluster without what is needed": {
			change: func(f *fixture) { in := inputs(f.t, ""); in.Detected.CertificateAuthority = nil; f.setInputs(in) }, event: "ReplacementImpossible",
		},
		"an instance type of which nothing is known any more": {
			change: func(f *fixture) {
				in := inputs(f.t, "")
				in.Types = in.Types[1:]
				f.setInputs(in)
				f.change("osDiskSizeGB: 64")
			},
		},
		"a class that is gone": {change: func(f *fixture) {
			c := new(karpenter.NodeClass)
			if err := errors.Join(f.client.Get(f.ctx, client.ObjectKey{Name: "default"}, c), f.client.Delete(f.ctx, c)); err != nil {
				f.t.Fatal(err)
			}
		}},
		"a record that is damaged":    {change: recordTo(func(r string) string { return r[:len(r)-3] + "AAA" }), event: "DriftUnknown"},
		"a record that is cut":        {change: recordTo(func(r string) string { return r[:len(r)/2] }), event: "DriftUnknown"},
		"no record":                   {change: recordTo(func(string) string { return "" }), event: "DriftUnknown"},
		"a record of another version": {change: recordTo(func(r string) string { return "r2-" + r }), event: "DriftUnknown"},
		"a key of another version":    {change: recordTo(rewritten(`"key":"k2-`, `"key":"k9-`)), event: "DriftUnknown"},
		"a record of another cluster": {change: recordTo(rewritten(`"name":"example"`, `"name":"another"`)), event: "DriftUnknown"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.set)
			f.running("general-abcde")
			c.change(f)
			got := f.drifted("general-abcde")
			if got != c.want || !isReason.MatchString(got) || (len(f.cloud.updated) > 0) != c.update || c.event != "" && !f.recorder.said(c.event, "") {
				t.Errorf("%q, %d updates, events %v", got, len(f.cloud.updated), f.recorder.events)
			}
			f.restart() // a restarted program comes to the same result
			if again := f.drifted("general-abcde"); again != got || len(f.cloud.updated) > 1 {
				t.Errorf("after a restart: %q, %d updates", again, len(f.cloud.updated))
			}
		})
	}
}

// setInputs replaces the inputs, also for a restart.
func (f *fixture) setInputs(in karpenter.Inputs) {
	f.t.Helper()
	f.options.Inputs = in
	if err := f.provider.SetInputs(in); err != nil {
		f.t.Fatal(err)
	}
}

func inputsOf(settings string) func(*fixture) {
	return func(f *fixture) { f.setInputs(inputs(f.t, settings)) }
}

// rewritten replaces a text in a record.
func rewritten(from, to string) func(string) string {
	return func(record string) string {
		r, err := launch.ParseRecord([]byte(record))
		if err != nil {
			panic(err)
		}
		data, err := json.Marshal(r)
		if err != nil || !strings.Contains(string(data), from) {
			panic(string(data))
		}
		return strings.Replace(string(data), from, to, 1)
	}
}

// recordTo changes the record of the claim, and the class.
func recordTo(change func(string) string) func(*fixture) {
	return func(f *fixture) {
		f.t.Helper()
		claim := f.claim("general-abcde")
		claim.Annotations[karpenter.AnnotationRecord] = change(claim.Annotations[karpenter.AnnotationRecord])
		if err := f.client.Update(f.ctx, claim); err != nil {
			f.t.Fatal(err)
		}
		f.change("osDiskSizeGB: 64")
	}
}

// TestRecordOfRelease: a claim that the first version made has not drifted. Do not rewrite the record: if this test fails, a
// release would replace whole fleets.
func TestRecordOfRelease(t *testing.T) {
	record, err := os.ReadFile("testdata/record")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, nil)
	claim := f.running("general-abcde")
	claim.Annotations[karpenter.AnnotationRecord] = strings.TrimSpace(string(record))
	delete(claim.Annotations, karpenter.AnnotationKey) // if the key matches, the record is not compared
	if err := f.client.Update(f.ctx, claim); err != nil {
		t.Fatal(err)
	}
	if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) > 0 || f.recorder.said("DriftUnknown", "") {
		t.Errorf("%q, %d updates, %v", reason, len(f.cloud.updated), f.recorder.events)
	}
	f.change("osDiskSizeGB: 64")
	if reason := f.drifted("general-abcde"); reason != "LaunchTemplateDrifted:machine_disk_sizeGB" {
		t.Error(reason)
	}
}

// changed reports whether a claim's record shows that its node has changed to what its class wants now.
func (f *fixture) changed(name string) bool {
	f.t.Helper()
	claim := f.claim(name)
	_, pending := claim.Annotations[karpenter.AnnotationChange]
	return !pending && claim.Annotations[karpenter.AnnotationRecord] == f.cloud.updated[len(f.cloud.updated)-1].Launch.Record().Text()
}

// TestInPlace: the machine gets the new contract without a valid token, and the claim records it after the agent's report.
func TestInPlace(t *testing.T) {
	f := newFixture(t, refuseLater)
	f.running("general-abcde")
	before := reportOf(t, f.cloud.started[0], 0, "")
	f.cloud.report("general-abcde", before)
	f.change(sysctl)
	for i := range 3 { // the claim waits, also after a restart; the report of another contract does not count
		if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) != 1 || f.claim("general-abcde").Annotations[karpenter.AnnotationChange] == "" {
			t.Fatalf("%d: %q, %d updates, %v", i, reason, len(f.cloud.updated), f.errors)
		}
		f.restart()
		f.clock.Step(time.Minute)
	}
	update := f.cloud.updated[0]
	if contract := userDataOf(t, update); !strings.Contains(contract, `"vm.max_map_count":"100000"`) || !strings.Contains(contract, `"000000.0000000000000000"`) {
		t.Errorf("the machine has got %s", contract)
	}
	f.cloud.report("general-abcde", reportOf(t, update, 0, ""))
	if reason := f.drifted("general-abcde"); reason != "" || !f.changed("general-abcde") || !f.recorder.said("ChangedInPlace", "vm.max_map_count") {
		t.Errorf("%q, %v, %v", reason, f.claim("general-abcde").Annotations, f.recorder.events)
	}
	f.restart()
	if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) != 1 {
		t.Errorf("afterwards: %q, %d updates", reason, len(f.cloud.updated))
	}
}

// TestInPlaceAtOnce: several concurrent reconciles of a claim, as Karpenter's controller and the provider's own make them, update
// its machine once. A change without a contract is done when the cloud has accepted the update, and only that reconcile records it.
func TestInPlaceAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		done int
	}{
		"a sysctl": {spec: sysctl},
		"tags":     {spec: "tags: {team: red}", done: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.running("general-abcde")
			f.cloud.report("general-abcde", reportOf(t, f.cloud.started[0], 0, ""))
			f.change(c.spec)
			claim := f.claim("general-abcde")
			var group sync.WaitGroup
			errs := make([]error, 20)
			for i := range errs {
				group.Go(func() { _, errs[i] = f.provider.IsDrifted(f.ctx, claim.DeepCopy()) })
			}
			group.Wait()
			done := 0
			for _, e := range f.recorder.events {
				if e.Reason == "ChangedInPlace" {
					done++
				}
			}
			if err := errors.Join(errs...); err != nil || len(f.cloud.updated) != 1 || done != c.done {
				t.Errorf("%d updates, %d events, want 1 and %d; %v", len(f.cloud.updated), done, c.done, err)
			}
		})
	}
}

// refuseLater has the cluster refuse every token after the first, because a change needs none.
func refuseLater(f *fixture) {
	made := 0
	refuseTokens(f)
	refuse := f.funcs.Create
	f.funcs.Create = func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		if made++; made <= 3 { // the claim, its token, its Node
			return c.Create(ctx, o, opts...)
		}
		return refuse(ctx, c, o, opts...)
	}
}

// TestInPlaceFails: a node that cannot change while it runs is replaced, and the event has the reason.
func TestInPlaceFails(t *testing.T) {
	const want = "NotChangedInPlace:node_system_sysctls_vm_max_map_count"
	for name, c := range map[string]struct {
		set   func(*fixture)
		then  func(*fixture)
		want  string
		event string
	}{
		"in time":          {then: func(f *fixture) { f.clock.Step(15*time.Minute - time.Second) }},
		"too late":         {then: func(f *fixture) { f.clock.Step(15 * time.Minute) }, want: want, event: "it was to change in place, and has not in 15m0s"},
		"its own deadline": {set: func(f *fixture) { f.options.Rollout.Deadline = time.Hour }, then: func(f *fixture) { f.clock.Step(59 * time.Minute) }},
		"the agent failed": {then: func(f *fixture) {
			f.cloud.report("general-abcde", reportOf(f.t, f.cloud.updated[0], 4, "the kubelet does not start"))
		}, want: want, event: "the kubelet does not start"},
		"a report of no contract": {then: func(f *fixture) { f.cloud.report("general-abcde", []byte(`{"ExitCode":"0"}`)) }},
		"a machine that is gone":  {then: func(f *fixture) { f.cloud.machines = nil }},
		"fixed": {
			set: func(f *fixture) {
				f.cloud.updateErr = func(l karpenter.Launch) error { return fmt.Errorf("%s: %w", l.UserData.Reveal(), karpenter.ErrFixed) }
			},
			then: func(*fixture) {}, want: want, event: "cannot be changed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.set)
			f.running("general-abcde")
			f.change(sysctl)
			f.drifted("general-abcde")
			c.then(f)
			got := f.drifted("general-abcde")
			if got != c.want || c.event != "" && !f.recorder.said(karpenter.NotChangedInPlace, c.event) {
				t.Errorf("%q, %v", got, f.recorder.events)
			}
			f.restart()
			f.cloud.updateErr = nil
			if again := f.drifted("general-abcde"); again != got || len(f.cloud.updated) > 1 {
				t.Errorf("after a restart: %q, %d updates", again, len(f.cloud.updated))
			}
			if c.want == "" {
				return
			}
			f.change("linuxOSConfig: {sysctls: {vmMaxMapCount: 262144}}") // reverted: a machine that got the first change gets this one, too
			n := len(f.cloud.updated)
			if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) != 2*n {
				t.Errorf("reverted, and %q, %d updates", reason, len(f.cloud.updated))
			}
			if n > 0 {
				f.cloud.report("general-abcde", reportOf(t, f.cloud.updated[n], 0, ""))
			}
			if reason := f.drifted("general-abcde"); reason != "" || f.claim("general-abcde").Annotations[karpenter.AnnotationChange] != "" {
				t.Errorf("reverted, and %q: %v", reason, f.claim("general-abcde").Annotations)
			}
			f.change(sysctl) // and wanted again: it is tried again
			n = len(f.cloud.updated)
			if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) != n+1 {
				t.Errorf("wanted again: %q, %d updates", reason, len(f.cloud.updated)-n)
			}
		})
	}
}

// TestInPlaceError: an error of the cloud is returned, and the next reconcile tries the change again.
func TestInPlaceError(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-abcde")
	f.change(sysctl)
	f.cloud.updateErr = func(l karpenter.Launch) error { return errors.New("throttled: " + l.UserData.Reveal()) }
	if got := f.drifted("general-abcde"); !strings.Contains(got, "the answer repeats a secret") {
		t.Error(got)
	}
	f.cloud.updateErr = nil
	if got := f.drifted("general-abcde"); got != "" || len(f.cloud.updated) != 1 {
		t.Errorf("%q, %d updates", got, len(f.cloud.updated))
	}
	f.cloud.getErr = errors.New("throttled")
	if got := f.drifted("general-abcde"); !strings.Contains(got, "throttled") {
		t.Error(got)
	}
}

// TestInPlaceReverted: a change that a machine got meanwhile is reverted, although the claim's record never changed.
func TestInPlaceReverted(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-abcde")
	f.change(sysctl)
	f.drifted("general-abcde")
	f.change("linuxOSConfig: {sysctls: {vmMaxMapCount: 262144}}")
	if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) != 2 || !strings.Contains(userDataOf(t, f.cloud.updated[1]), "262144") {
		t.Fatalf("%q, %d updates", reason, len(f.cloud.updated))
	}
	if reason := f.drifted("general-abcde"); reason != "" || f.changed("general-abcde") {
		t.Errorf("before the machine says so: %q", reason)
	}
	f.cloud.report("general-abcde", reportOf(t, f.cloud.updated[1], 0, ""))
	if reason := f.drifted("general-abcde"); reason != "" || !f.changed("general-abcde") {
		t.Errorf("%q, %v", reason, f.claim("general-abcde").Annotations)
	}
}

// TestInPlaceRevertedTooLate: if such a change cannot be reverted, the node is replaced, because its contract is unknown.
func TestInPlaceRevertedTooLate(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-abcde")
	f.change(sysctl)
	f.drifted("general-abcde")
	f.cloud.updateErr = func(karpenter.Launch) error { return karpenter.ErrFixed }
	f.change("linuxOSConfig: {sysctls: {vmMaxMapCount: 262144}}")
	if reason := f.drifted("general-abcde"); reason != karpenter.NotChangedInPlace {
		t.Errorf("%q", reason)
	}
}

// TestInPlaceOldClaim: a controller that works with an older copy of the claim, as a cache may serve it, begins no change twice. A
// machine that is gone is left to the core.
func TestInPlaceOldClaim(t *testing.T) {
	f := newFixture(t, nil)
	old := f.running("general-abcde")
	f.change(sysctl)
	look := func(claim *v1.NodeClaim, want int) {
		t.Helper()
		reason, err := f.provider.IsDrifted(f.ctx, claim)
		if reason != "" || err != nil || len(f.cloud.updated) != want {
			t.Errorf("%q, %v, %d updates", reason, err, len(f.cloud.updated))
		}
	}
	look(old, 1)
	look(old, 1) // it does not show the change yet
	f.cloud.report("general-abcde", reportOf(t, f.cloud.updated[0], 0, ""))
	look(old, 1) // the change has come, but this copy is too old to record it
	look(f.claim("general-abcde"), 1)
	look(old, 1) // and it does not show that yet
	look(f.claim("general-abcde"), 1)
	if !f.changed("general-abcde") {
		t.Errorf("%v", f.claim("general-abcde").Annotations)
	}
	f.cloud.machines = nil
	f.change("linuxOSConfig: {sysctls: {vmMaxMapCount: 80000}}")
	look(f.claim("general-abcde"), 1)
}

// TestInPlaceOneChangeForEachRecord: at every stage of a change, a reconcile with an older copy of the claim changes nothing. The
// machine gets each contract once, its success is recorded once, and no copy restores a former record. This holds in one process,
// and with a new process for each reconcile, which remembers nothing.
func TestInPlaceOneChangeForEachRecord(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		f := newFixture(t, nil)
		copies := []*v1.NodeClaim{f.running("general-abcde")}
		updates, done := 0, 0
		// look reconciles with the present copy, then with each older one from latest to first, then with the first one.
		look := func(stage string) {
			t.Helper()
			check := func(claim *v1.NodeClaim) {
				t.Helper()
				if restarts {
					f.restart()
				}
				if reason, err := f.provider.IsDrifted(f.ctx, claim.DeepCopy()); reason != "" || err != nil {
					t.Fatalf("restarts %v, %s: %q, %v", restarts, stage, reason, err)
				}
			}
			for range 2 {
				check(f.claim("general-abcde"))
				copies = append(copies, f.claim("general-abcde"))
			}
			want := f.claim("general-abcde").Annotations
			for i := range copies {
				check(copies[i])
				check(copies[len(copies)-1-i])
			}
			events := 0
			for _, e := range f.recorder.events {
				if e.Reason == "ChangedInPlace" {
					events++
				}
			}
			if got := f.claim("general-abcde").Annotations; len(f.cloud.updated) != updates || events != done || !maps.Equal(got, want) {
				t.Fatalf("restarts %v, %s: %d updates, want %d; %d times done, want %d; annotations %v, want %v", restarts, stage, len(f.cloud.updated), updates, events, done, got, want)
			}
		}
		look("as it was made")
		for _, spec := range []string{sysctl, "linuxOSConfig: {sysctls: {vmMaxMapCount: 262144}}", "linuxOSConfig: {sysctls: {vmMaxMapCount: 80000}}"} {
			f.change(spec)
			updates++
			look("begun: " + spec)
			f.cloud.report("general-abcde", reportOf(t, f.cloud.updated[updates-1], 0, ""))
			done++
			look("reported: " + spec)
		}
		f.change("linuxOSConfig: {sysctls: {vmMaxMapCount: 80000}}\ntags: {team: red}") // this change needs no contract
		updates++
		done++
		look("tags")
	}
}

// TestInPlaceUnregistered: a machine whose node has not joined still needs the token that it was made with.
func TestInPlaceUnregistered(t *testing.T) {
	f := newFixture(t, nil)
	f.add("general-abcde")
	f.lifecycle("general-abcde")
	f.change(sysctl)
	if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) != 0 {
		t.Errorf("%q, %d updates", reason, len(f.cloud.updated))
	}
	f.join("general-abcde")
	f.lifecycle("general-abcde")
	if reason := f.drifted("general-abcde"); reason != "" || len(f.cloud.updated) != 1 {
		t.Errorf("%q, %d updates", reason, len(f.cloud.updated))
	}
}

// TestInPlaceRollout: the policy limits how many nodes change at a time, and when.
func TestInPlaceRollout(t *testing.T) {
	f := newFixture(t, func(f *fixture) {
		f.options.Rollout = karpenter.Rollout{AtMost: 2, Windows: []karpenter.Window{{Start: noon.Add(time.Hour), End: noon.Add(3 * time.Hour)}}}
	})
	names := []string{"general-a", "general-b", "general-c"}
	for _, name := range names {
		f.running(name)
	}
	f.change(sysctl)
	look := func() int {
		for _, name := range names {
			if reason := f.drifted(name); reason != "" {
				t.Errorf("%s: %q", name, reason)
			}
		}
		return len(f.cloud.updated)
	}
	if n := look(); n != 0 {
		t.Errorf("%d before the window", n)
	}
	f.clock.Step(time.Hour)
	if n := look(); n != 2 {
		t.Errorf("%d at a time", n)
	}
	f.restart()
	if n := look(); n != 2 {
		t.Errorf("%d at a time, after a restart", n)
	}
	f.cloud.report("general-b", reportOf(t, f.cloud.updated[1], 0, ""))
	if n := look(); n != 3 || f.cloud.updated[2].Name != "general-c" {
		t.Errorf("%d when one is done", n)
	}
}

// TestUnready: no node is replaced because of a class that is not ready.
func TestUnready(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-abcde")
	f.change("osDiskSizeGB: 64")
	c := new(karpenter.NodeClass)
	if err := f.client.Get(f.ctx, client.ObjectKey{Name: "default"}, c); err != nil {
		t.Fatal(err)
	}
	c.StatusConditions().SetFalse(status.ConditionReady, "No", "no")
	if err := f.client.Status().Update(f.ctx, c); err != nil {
		t.Fatal(err)
	}
	if reason := f.drifted("general-abcde"); reason != "" {
		t.Error(reason)
	}
	if _, err := f.provider.GetInstanceTypes(f.ctx, object[v1.NodePool](t, "nodepool.yaml", "")); err == nil {
		t.Error("a class that is not ready has instance types")
	}
}
