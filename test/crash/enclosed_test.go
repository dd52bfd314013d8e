//go:build failpoint

package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// enclosedEnv makes this program enter a directory as its whole machine and execute a program there. Its value: ROOT PROGRAM.
const enclosedEnv = "SLIPWAY_CRASH_ENCLOSED"

const (
	// enclosedProgram is the agent's path in the directory.
	enclosedProgram = "/slipway-node"
	// notEntered is the exit code if the kernel does not let this program enter. The agent has no such code.
	notEntered = 77
)

// enclosed is the agent as it is delivered, on a directory that it takes for the machine, because with --root it would not
// download. It is the superuser of a user namespace, so it cannot change the real machine. Its mounts are not visible outside.
func enclosed(root, program string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = []string{fmt.Sprintf("%s=%s %s", enclosedEnv, root, program)}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	return cmd, nil
}

// enter enters the directory, and executes the agent.
func enter() int {
	root, program, _ := strings.Cut(os.Getenv(enclosedEnv), " ")
	err := unix.Mount("/proc", root+"/proc", "", unix.MS_BIND|unix.MS_REC, "")
	if err == nil {
		err = unix.Mount(program, root+enclosedProgram, "", unix.MS_BIND, "")
	}
	if err == nil {
		err = unix.Chroot(root)
	}
	if err == nil {
		err = os.Chdir("/")
	}
	if err == nil {
		err = unix.Exec(enclosedProgram, append([]string{enclosedProgram}, os.Args[1:]...), []string{"PATH=/usr/bin"})
	}
	fmt.Fprintln(os.Stderr, err)
	return notEntered
}

// canEnclose skips a test if the kernel does not let this user make a namespace, or mount in it.
func canEnclose(t *testing.T, program string) {
	t.Helper()
	root := newRoot()
	defer os.RemoveAll(root)
	if err := enclosure().write(root); err != nil {
		t.Fatal(err)
	}
	cmd, err := enclosed(root, program, "--version")
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOSPC), errors.As(err, &exit) && exit.ExitCode() == notEntered:
		t.Skipf("user namespaces are needed: %v: %s", err, out)
	case err != nil:
		t.Fatalf("%v: %s", err, out)
	}
}

// enclosure is a minimal directory that a process can enter.
func enclosure() tree {
	return tree{
		"/proc":         {mode: os.ModeDir | 0o755, uid: madeBy.uid, gid: madeBy.gid},
		enclosedProgram: {mode: 0o755, uid: madeBy.uid, gid: madeBy.gid},
	}
}
