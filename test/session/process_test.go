package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hang is the time after which the test fails if a process does not continue.
const hang = 2 * time.Minute

// process is the agent, which stops before each rename.
type process struct {
	cmd     *exec.Cmd
	reached *bufio.Reader
	goOn    *os.File
	// streams are the other ends of its output: of standard output and standard error, or of a
	// terminal.
	streams []*stream
	closed  []*os.File
	// hung ends a process that does not continue.
	hung *time.Timer
}

// stream reads an output.
type stream struct {
	// end is this side's file, and inner the process's, as long as one of them must stay open.
	end, inner *os.File
	// full means that the test does not read, and that the buffer is full.
	full bool
	// text is what was read; done is closed when the test has stopped reading.
	text bytes.Buffer
	done chan struct{}
}

// joined is how the process is connected to its session.
type joined int

const (
	byPipes joined = iota
	bySocket
	byTerminal
)

// connect makes the ends of the output.
func connect(how joined) ([]*stream, error) {
	switch how {
	case bySocket:
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		return []*stream{{end: pollable(fds[0]), inner: os.NewFile(uintptr(fds[1]), "socket")}}, nil
	case byTerminal:
		return terminal()
	}
	var both []*stream
	for range 2 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		both = append(both, &stream{end: r, inner: w})
	}
	return both, nil
}

// pollable is a file whose reader can be stopped.
func pollable(fd int) *os.File {
	_ = unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), "end")
}

// terminal makes a terminal.
func terminal() ([]*stream, error) {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	return []*stream{{end: pollable(master), inner: slave}}, err
}

// start starts the agent.
func start(how joined, args ...string) (*process, error) {
	streams, err := connect(how)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program, args...), streams: streams}
	reached, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	wait, goOn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.reached, p.goOn = bufio.NewReader(reached), goOn
	p.cmd.Env = append(os.Environ(), "SLIPWAY_GATE=1", "TERM=xterm")
	p.cmd.ExtraFiles = []*os.File{tell, wait}
	p.cmd.Stdout, p.cmd.Stderr = streams[0].inner, streams[len(streams)-1].inner
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if how == byTerminal {
		p.cmd.Stdin, p.cmd.SysProcAttr.Setctty = streams[0].inner, true
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	tell.Close()
	wait.Close()
	for _, s := range streams {
		s.done = make(chan struct{})
		go s.read()
	}
	p.closed = []*os.File{reached, goOn}
	p.hung = time.AfterFunc(hang, func() { _ = p.cmd.Process.Kill() })
	return p, nil
}

// read reads until the end, or until it is stopped.
func (s *stream) read() {
	defer close(s.done)
	_, _ = io.Copy(&s.text, s.end)
}

// close ends the reader: later writes fail.
func (s *stream) close() {
	s.inner.Close()
	s.end.Close()
}

// stop stops reading.
func (s *stream) stop() {
	_ = s.end.SetReadDeadline(time.Unix(1, 0))
	<-s.done
}

// resume starts reading again.
func (s *stream) resume() {
	_ = s.end.SetReadDeadline(time.Time{})
	s.done = make(chan struct{})
	go s.read()
}

// resume starts reading the filled streams again.
func (p *process) resume() {
	for _, s := range p.streams {
		if s.full {
			s.full = false
			s.resume()
		}
	}
}

// fill stops reading, and fills the buffer to the last byte.
func (s *stream) fill() error {
	s.stop()
	s.full = true
	// It uses a separate file description, so that the process's own one keeps its blocking mode.
	full, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", s.inner.Fd()), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(full)
	for size := 4096; size > 0; {
		_, err := unix.Write(full, make([]byte, size))
		switch {
		case errors.Is(err, unix.EAGAIN):
			size /= 2
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		}
	}
	return nil
}

// next waits for the next rename, and returns it. It returns false if the process has ended.
func (p *process) next() (string, bool) {
	line, err := p.reached.ReadString('\n')
	return line, err == nil
}

// proceed lets the process do the rename before which it has stopped.
func (p *process) proceed() { _, _ = p.goOn.Write([]byte{0}) }

// end waits for the process's end, and returns its exit code and output.
func (p *process) end() (code int, text string, err error) {
	defer p.hung.Stop()
	err = p.cmd.Wait()
	for _, s := range p.streams {
		s.inner.Close()
		if p.cmd.Stdin != nil {
			s.stop() // a terminal that no process has open does not report the end of the file
		}
		<-s.done
		s.end.Close()
		text += s.text.String()
	}
	for _, f := range p.closed {
		f.Close()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, text, err
	}
	state := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if state.Signaled() || state.ExitStatus() == 2 {
		return 0, text, fmt.Errorf("the agent was ended in the middle: %s: %s", p.cmd.ProcessState, tail(text))
	}
	return state.ExitStatus(), text, nil
}

// tail is the end of a text.
func tail(text string) string { return text[max(0, len(text)-600):] }
