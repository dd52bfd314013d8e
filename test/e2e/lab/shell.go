package lab

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Shell runs commands as root in a machine, over its second serial port: it needs no network, and nothing in the machine except
// systemd's debug shell.
type Shell struct {
	conn net.Conn
	mu   sync.Mutex
	last int
	// lines are the lines that the machine writes. There is one connection for the machine's whole life, because a serial port has
	// only one.
	lines chan string

	// prompted is closed at the shell's first prompt, whose time is spoke.
	prompted chan struct{}
	spoke    time.Time
}

// ErrNoShell is the error of a command for a machine that has given no shell until now.
var ErrNoShell = errors.New("the machine has no shell yet")

// maxLine is the longest line that a terminal accepts.
const maxLine = 3000

// dialShell connects to a machine's serial port, as soon as QEMU has made it. unhealthy returns why there will never be one.
func dialShell(ctx context.Context, path string, unhealthy func() error) (*Shell, error) {
	for {
		conn, err := net.Dial("unix", path)
		if err == nil {
			s := &Shell{conn: conn, lines: make(chan string, 64), prompted: make(chan struct{})}
			go s.read()
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the machine has no serial port: %w", err)
		case <-time.After(10 * time.Millisecond):
			if why := unhealthy(); why != nil {
				return nil, fmt.Errorf("the machine has no serial port: %w", why)
			}
		}
	}
}

// wake makes a shell print again that was at its prompt when the machine was saved.
func (s *Shell) wake() error { return s.tell("\necho '#'") }

// tell writes a line to the machine's serial port.
func (s *Shell) tell(line string) error {
	_, err := s.conn.Write([]byte(line + "\n"))
	return err
}

// read forwards the machine's output, until the connection ends.
func (s *Shell) read() {
	defer close(s.lines)
	var pending []byte
	var prompted bool
	chunk := make([]byte, 1<<16)
	for {
		n, err := s.conn.Read(chunk)
		if err != nil {
			return
		}
		pending = append(pending, chunk[:n]...)
		if !prompted && bytes.ContainsRune(pending, '#') { // root's prompt
			s.spoke = time.Now()
			close(s.prompted)
			pending, prompted = nil, true
		}
		for {
			line, rest, whole := bytes.Cut(pending, []byte{'\n'})
			if !whole {
				break
			}
			if bytes.Contains(line, []byte("@@")) {
				s.lines <- string(line)
			}
			pending = rest
		}
	}
}

// Wait waits until the machine has a shell. unhealthy returns why there will never be one.
func (s *Shell) Wait(ctx context.Context, unhealthy func() error) error {
	for {
		select {
		case <-s.prompted:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("the machine gives no shell: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
			if why := unhealthy(); why != nil {
				return fmt.Errorf("the machine gives no shell: %w", why)
			}
		}
	}
}

// Spoke returns when the machine first had a shell. Call it after Wait has returned.
func (s *Shell) Spoke() time.Time {
	<-s.prompted
	return s.spoke
}

// Result is the result of a command in a machine.
type Result struct {
	Output string
	Code   int
}

// Run runs a bash command line, and returns its output, with both streams merged.
func (s *Shell) Run(ctx context.Context, command string) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.prompted:
	default:
		return Result{}, ErrNoShell
	}
	s.last++
	mark := fmt.Sprintf("@@%d@", s.last)
	if _, err := s.conn.Write([]byte(shellScript(command, mark))); err != nil {
		return Result{}, err
	}
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				return Result{}, errors.New("the machine's serial port is closed")
			}
			if _, rest, found := strings.Cut(line, mark); found {
				return parseAnswer(rest)
			}
		case <-ctx.Done():
			// The command is interrupted, as at a terminal, because the next command may find out why it took so long.
			return Result{}, errors.Join(fmt.Errorf("in the machine: %s: %w", firstWords(command), ctx.Err()), s.tell("\x03"))
		}
	}
}

// shellScript runs a command so that its answer is one line that begins with the mark.
func shellScript(command, mark string) string {
	var script strings.Builder
	script.WriteString("\nstty -echo 2>/dev/null; PS1= PS2=; set +m\nc=\n")
	for text := base64.StdEncoding.EncodeToString([]byte(command)); text != ""; {
		n := min(len(text), maxLine)
		fmt.Fprintf(&script, "c=${c}%s\n", text[:n])
		text = text[n:]
	}
	script.WriteString(`o=$(bash -c "$(echo $c | base64 -d)" 2>&1 </dev/null | gzip -1 | base64 -w0; exit ${PIPESTATUS[0]}); r=$?` + "\n")
	// The mark is split, so that its echo is not taken for it.
	half := len(mark) / 2
	fmt.Fprintf(&script, "echo; echo '%s''%s'$r' '$o' .'\n", mark[:half], mark[half:])
	return script.String()
}

// parseAnswer reads "CODE BASE64 .".
func parseAnswer(text string) (Result, error) {
	fields := strings.Fields(text)
	if len(fields) != 3 || fields[2] != "." {
		return Result{}, fmt.Errorf("the machine's shell answers %q", firstWords(text))
	}
	code, err := strconv.Atoi(fields[0])
	if err != nil {
		return Result{}, err
	}
	output, err := gunzip(fields[1])
	return Result{output, code}, err
}

// Release leaves the shell to other clients, with an echo and a prompt for people.
func (s *Shell) Release() {
	// The machine runs on; a less convenient shell is no reason to fail.
	_, _ = s.conn.Write([]byte("\nstty echo 2>/dev/null; PS1='\\h:\\w# '\n"))
	s.conn.Close()
}

// Close ends the connection.
func (s *Shell) Close() { s.conn.Close() }

// Output runs a command that must succeed.
func (s *Shell) Output(ctx context.Context, command string) (string, error) {
	result, err := s.Run(ctx, command)
	if err == nil && result.Code != 0 {
		err = errors.New(firstWords(command) + ": exit code " + strconv.Itoa(result.Code) + ": " + strings.TrimSpace(result.Output))
	}
	return result.Output, err
}

// WriteFile writes a file in the machine that only root can read.
func (s *Shell) WriteFile(ctx context.Context, path string, content []byte) error {
	_, err := s.Output(ctx, "umask 077; echo "+base64.StdEncoding.EncodeToString(content)+" | base64 -d > '"+path+".new' && mv '"+path+".new' '"+path+"'")
	return err
}

// firstWords shortens a text to its beginning.
func firstWords(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 80 {
		return text[:80] + "..."
	}
	return text
}

// gunzip decodes base64 of gzip.
func gunzip(text string) (string, error) {
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(r)
	return string(plain), err
}
