package host

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Process is a program that goes on. It ends with the service that the agent is.
type Process struct {
	process *os.Process
	done    chan error
}

// Start starts a program, without a shell, in "/", with the surroundings that a command has. It writes where the agent
// does, and no key that ends the agent ends it.
func (m *Machine) Start(argv []string) (*Process, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("start: has no program")
	}
	program, err := lookProgram(argv[0], commandEnv["PATH"])
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Dir = "/"
	for _, name := range slices.Sorted(maps.Keys(commandEnv)) {
		cmd.Env = append(cmd.Env, name+"="+commandEnv[name])
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := failpoint.Pass(failpoint.Change{Kind: failpoint.Command, Name: argv[0]}, cmd.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	p := &Process{process: cmd.Process, done: make(chan error, 1)}
	go func() { p.done <- cmd.Wait() }()
	return p, nil
}

// Interrupt asks the program to end, Kill ends it. Both are an error where it has ended.
func (p *Process) Interrupt() error { return p.process.Signal(unix.SIGINT) }

// Kill ends the program.
func (p *Process) Kill() error { return p.process.Kill() }

// Done has one value when the program has ended: nil, or how it has failed.
func (p *Process) Done() <-chan error { return p.done }
