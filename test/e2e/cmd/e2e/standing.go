package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// standingCase is the case that makes a standing lab's node.
const standingCase = "aks-custom-data"

// standingDir is the directory of a standing lab's state.
func standingDir(cache string) string { return filepath.Join(cache, "standing") }

// processFile names the process of a standing lab.
func processFile(cache string) string { return standingDir(cache) + "-process" }

// standUp starts a cluster with one node, and leaves it running.
func standUp(ctx context.Context) error {
	cases, err := scenario.Load(filepath.Join("test", "e2e", "cases"), standingCase)
	if err != nil {
		return err
	}
	s, err := build(ctx, cases, parts.Kubernetes)
	if err != nil {
		return err
	}
	if running, err := standing(s.Cache); err != nil || running != 0 {
		return errors.Join(err, fmt.Errorf("a lab is running already, as process %d: end it with lab-down", running))
	}
	// The only way out of the sandbox is a socket that was opened outside.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer socket.Close()
	ready, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	document, err := json.Marshal(s)
	if err != nil {
		return err
	}
	cmd, err := lab.Command(context.WithoutCancel(ctx), "stand", string(document), "https://"+listener.Addr().String())
	if err != nil {
		return err
	}
	logPath := standingDir(s.Cache) + ".log"
	log, err := os.Create(logPath)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{socket, tell}
	cmd.SysProcAttr.Setsid = true
	if err := cmd.Start(); err != nil {
		return err
	}
	tell.Close()
	if err := writeProcess(s.Cache, cmd.Process.Pid); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	fmt.Println("the lab comes up; its log is", logPath)
	said, err := await(ctx, ready)
	if err != nil || said == "" {
		return errors.Join(err, standDown(context.WithoutCancel(ctx), s.Cache), fmt.Errorf("the lab did not come up, see %s", logPath))
	}
	fmt.Print(said)
	return nil
}

// await reads until the end, unless ctx is done before.
func await(ctx context.Context, from *os.File) (string, error) {
	defer context.AfterFunc(ctx, func() { from.Close() })()
	said, err := io.ReadAll(from)
	return string(said), errors.Join(err, ctx.Err())
}

// stand runs a standing lab, as its sandbox's first process, until a signal ends it.
func stand(ctx context.Context, args []string) error {
	var s setup
	if len(args) != 2 || !lab.Inside() {
		return errors.New("stand is called by lab only")
	}
	if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
		return err
	}
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	tell := os.NewFile(4, "ready")
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	cases, err := scenario.Load(filepath.Join(s.Repo, "test", "e2e", "cases"), standingCase)
	if err != nil {
		return err
	}
	runner, stop, err := s.start(ctx, standingDir(s.Cache), "lab")
	defer stop()
	if err != nil {
		return err
	}
	runner.Keep = true
	kubeconfig, err := runner.Lab.PKI.KubeconfigFor("admin", args[1])
	if err != nil {
		return err
	}
	go forward(listener, lab.HostAddress+":443")
	outcome := runner.Run(ctx, cases[0])
	scenario.PrintTimeline(os.Stdout, outcome)
	if outcome.Err != nil {
		return outcome.Err
	}
	fmt.Fprintf(tell, "the node is Ready\n\n  export KUBECONFIG=%s\n  %s get nodes\n\n  console log: %s\n  root's shell: socat -,rawer unix-connect:%s\n",
		kubeconfig, filepath.Join(s.Parts.Kubernetes, "kubectl"), outcome.Console, filepath.Join(filepath.Dir(outcome.Console), "shell"))
	tell.Close()
	<-ctx.Done()
	return nil
}

// forward forwards connections to an address.
func forward(listener net.Listener, to string) {
	for {
		in, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer out.Close()
			go func() {
				io.Copy(out, in)
				out.(*net.TCPConn).CloseWrite()
			}()
			io.Copy(in, out)
		}()
	}
}

// standDown ends a standing lab.
func standDown(ctx context.Context, cache string) error {
	pid, err := standing(cache)
	if err != nil || pid == 0 {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the lab: %w", err)
	}
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if pid, err := standing(cache); err != nil || pid == 0 {
			return err
		}
		if ctx.Err() != nil || time.Since(begin) > 30*time.Second {
			// The kernel ends all other processes with its sandbox's first one.
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// writeProcess records a standing lab's process: its number, and its start time, because numbers
// are reused.
func writeProcess(cache string, pid int) error {
	started, err := startOf(pid)
	if err != nil {
		return err
	}
	return os.WriteFile(processFile(cache), fmt.Appendf(nil, "%d %s\n", pid, started), 0o644)
}

// standing returns the process number of a standing lab, or 0.
func standing(cache string) (int, error) {
	text, err := os.ReadFile(processFile(cache))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	number, started, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", processFile(cache), err)
	}
	if now, err := startOf(pid); err != nil || now != started {
		return 0, os.Remove(processFile(cache))
	}
	return pid, nil
}

// startOf returns a process's start time, in the kernel's ticks. It returns "" for a dead process.
func startOf(pid int) (string, error) {
	file, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	line, err := bufio.NewReader(file).ReadString('\n')
	if err != nil {
		return "", err
	}
	// The name, in parentheses, may contain any character. State follows it, and the start is 19
	// after that.
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 || fields[0] == "Z" {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	return fields[19], nil
}
