// Package report reads what a new machine reports about its provisioning, and gives it a [Reason], in the form of the reason of a
// Kubernetes condition. An autoscaler sets it on the claim, and decides by [Outcome.Retry] whether another machine is worth a try.
package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/status"
)

// Reason is what happened to a machine, in the form of the reason of a Kubernetes condition.
type Reason string

// The reasons of an [Outcome].
const (
	// Provisioned is the reason of a success.
	Provisioned Reason = "Provisioned"
	// TokenRefused: the cluster does not know the bootstrap token, or it has expired.
	TokenRefused Reason = "TokenRefused"
	// TokenForbidden: the token may not ask for a certificate.
	TokenForbidden Reason = "TokenForbidden"
	// CertificateDenied: the cluster has refused the node's certificate, or has issued one that the kubelet cannot use.
	CertificateDenied Reason = "CertificateDenied"
	// CertificatePending: the cluster has not approved or signed the node's certificate, or its signer has failed.
	CertificatePending Reason = "CertificatePending"
	// NameNotResolved: the name of the API server does not resolve.
	NameNotResolved Reason = "NameNotResolved"
	// OutboundFailed: the node has no way out, or does not reach a server that the contract names.
	OutboundFailed Reason = "OutboundFailed"
	// APIServerUnreachable: nothing answers at the API server's address.
	APIServerUnreachable Reason = "APIServerUnreachable"
	// APIServerNotTrusted: the server at that address is not the contract's cluster.
	APIServerNotTrusted Reason = "APIServerNotTrusted"
	// ImageIncomplete: the image has no component that the node needs.
	ImageIncomplete Reason = "ImageIncomplete"
	// ImageChanged: the image, or one of its programs, is not what the contract requires.
	ImageChanged Reason = "ImageChanged"
	// MachineUnsuitable: the machine's kernel or disks cannot do what is wanted.
	MachineUnsuitable Reason = "MachineUnsuitable"
	// NodeNameTaken: the cluster has a Node of the same name that is Ready, and of another machine.
	NodeNameTaken Reason = "NodeNameTaken"
	// ContractRefused: no node can be made from the contract.
	ContractRefused Reason = "ContractRefused"
	// ContractNotFound: the machine did not get its user data.
	ContractNotFound Reason = "ContractNotFound"
	// ScriptFailed: a script of the contract's author has failed.
	ScriptFailed Reason = "ScriptFailed"
	// DownloadFailed: something could not be fetched.
	DownloadFailed Reason = "DownloadFailed"
	// ComponentFailed: a program of the node does not run.
	ComponentFailed Reason = "ComponentFailed"
	// TimedOut: it took too long, or it was interrupted.
	TimedOut Reason = "TimedOut"
	// ProvisioningFailed is every other reason.
	ProvisioningFailed Reason = "ProvisioningFailed"
)

// Outcome is what happened to a machine, by its own report.
type Outcome struct {
	Reason Reason `json:"reason"`
	// Message is what happened, for people: one line, without what looks like a secret.
	Message string `json:"message"`
	// Action is what to do about it; empty for a success.
	Action string `json:"action,omitempty"`
	// Retry is true if another machine of the same launch may become a node with no other change. After [TokenRefused] it needs
	// another token.
	Retry bool `json:"retry"`
	// ExitCode is in the table of package exitcode.
	ExitCode int `json:"exitCode"`
}

// Succeeded reports whether the machine is a node.
func (o *Outcome) Succeeded() bool { return o.Reason == Provisioned }

// row is what a cause or an exit code means for a launch.
type row struct {
	reason Reason
	retry  bool
	causes []resource.Cause
	codes  []int
	// ahead is true if the codes say more than a cause.
	ahead bool
}

// rows are all that is not ProvisioningFailed. A cause says more than most codes, so causes count first. Another
// try makes sense if time, another host or another token can change the result; the agent itself has tried for minutes. The codes without a name are
// those of AKS's scripts (package exitcode).
var rows = []row{
	{reason: Provisioned, codes: []int{exitcode.Success}},
	{reason: TokenRefused, retry: true, causes: []resource.Cause{resource.CauseCredential}},
	{reason: TokenForbidden, causes: []resource.Cause{resource.CauseForbidden}},
	{reason: CertificateDenied, causes: []resource.Cause{resource.CauseDenied, resource.CauseUnusable}, codes: []int{exitcode.CertificateRefused}},
	{reason: CertificatePending, retry: true, causes: []resource.Cause{resource.CauseUnapproved, resource.CauseSigner}},
	{
		reason: NameNotResolved, retry: true, causes: []resource.Cause{resource.CauseDNS, resource.CauseCloudDNS},
		codes: []int{exitcode.APIServerNameUnresolved, exitcode.APIServerNameUnknown, 215},
	},
	{reason: APIServerUnreachable, retry: true, causes: []resource.Cause{resource.CauseConnection}, codes: []int{exitcode.APIServerUnreachable, 30}},
	{reason: OutboundFailed, retry: true, causes: []resource.Cause{resource.CauseProxy}, codes: []int{exitcode.OutboundFailed}, ahead: true},
	{reason: APIServerNotTrusted, causes: []resource.Cause{
		resource.CauseTLS, resource.CauseRedirect, resource.CauseDiscovery, resource.CauseUnsigned, resource.CausePin,
	}},
	{reason: ImageIncomplete, causes: []resource.Cause{resource.CauseMissing}, codes: []int{
		exitcode.CNIPluginMissing, exitcode.ImageNotBuilt, exitcode.KubeletInstallFailed, exitcode.AttestedClientMissing,
		exitcode.LocalDNSBinaryMissing, exitcode.GPUDriverMissing, exitcode.DCGMMissing, exitcode.TranscoderMissing, 32, 120, 206, 232,
	}},
	{reason: ImageChanged, codes: []int{exitcode.ImageChanged}},
	{reason: MachineUnsuitable, causes: []resource.Cause{resource.CauseNoRoom}, codes: []int{
		exitcode.ModuleLoadFailed, exitcode.SysctlFailed, exitcode.SwapFailed, exitcode.SwapNoRoom, exitcode.MangleRuleFailed, exitcode.FilterRuleFailed, exitcode.GPUInfoROMCorrupted, 91,
	}},
	{reason: NodeNameTaken, retry: true, causes: []resource.Cause{resource.CauseForeign}, codes: []int{exitcode.NodeNameTaken}},
	{reason: ContractRefused, codes: []int{exitcode.Invalid, exitcode.ContractInvalid, exitcode.ContractOlder, exitcode.Usage, exitcode.SSHKeysFailed, exitcode.ManagedGPUFailed, 39, 160}},
	{reason: ContractNotFound, retry: true, codes: []int{exitcode.ContractNotFound, 6, 100}},
	{reason: ScriptFailed, codes: []int{exitcode.ScriptFailed}},
	{reason: DownloadFailed, retry: true, causes: []resource.Cause{
		resource.CauseAbsent, resource.CauseUnreachable, resource.CauseRefused, resource.CauseContent, resource.CauseUnpack, resource.CauseIdentity,
	}, codes: []int{
		exitcode.KubernetesDownloadFailed, exitcode.KubectlInstallFailed, exitcode.KubernetesInstallFailed, exitcode.ProviderDownloadFailed,
		exitcode.RegistryKubernetesFailed, exitcode.RegistryProviderFailed, exitcode.RegistryIdentityMissing, exitcode.RegistryUnreachable,
		exitcode.RegistryRefused, 9, 21, 22, 23, 25, 26, 27, 28, 29, 33, 35, 36, 37, 42, 44, 45, 60, 61, 62, 70, 71, 83, 99, 117, 152, 203, 225, 226, 231,
		233, 241,
	}},
	{reason: ComponentFailed, retry: true, causes: []resource.Cause{resource.CauseUnit, resource.CauseUnhealthy}, codes: []int{
		exitcode.UnitStartFailed, exitcode.KubeletStartFailed, exitcode.LocalDNSFailed, exitcode.LocalDNSCorefileMissing, exitcode.LocalDNSSliceMissing,
		exitcode.AttestedBootstrapFailed, exitcode.UpdateTimerFailed, exitcode.GPUDriverFailed, exitcode.GPUDevicePluginFailed, exitcode.DRADriverFailed,
		exitcode.StreamingFailed, 24, 128, 154, 228, 229,
	}},
	{reason: TimedOut, retry: true, codes: []int{exitcode.Timeout, exitcode.Interrupted, 5}},
}

// rowOf is the row of a code that says more than a cause, or else of a cause, or else of a code.
func rowOf(cause string, code int) row {
	hasCode := func(r row) bool { return slices.Contains(r.codes, code) }
	for _, counts := range []func(row) bool{
		func(r row) bool { return r.ahead && hasCode(r) },
		func(r row) bool { return slices.Contains(r.causes, resource.Cause(cause)) },
		hasCode,
	} {
		if i := slices.IndexFunc(rows, counts); i >= 0 {
			return rows[i]
		}
	}
	return row{reason: ProvisioningFailed, retry: true}
}

// maxMessage is how long the text of an outcome may be: a message of a condition has at most 32,768 bytes (Kubernetes:
// metav1.Condition), and an event's 1,024.
const maxMessage = 1024

// ErrNoOutcome is wrapped by the error of a report without an outcome.
var ErrNoOutcome = errors.New("the report does not say what came of the machine")

// Read reads what a machine has reported: its status.json, its provision.json, or what Azure's extension returned
// ([status.ParseCSEMessage]). Only status.json names causes; the others have an exit code, which says less. The error wraps
// [ErrNoOutcome].
func Read(report []byte) (*Outcome, error) {
	if s, err := status.Parse(report); err == nil {
		return outcomeOf(s)
	}
	result, err := status.ParseCSEMessage(string(report))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoOutcome, err)
	}
	code, err := result.Code()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoOutcome, err)
	}
	return newOutcome("", code, result.Error, ""), nil
}

// outcomeOf returns the outcome of a status.
func outcomeOf(s *status.Status) (*Outcome, error) {
	switch {
	case s.Outcome == status.OutcomeSuccess && s.ExitCode == exitcode.Success:
		return newOutcome("", s.ExitCode, "", ""), nil
	case s.Outcome == status.OutcomeSuccess || s.ExitCode == exitcode.Success:
		return nil, fmt.Errorf("%w: the outcome is %q, and the exit code %d", ErrNoOutcome, s.Outcome, s.ExitCode)
	case s.Error == nil:
		return newOutcome("", s.ExitCode, "", ""), nil
	}
	return newOutcome(s.Error.Cause, s.ExitCode, s.Error.String(), s.Error.Action), nil
}

// newOutcome returns the outcome of a cause and a code. If a text is empty, the table of exit codes has one.
func newOutcome(cause string, code int, message, action string) *Outcome {
	means := rowOf(cause, code)
	known, found := exitcode.Lookup(code)
	if !found {
		known.Meaning = fmt.Sprintf("the machine ended with the code %d, which is not in the table", code)
	}
	o := &Outcome{
		Reason: means.reason, Retry: means.retry, ExitCode: code,
		Message: cmp.Or(redact.Line(message, maxMessage), known.Meaning), Action: cmp.Or(redact.Line(action, maxMessage), known.Action),
	}
	if o.Succeeded() {
		o.Action = ""
	}
	return o
}
