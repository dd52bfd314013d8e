package karpenter_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch/report"
	agentstatus "github.com/slipway-dev/slipway/status"
)

// look has the provider's own controller reconcile a claim.
func (f *fixture) look(name string) time.Duration {
	f.t.Helper()
	controller := f.provider.Controllers()[0].(reconcile.ObjectReconciler[*v1.NodeClaim])
	result, err := controller.Reconcile(f.ctx, f.claim(name))
	if err != nil {
		f.errors = append(f.errors, err)
	}
	return result.RequeueAfter
}

// failed is the status.json of a machine whose provisioning failed.
func failed(t testing.TB, code int, failure agentstatus.Failure) []byte {
	t.Helper()
	s := agentstatus.Status{Outcome: agentstatus.OutcomeFailure, ExitCode: code, Error: &failure}
	data, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOutcome: the machine's report reaches its claim as a reason and an event, in every form of a report.
func TestOutcome(t *testing.T) {
	message, err := os.ReadFile("../../status/testdata/cse-message.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		report               []byte
		status, reason, says string
		again                bool
	}{
		"nothing yet":          {again: true},
		"the extension":        {report: message, status: "True", reason: string(report.Provisioned)},
		"provision.json":       {report: []byte(`{"ExitCode":"41","Output":"","Error":"bridge is not in /opt/cni/bin"}`), status: "False", reason: string(report.ImageIncomplete), says: "another machine of the same launch would fail as well", again: true},
		"a token":              {report: failed(t, 51, agentstatus.Failure{Cause: "credential", Message: "token abcdef.0123456789canary refused", Action: "put a new token"}), status: "False", reason: string(report.TokenRefused), says: "[redacted] refused; put a new token", again: true},
		"the extension, alone": {report: []byte("command terminated with exit status=53\n[stdout]\n"), status: "False", reason: string(report.NameNotResolved), again: true},
		"something else":       {report: []byte("the disk is full"), status: "Unknown", reason: karpenter.OutcomeUnreadable, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.secrets = append(f.secrets, "0123456789canary")
			f.add("general-abcde")
			f.lifecycle("general-abcde")
			f.cloud.report("general-abcde", c.report)
			again := f.look("general-abcde")
			if (again > 0) != c.again {
				t.Errorf("it is looked at again in %s", again)
			}
			got := f.claim("general-abcde").StatusConditions().Get(karpenter.ConditionTypeProvisioned)
			if c.status == "" {
				if got != nil {
					t.Errorf("%+v", got)
				}
				return
			}
			if got == nil || string(got.Status) != c.status || got.Reason != c.reason || !strings.Contains(got.Message, c.says) || !f.recorder.said(c.reason, c.says) {
				t.Fatalf("%+v, %v", got, f.errors)
			}
			if ready := f.claim("general-abcde").StatusConditions().Get(v1.ConditionTypeLaunched); !ready.IsTrue() {
				t.Error("another condition has changed")
			}
			events := len(f.recorder.events)
			if f.look("general-abcde"); len(f.recorder.events) != events {
				t.Error("the same report has two events")
			}
			f.cloud.report("general-abcde", []byte(`{"ExitCode":"0"}`)) // the node is repaired
			if f.look("general-abcde"); !f.claim("general-abcde").StatusConditions().Get(karpenter.ConditionTypeProvisioned).IsTrue() {
				t.Error("a success is not told")
			}
			f.cloud.report("general-abcde", failed(t, 4, agentstatus.Failure{Message: "a change that was rolled back"}))
			if f.look("general-abcde"); !f.claim("general-abcde").StatusConditions().Get(karpenter.ConditionTypeProvisioned).IsTrue() {
				t.Error("a change that failed is one of the provisioning")
			}
		})
	}
}

// TestOutcomeTime: the controller stops asking for a report after a time, and never asks for a claim that is not launched.
func TestOutcomeTime(t *testing.T) {
	f := newFixture(t, nil)
	f.add("general-abcde")
	if again := f.look("general-abcde"); again != 0 || len(f.cloud.started) != 0 {
		t.Errorf("%s", again)
	}
	f.lifecycle("general-abcde")
	for _, step := range []struct {
		after time.Duration
		again bool
	}{{0, true}, {29 * time.Minute, true}, {time.Minute, false}} {
		f.clock.Step(step.after)
		if again := f.look("general-abcde"); (again > 0) != step.again {
			t.Errorf("after %s: again in %s", step.after, again)
		}
	}
	f.cloud.getErr = errors.New("throttled")
	if f.look("general-abcde"); len(f.errors) != 1 {
		t.Errorf("%v", f.errors)
	}
	f.cloud.getErr = nil
	f.cloud.machines = nil
	if again := f.look("general-abcde"); again != 0 || len(f.errors) != 1 {
		t.Errorf("%s, %v", again, f.errors)
	}
}

// TestChangeGoesOn: the provider's own controller begins a change, and sees its end, without Karpenter's.
func TestChangeGoesOn(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-abcde")
	f.cloud.report("general-abcde", []byte(`{"ExitCode":"0"}`))
	if again := f.look("general-abcde"); again != 0 {
		t.Errorf("again in %s", again)
	}
	f.change(sysctl)
	if again := f.look("general-abcde"); again == 0 || len(f.cloud.updated) != 1 {
		t.Fatalf("again in %s, %d updates, %v", again, len(f.cloud.updated), f.errors)
	}
	f.cloud.report("general-abcde", reportOf(t, f.cloud.updated[0], 0, ""))
	if again := f.look("general-abcde"); again != 0 || !f.changed("general-abcde") {
		t.Errorf("again in %s, %v", again, f.claim("general-abcde").Annotations)
	}
}

// TestRegistrationHook: a Node whose machine reports a failure keeps the taint, by Karpenter's own controller.
func TestRegistrationHook(t *testing.T) {
	for name, c := range map[string]struct {
		report     []byte
		getErr     error
		registered bool
	}{
		"no report":     {registered: true},
		"a success":     {report: []byte(`{"ExitCode":"0"}`), registered: true},
		"not readable":  {report: []byte(`?`), registered: true},
		"a failure":     {report: []byte(`{"ExitCode":"124"}`)},
		"no connection": {getErr: errors.New("throttled"), registered: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.add("general-abcde")
			claim := f.lifecycle("general-abcde")
			f.join("general-abcde")
			f.cloud.report("general-abcde", c.report)
			f.cloud.getErr = c.getErr
			if _, err := f.controller(f.provider.RegistrationHook()).Reconcile(f.ctx, claim); err != nil {
				t.Fatal(err)
			}
			condition := f.claim("general-abcde").StatusConditions().Get(v1.ConditionTypeRegistered)
			node := new(corev1.Node)
			if err := f.client.Get(f.ctx, client.ObjectKey{Name: "general-abcde"}, node); err != nil {
				t.Fatal(err)
			}
			tainted := false
			for _, taint := range node.Spec.Taints {
				tainted = tainted || taint.MatchTaint(&v1.UnregisteredNoExecuteTaint)
			}
			if condition.IsTrue() != c.registered || tainted == c.registered || !c.registered && !strings.Contains(condition.Message, f.provider.RegistrationHook().Name()) {
				t.Errorf("%+v, tainted %t", condition, tainted)
			}
		})
	}
}
