package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// maxOutput is how much of a command's output is kept, from its end: the reason of a failure is usually there.
	maxOutput = 4 << 10
	// killGrace is how long a command has after SIGTERM. It is also how long its output is read after its end, if a
	// process that it started still holds the output.
	killGrace = 5 * time.Second
)

// commandEnv is a command's whole environment, unless the plan adds to it: the agent's environment may hold secrets,
// and differs from run to run.
var commandEnv = map[string]string{
	"HOME": "/root",
	"LANG": "C",
	"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}

// environment returns a command's whole environment, and the path for finding its program. A variable of the plan
// replaces a usual one.
func environment(more map[string]string) (searchPath string, variables []string) {
	env := maps.Clone(commandEnv)
	maps.Copy(env, more)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		variables = append(variables, name+"="+env[name])
	}
	return env["PATH"], variables
}

// Run runs a command, without a shell, in "/", and returns the last 4 KiB of its output. After its timeout, or when ctx
// is done, the command and all its processes get SIGTERM, and SIGKILL 5 seconds later. Errors do not contain its
// arguments and environment.
func (m *Machine) Run(ctx context.Context, command *resource.Command) ([]byte, error) {
	var output []byte
	var err error
	change := failpoint.Change{Kind: failpoint.Command, Name: command.Label}
	if command.Unconfined && confined() {
		err = m.runOutside(ctx, change, command)
	} else {
		err = failpoint.Pass(change, func() (err error) {
			output, err = run(ctx, command, killGrace)
			return err
		})
	}
	if err != nil {
		return output, fmt.Errorf("command %q: %w", command.Label, err)
	}
	return output, nil
}

// IsDone runs the program that shows whether a command is done. If that cannot run, the command is not done.
func (m *Machine) IsDone(ctx context.Context, command *resource.Command) bool {
	show := &resource.Command{Label: command.Label, Argv: command.Done.Argv, Env: command.Env, Timeout: command.Timeout}
	output, err := run(ctx, show, killGrace)
	return err == nil && command.Done.In(output)
}

// commandService is the unit in which systemd runs a command that needs the machine's main file system view.
const commandService = "slipway-command.service"

// runOutside makes systemd run a command. The journal has its output.
func (m *Machine) runOutside(ctx context.Context, change failpoint.Change, command *resource.Command) error {
	if command.OwnCode {
		return errConfined // systemd reports only that it failed
	}
	if command.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, command.Timeout.Std())
		defer cancel()
	}
	err := m.Manager.Run(ctx, change, commandService, serviceArgv(command))
	if ctx.Err() != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), killGrace)
		defer cancel()
		err = errors.Join(err, m.StopUnit(stop, commandService))
	}
	return err
}

// serviceArgv is a command line for a service: with its whole environment, and with everything escaped that systemd
// would take for a variable (systemd.service(5), "Command lines").
func serviceArgv(command *resource.Command) []string {
	_, variables := environment(command.Env)
	argv := slices.Concat([]string{"/usr/bin/env", "-i"}, variables, command.Argv)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "$", "$$")
	}
	return argv
}

// errConfined is why a command that needs the main file system view does not run.
var errConfined = errors.New("the agent runs in a unit with a private file system (ProtectSystem=, PrivateMounts=), " +
	"in which no script can set up a machine: start the agent from a unit without them, as AKS's images do")

// confined reports whether this process has another mount namespace than the machine's first process. If it may not
// read that, the result is false.
func confined() bool {
	own, err := os.Readlink("/proc/self/ns/mnt")
	first, errFirst := os.Readlink("/proc/1/ns/mnt")
	return err == nil && errFirst == nil && own != first
}

func run(ctx context.Context, command *resource.Command, grace time.Duration) ([]byte, error) {
	if len(command.Argv) == 0 || command.Argv[0] == "" {
		return nil, errors.New("has no program")
	}
	if command.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, command.Timeout.Std())
		defer cancel()
	}
	searchPath, variables := environment(command.Env)
	program, err := lookProgram(command.Argv[0], searchPath)
	if err != nil {
		return nil, err
	}

	var output tail
	cmd := exec.CommandContext(ctx, program, command.Argv[1:]...)
	cmd.Args[0] = command.Argv[0]
	if nice, err := lookProgram("nice", searchPath); err == nil && command.Advisory { // nothing waits for an advisory command
		cmd.Path, cmd.Args = nice, append([]string{"nice", "-n", "19", program}, command.Argv[1:]...)
	}
	cmd.Dir, cmd.Env = "/", variables
	if !command.Stdin.IsZero() {
		cmd.Stdin = strings.NewReader(command.Stdin.Reveal())
	}
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = grace

	err = cmd.Run()
	if err != nil && ctx.Err() != nil && cmd.Process != nil {
		// The command itself has ended or was killed; its child processes may still run.
		signalGroup(cmd.Process.Pid, unix.SIGKILL)
	}
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		// It succeeded, but left a process behind that still holds its output.
		return output.bytes(), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && command.Timeout > 0:
		return output.bytes(), fmt.Errorf("did not end within %s: %w", command.Timeout, ctx.Err())
	case ctx.Err() != nil:
		return output.bytes(), ctx.Err()
	}
	return output.bytes(), err
}

// signalGroup signals a process group. The group has the number of its first process.
func signalGroup(pid int, signal syscall.Signal) error {
	err := unix.Kill(-pid, signal)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// lookProgram finds a program as a shell does, with the command's PATH and not the agent's.
func lookProgram(program, searchPath string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			return "", fmt.Errorf("program %q: must be an absolute path or a plain name: %w", program, fs.ErrInvalid)
		}
		return program, nil
	}
	for dir := range strings.SplitSeq(searchPath, ":") {
		if !filepath.IsAbs(dir) {
			continue // a relative entry depends on the working directory
		}
		name := filepath.Join(dir, program)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return name, nil
		}
	}
	return "", fmt.Errorf("program %q: not found in %s: %w", program, searchPath, exec.ErrNotFound)
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	if len(p) >= maxOutput {
		t.kept = append(t.kept[:0], p[len(p)-maxOutput:]...)
		return len(p), nil
	}
	if excess := len(t.kept) + len(p) - maxOutput; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	t.kept = append(t.kept, p...)
	return len(p), nil
}

func (t *tail) bytes() []byte { return t.kept }
