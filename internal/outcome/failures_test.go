package outcome

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
)

// Each of several failures has what to do about it, and not what to do about the one before.
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
	list := failures(err, exitcode.SysctlFailed)
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
	), exitcode.AgentFailed)
	own, _ := exitcode.Lookup(exitcode.AgentFailed)
	if list[0].Action != kubelet.Action || list[1].Action != own.Action {
		t.Errorf("%+v", list)
	}
	if text := Text(err); strings.Contains(text, "\n") || strings.Count(text, "; ") != 3 {
		t.Errorf("the text is %q", text)
	}
}
