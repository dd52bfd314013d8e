package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/host"
)

// sickHost is a machine whose kernel modules cannot be loaded, and that a rule denies. A doctor may look at it.
type sickHost struct{ Host }

func (sickHost) Live() bool { return true }

func (sickHost) ModuleLoaded(string) (bool, error) { return false, nil }

func (sickHost) FileSystem(string) (host.FileSystem, error) {
	return host.FileSystem{Size: 1 << 40, Free: 1 << 39}, nil
}

// A run that fails looks for the reason, and publishes it before its own error, with the same code.
func TestFailureIsExamined(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{true, false} {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/azure-cni.json"))
		n.deliver("/etc/modprobe.d/hardening.conf", []byte("install overlay /bin/false\n"))
		n.host.before = func(op, name string) error {
			if op == "LoadModule" {
				return errors.New("modprobe: ERROR: could not insert")
			}
			return nil
		}
		if live {
			n.agent.Host = sickHost{n.agent.Host}
		}
		got := n.provision()
		if got.ExitCode != exitcode.ModuleLoadFailed || len(got.Errors) < 1 {
			t.Fatalf("%d, %+v", got.ExitCode, got.Errors)
		}
		if !live {
			if strings.Contains(got.Error.Message, "hardening.conf") {
				t.Errorf("a directory was examined: %+v", got.Error)
			}
			continue
		}
		if len(got.Errors) < 2 || !strings.Contains(got.Error.Message, "/etc/modprobe.d/hardening.conf denies it") || got.Error.Action == "" || got.Errors[1].Resource != "Module:overlay" {
			t.Errorf("%+v", got.Errors)
		}
		if text := n.result(aksPlace).Error; !strings.HasPrefix(text, "(denied): the module overlay") || !strings.Contains(text, "could not insert") {
			t.Errorf("published: %s", text)
		}
	}
}

// A run without time left, or that was asked to end, looks for nothing.
func TestExaminationTakesNoTimeThatIsOver(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.agent.Host = sickHost{n.agent.Host}
	failed := &apply.Error{Resource: "Module:overlay", ExitCode: exitcode.ModuleLoadFailed, Err: errors.New("x")}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx     context.Context
		timeout time.Duration
		err     error
	}{
		{t.Context(), 0, failed}, {over, time.Hour, failed}, {t.Context(), time.Hour, nil},
		{t.Context(), time.Hour, &apply.Error{ExitCode: exitcode.GPUDriverFailed, Err: errors.New("x")}},
	} {
		r := begin(&n.agent, "", true)
		if r.examined(c.ctx, c.err, c.timeout); len(r.account.Status.Steps) > 0 {
			t.Errorf("%v: %v", c, r.account.Status.Steps)
		}
	}
}

// The checks of each exit code are in the doctor's table.
func TestFailureChecksAreKnown(t *testing.T) {
	for code, names := range failureChecks {
		if _, known := exitcode.Lookup(code); !known {
			t.Errorf("%d is no exit code", code)
		}
		for _, name := range names {
			if len(doctor.Named(doctor.Checks, name)) == 0 {
				t.Errorf("%d: there is no check %s", code, name)
			}
		}
	}
}
