package agent

import (
	"context"
	"log/slog"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
)

// Patient is the agent's machine for the doctor, which changes nothing and logs nothing. The caller sets the rest.
func (a *Agent) Patient() *doctor.Patient {
	quiet := *a
	quiet.Log = slog.New(slog.DiscardHandler)
	return &doctor.Patient{
		Machine: a.Host, Now: a.Now,
		Gather:  func() facts.Facts { return facts.Gather(a.Host) },
		Current: quiet.planned,
		Drift:   func(ctx context.Context) ([]apply.Change, error) { return quiet.Drift(ctx) },
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
