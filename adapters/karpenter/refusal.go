package karpenter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch/report"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The reasons of the claim's condition Launched, beside those of [report.Reason] and [report.ImageIncomplete].
const (
	// LaunchRefused: package launch reports a fatal problem.
	LaunchRefused = "LaunchRefused"
	// InstanceTypeUnknown: the claim names unknown instance types.
	InstanceTypeUnknown = "InstanceTypeUnknown"
	// RequirementsContradict: no node can fulfil all requirements of the claim.
	RequirementsContradict = "RequirementsContradict"
	// NodeClassReadinessUnknown: the class has no condition Ready for this generation yet.
	NodeClassReadinessUnknown = "NodeClassReadinessUnknown"
	// UserDataImpossible: no user data can be made, for example because it is larger than the cloud allows.
	UserDataImpossible = "UserDataImpossible"
	// MachineNotStarted: the cloud has not started the machine.
	MachineNotStarted = "MachineNotStarted"
	// MachineDiffers: a machine with the claim's name exists, but was made from something else.
	MachineDiffers = "MachineDiffers"
)

// longestText limits an event's message (Kubernetes: events.k8s.io, note) and a condition's message.
const longestText = 1024

// short cuts a text to an event's limit.
func short(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText-len("...")], "") + "..."
}

// refused returns the error of a launch, with a reason for the claim's condition.
func refused(reason string, err error) error {
	return cloudprovider.NewCreateError(err, reason, short(err.Error()))
}

// problemsError joins all problems on one line.
func problemsError(problems []nodeconfig.Problem) error {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Where() + ": " + p.Reason
	}
	return errors.New(strings.Join(texts, "; "))
}

// refusedFor is the error of a launch with fatal problems.
func refusedFor(problems []nodeconfig.Problem) error {
	reason := LaunchRefused
	if slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Kind == nodeconfig.NotInstalled }) {
		reason = string(report.ImageIncomplete)
	}
	return refused(reason, problemsError(problems))
}

// without removes secrets from an error: servers repeat refused values in their answers.
func without(err error, secrets ...string) error {
	if err == nil || !slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(err.Error(), s) }) {
		return err
	}
	var kept error
	for _, known := range []error{ErrNotFound, ErrFixed} {
		if errors.Is(err, known) {
			kept = errors.Join(kept, known)
		}
	}
	if kept == nil {
		kept = errors.New("the request has failed")
	}
	return fmt.Errorf("%w (the answer repeats a secret, so it is not shown)", kept)
}
