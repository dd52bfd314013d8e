package outcome

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Each of several failures has its advice, and not that of the one before.
func TestSeveralFailures(t *testing.T) {
	t.Parallel()
	err := errors.Join(
		&apply.Error{Resource: "Sysctl:a", ExitCode: exitcode.SysctlFailed, Err: syscall.EIO},
		fmt.Errorf("something of the agent's"),
		errors.Join(&apply.Error{Resource: "File:/x", Err: syscall.ENOSPC}, &apply.Error{Resource: "Unit:kubelet.service", ExitCode: exitcode.KubeletStartFailed, Err: syscall.EIO}),
	)
	if got := Code(err); got != exitcode.SysctlFailed {
		t.Errorf("exit code is %d", got)
	}
	agentFailed, _ := exitcode.Lookup(exitcode.SysctlFailed)
	kubelet, _ := exitcode.Lookup(exitcode.KubeletStartFailed)
	list := failures(err, exitcode.SysctlFailed, "")
	want := []struct{ resource, action string }{
		{"Sysctl:a", agentFailed.Action}, {"", agentFailed.Action}, {"File:/x", agentFailed.Action}, {"Unit:kubelet.service", kubelet.Action},
	}
	if len(list) != len(want) {
		t.Fatalf("%+v", list)
	}
	for i, w := range want {
		if list[i].Resource != w.resource || list[i].Action != w.action {
			t.Errorf("%d: %+v", i, list[i])
		}
	}
	list = failures(errors.Join(
		&apply.Error{Resource: "Unit:kubelet.service", ExitCode: exitcode.KubeletStartFailed, Err: syscall.EIO},
		&apply.Error{Resource: "File:/x", Err: syscall.ENOSPC},
	), exitcode.AgentFailed, "")
	own, _ := exitcode.Lookup(exitcode.AgentFailed)
	if list[0].Action != kubelet.Action || list[1].Action != own.Action {
		t.Errorf("%+v", list)
	}
	if text := Text(err); strings.Contains(text, "\n") || strings.Count(text, "; ") != 3 {
		t.Errorf("the text is %q", text)
	}
}

// The advice for an unreachable server of the contract differs from that for its API server.
func TestActionsOfOutbound(t *testing.T) {
	t.Parallel()
	for _, cause := range []resource.Cause{resource.CauseDNS, resource.CauseCloudDNS, resource.CauseConnection, resource.CauseTLS, resource.CauseProxy, ""} {
		of := func(code int) string {
			err := error(&apply.CheckError{Cause: cause, Endpoint: "mcr.example:443", Err: syscall.EIO})
			if cause == "" {
				err = syscall.EIO // a command's
			}
			return failures(&apply.Error{Resource: "Check:outbound", ExitCode: code, Err: err}, code, "")[0].Action
		}
		outbound, server := of(exitcode.OutboundFailed), of(exitcode.APIServerUnreachable)
		if outbound == server || strings.Contains(outbound, "API server") || outbound == "" {
			t.Errorf("%s: %q and %q", cause, outbound, server)
		}
	}
}

// Advice names the parts of a cloud only on a machine in that cloud.
func TestActionsOfClouds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		code  int
		cause resource.Cause
		words map[string]string
	}{
		{exitcode.APIServerNameUnresolved, resource.CauseDNS, map[string]string{facts.Azure: "168.63.129.16", facts.EC2: "enableDnsSupport"}},
		{exitcode.APIServerUnreachable, resource.CauseConnection, map[string]string{facts.Azure: "authorized IP ranges", facts.EC2: "endpoint access"}},
		{exitcode.OutboundFailed, "", map[string]string{facts.Azure: "outbound type", facts.EC2: "VPC's endpoints"}},
	} {
		for _, on := range []string{facts.Azure, facts.EC2, facts.GCE, ""} {
			err := error(&apply.CheckError{Cause: row.cause, Endpoint: "api.example:443", Err: syscall.EIO})
			if row.cause == "" {
				err = syscall.EIO // a command's
			}
			account := Account{Cloud: on}
			result := account.Conclude(&apply.Error{Resource: "Check:x", ExitCode: row.code, Err: err}, time.Time{}, func(code int) int { return code })
			for cloud, word := range row.words {
				if action := result.Status.Error.Action; action == "" || strings.Contains(action, word) != (cloud == on) {
					t.Errorf("%d on %q: %q", row.code, on, action)
				}
			}
		}
	}
}

// The reason why the cluster issues no usable certificate decides the advice. No cause has another cause's advice.
func TestActionsOfTheCertificate(t *testing.T) {
	t.Parallel()
	seen := make(map[string]resource.Cause)
	for cause, words := range map[resource.Cause][]string{
		resource.CauseCredential: {"bootstrap token", "does not know", "expired", "usage-bootstrap-authentication"}, // one answer for all
		resource.CauseForbidden:  {"system:node-bootstrapper"},
		resource.CauseDenied:     {"kubectl describe csr", "who refused"},
		resource.CauseUnapproved: {"kubectl get csr", "certificatesigningrequests:nodeclient"},
		resource.CauseSigner:     {"kubectl describe csr", "kube-controller-manager", "--cluster-signing-cert-file"},
		resource.CauseUnusable:   {"kubectl get csr", "--client-ca-file", "clock"},
	} {
		err := &apply.Error{Resource: "Certificate:kubelet-client", ExitCode: exitcode.CertificateRefused, Err: &apply.CheckError{Cause: cause, Err: syscall.EIO}}
		action := failures(err, exitcode.CertificateRefused, "")[0].Action
		for _, word := range words {
			if !strings.Contains(action, word) {
				t.Errorf("%s: %q does not have %q", cause, action, word)
			}
		}
		if other, twice := seen[action]; twice {
			t.Errorf("%s and %s have the same advice", cause, other)
		}
		seen[action] = cause
	}
}

// A failed advisory check is a warning of a success, and an additional error of a failure.
func TestAdvice(t *testing.T) {
	t.Parallel()
	advised := &apply.Error{Resource: "Check:client", ExitCode: exitcode.AttestedBootstrapFailed,
		Err: &apply.CheckError{Cause: "unit", Endpoint: "client.service", Err: errors.New("is failed")}}
	for _, err := range []error{nil, &apply.Error{Resource: "Check:token", ExitCode: exitcode.APIServerUnreachable, Err: syscall.EIO}} {
		var a Account
		a.Applied(&apply.Report{Advice: []error{advised}})
		r := a.Conclude(err, time.Time{}, func(code int) int { return code })
		s := r.Status
		if err == nil {
			if s.ExitCode != 0 || len(s.Errors) > 0 || len(s.Warnings) != 1 || s.Warnings[0].Endpoint != "client.service" || r.Text != "" {
				t.Errorf("a success: %+v", s)
			}
			continue
		}
		if s.ExitCode != exitcode.APIServerUnreachable || s.Error.Resource != "Check:token" || len(s.Errors) != 2 || len(s.Warnings) > 0 ||
			!strings.HasSuffix(r.Text, "client.service (unit): is failed") {
			t.Errorf("a failure: %+v, %s", s, r.Text)
		}
	}
}
