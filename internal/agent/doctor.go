package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// Patient is the agent's machine for the doctor, which changes nothing and logs nothing.
func (a *Agent) Patient() *doctor.Patient {
	quiet := *a
	quiet.Log = slog.New(slog.DiscardHandler)
	return &doctor.Patient{
		Machine: a.Host, Directory: !a.Host.Live(), Now: a.Now, Pace: doctor.Pace(time.Now),
		Gather:  func() facts.Facts { return facts.Gather(a.Host) },
		Current: quiet.planned,
		Drift:   quiet.Drift,
	}
}

// planned is the plan of the current generation. It is nil if the machine has no generation.
func (a *Agent) planned() (*doctor.Planned, error) {
	store, err := generation.Open(a.Host, a.Log)
	if err != nil {
		return nil, err
	}
	current, found := store.Current()
	if !found {
		return nil, nil
	}
	plan, err := store.Plan(current.Number)
	if err != nil {
		return nil, err
	}
	return &doctor.Planned{Generation: current.Number, Plan: plan, Unfinished: current.Unfinished(), Reason: current.Reason}, nil
}

const (
	// examination is how long a run that fails may look for the reason, on a machine of ordinary speed.
	examination = 5 * time.Second
	// shortest is the shortest examination that can find something.
	shortest = 250 * time.Millisecond
)

// failureChecks are the checks that can find why a run has failed, by the exit code of its error. A run that has another
// code, or that has no time left, is not examined. doctor.Named adds what they need.
var failureChecks = map[int][]string{
	exitcode.UnitStartFailed:          {"failed-units", "runtime-plugin", "kubelet"},
	exitcode.KubeletStartFailed:       {"kubelet-health"},
	exitcode.ModuleLoadFailed:         {"modules"},
	exitcode.SysctlFailed:             {"parameters"},
	exitcode.OutboundFailed:           {"names", "proxy"},
	exitcode.APIServerUnreachable:     {"credential"},
	exitcode.APIServerNameUnresolved:  {"names"},
	exitcode.CertificateRefused:       {"certificate-request"},
	exitcode.AgentFailed:              {"read-only", "space", "inodes"},
	exitcode.APIServerNameUnknown:     {"names"},
	exitcode.KubernetesDownloadFailed: {"names", "proxy", "space"},
	exitcode.ContainerdDownloadFailed: {"names", "proxy", "space"},
	exitcode.RuncDownloadFailed:       {"names", "proxy", "space"},
	exitcode.RegistryUnreachable:      {"names", "proxy", "registry"},
}

// examined is the run, with the reason of a failure in its account, if the doctor finds that within what is left of the run's time.
func (r *run) examined(ctx context.Context, err error, timeout time.Duration) *run {
	if err != nil && ctx.Err() == nil && !r.dryRun && r.host.Live() {
		r.examine(ctx, err, timeout)
	}
	return r
}

func (r *run) examine(ctx context.Context, err error, timeout time.Duration) {
	names := failureChecks[outcome.Code(err)]
	left := timeout - r.now().Sub(r.account.Status.StartedAt)
	if len(names) == 0 || left < shortest {
		return
	}
	_ = r.guarded(func() error {
		begin := r.now()
		p := r.agent.Patient()
		p.Provisions = true
		ctx, cancel := context.WithTimeout(ctx, min(left, p.Patience(examination)))
		defer cancel()
		report := doctor.Examine(ctx, doctor.Named(doctor.Checks, names...), p)
		r.step(outcome.StepExamine, begin)
		if wrong := report.Wrong(); len(wrong) > 0 {
			first := &wrong[0]
			r.log.Info("the doctor has found a reason", "check", first.Check, "cause", first.Cause, "verdict", first.Verdict)
			r.account.Verdict = &status.Failure{Cause: first.Cause, Message: first.Verdict, Action: first.Action}
		}
		return nil
	})
}

// timeoutOf is how long a run may take.
func timeoutOf(made *contract) time.Duration {
	if made == nil || made.Config == nil {
		return nodeconfig.DefaultTimeout.Std()
	}
	return made.Config.Checks.Timeout.Std()
}
