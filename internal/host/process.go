package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Start starts a program that keeps running, without a shell, in "/", with a command's environment. Its output goes
// where the agent's goes. Keyboard signals to the agent do not reach it; it ends with the agent's service. signal sends
// it a signal, and returns an error after its end. ended gets one value at its end: nil, or the failure.
func (m *Machine) Start(argv []string) (signal func(os.Signal) error, ended <-chan error, err error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, nil, errors.New("start: has no program")
	}
	searchPath, variables := environment(nil)
	program, err := lookProgram(argv[0], searchPath)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Dir, cmd.Env = "/", variables
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := failpoint.Pass(failpoint.Change{Kind: failpoint.Command, Name: argv[0]}, cmd.Start); err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return cmd.Process.Signal, done, nil
}
