package host

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/probe"
	"github.com/slipway-dev/slipway/internal/redact"
)

// The types of an attempt to reach a server.
type (
	Attempt = probe.Attempt
	Outcome = probe.Outcome
	Step    = probe.Step
)

// The steps of an attempt.
const (
	Resolved  = probe.Resolved
	Connected = probe.Connected
	Tunneled  = probe.Tunneled
	Secured   = probe.Secured
	Answered  = probe.Answered
)

// ClockState is what the kernel knows about its clock.
type ClockState struct {
	// Synchronized reports that a program keeps the clock at another clock's time.
	Synchronized bool
	// MaxError is how far it may be off, by that program's estimate.
	MaxError time.Duration
}

// ClockState reads the kernel's state of the clock (adjtimex(2)). It sets nothing.
func (m *Machine) ClockState() (ClockState, error) {
	var about unix.Timex // Modes is 0
	state, err := unix.Adjtimex(&about)
	if err != nil {
		return ClockState{}, fmt.Errorf("read the state of the clock: %w", err)
	}
	return ClockState{
		Synchronized: state != unix.TIME_ERROR && about.Status&unix.STA_UNSYNC == 0,
		MaxError:     time.Duration(about.Maxerror) * time.Microsecond,
	}, nil
}

// AskMetadata asks a cloud's metadata service once. The error is a *metadata.Error.
func (m *Machine) AskMetadata(ctx context.Context, cloud string) (metadata.Seen, error) {
	service, err := metadata.New(cloud, nil)
	if err != nil {
		return metadata.Seen{}, err
	}
	return service.Look(ctx)
}

// AskWireServer asks Azure's wire server once. The error is a *metadata.Error.
func (m *Machine) AskWireServer(ctx context.Context) (metadata.Seen, error) {
	return metadata.NewWireServer(nil).Look(ctx)
}

// Platform is the machine's cloud, as its firmware names it, or "".
func (m *Machine) Platform() string { return facts.PlatformOf(m) }

// Platform is the cloud of the directory's machine, if the directory has its firmware's strings.
func (d *Directory) Platform() string { return facts.PlatformOf(d) }

// maxPluginError limits what is shown of a plug-in's error output.
const maxPluginError = 200

// RunPlugin runs a kubeconfig's credential plug-in, as the kubelet does, and returns its answer, which is secret. The
// error does not contain the answer or the plug-in's name.
func (m *Machine) RunPlugin(ctx context.Context, argv []string, env map[string]string) ([]byte, error) {
	searchPath, variables := environment(env)
	program, err := lookProgram(argv[0], searchPath)
	if err != nil {
		return nil, err
	}
	answer, said, err := askPlugin(ctx, variables, nil, program, argv[1:]...)
	if err == nil {
		return answer, nil
	}
	if why := redact.Line(string(said), maxPluginError); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return nil, err
}

// ClockState is an error: a directory has no clock.
func (d *Directory) ClockState() (ClockState, error) { return ClockState{}, apply.ErrNotProbed }

// Attempt fails: a directory has no network.
func (d *Directory) Attempt(context.Context, *Attempt) *Outcome {
	return &Outcome{Failed: Resolved, Err: apply.ErrNotProbed}
}

// Exchange is an error: a directory has no network.
func (d *Directory) Exchange(context.Context, string, []byte) ([]byte, error) {
	return nil, apply.ErrNotProbed
}

// AskMetadata is an error: a directory is in no cloud.
func (d *Directory) AskMetadata(context.Context, string) (metadata.Seen, error) {
	return metadata.Seen{}, apply.ErrNotProbed
}

// AskWireServer is an error: a directory is in no cloud.
func (d *Directory) AskWireServer(context.Context) (metadata.Seen, error) {
	return metadata.Seen{}, apply.ErrNotProbed
}

// RunPlugin is an error: a directory runs no program.
func (d *Directory) RunPlugin(context.Context, []string, map[string]string) ([]byte, error) {
	return nil, apply.ErrNotProbed
}
