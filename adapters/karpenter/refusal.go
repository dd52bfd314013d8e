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
	// LaunchRefused: package launch has found a fatal problem.
	LaunchRefused = "LaunchRefused"
	// InstanceTypeUnknown: the claim names instance types of which nothing is known.
	InstanceTypeUnknown = "InstanceTypeUnknown"
	// RequirementsContradict: no node can fulfil all requirements of the claim.
	RequirementsContradict = "RequirementsContradict"
	// NodeClassReadinessUnknown: nobody has said yet whether the class is ready.
	NodeClassReadinessUnknown = "NodeClassReadinessUnknown"
	// UserDataImpossible: no user data can be made, for example because it is larger than the cloud allows.
	UserDataImpossible = "UserDataImpossible"
	// MachineNotStarted: the cloud has not started the machine.
	MachineNotStarted = "MachineNotStarted"
	// MachineDiffers: there is a machine with the claim's name that was made from something else.
	MachineDiffers = "MachineDiffers"
)

// longestText is how long an event's message may be (Kubernetes: events.k8s.io, note), and what is said in a condition.
const longestText = 1024

// short is a text that is not longer than an event may be.
func short(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText-len("...")], "") + "..."
}

// refused is the error of a launch, with a reason for the claim's condition.
func refused(reason string, err error) error {
	return cloudprovider.NewCreateError(err, reason, short(err.Error()))
}

// problemsError is all that is wrong, on one line.
func problemsError(problems []nodeconfig.Problem) error {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Where() + ": " + p.Reason
	}
	return errors.New(strings.Join(texts, "; "))
}

// refusedFor is the error of a launch that package launch has found fatal problems with.
func refusedFor(problems []nodeconfig.Problem) error {
	reason := LaunchRefused
	if slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Kind == nodeconfig.NotInstalled }) {
		reason = string(report.ImageIncomplete)
	}
	return refused(reason, problemsError(problems))
}

// without is an error that does not repeat secrets: servers put what they have refused into their answers.
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
