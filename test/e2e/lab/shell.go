package lab

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Shell runs commands as root in a machine, over its second serial port: it needs no network, and
// nothing in the machine but systemd's debug shell.
type Shell struct {
	path string
	mu   sync.Mutex
	conn net.Conn
	in   *bufio.Reader
	last int
}

// maxLine is the longest line that a terminal takes.
const maxLine = 3000

// Wait waits until the machine has a shell. unhealthy says why there will be none.
func (s *Shell) Wait(ctx context.Context, unhealthy func() error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := s.Run(attempt, "true")
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the machine gives no shell: %w", err)
		}
		if why := unhealthy(); why != nil {
			return fmt.Errorf("the machine gives no shell: %w", why)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Result is what a command in a machine came to.
type Result struct {
	Output string
	Code   int
}

// Run runs a command line of bash, and returns its output, both streams in one.
func (s *Shell) Run(ctx context.Context, command string) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	result, err := s.run(ctx, command)
	if err != nil {
		s.close()
	}
	return result, err
}

func (s *Shell) run(ctx context.Context, command string) (Result, error) {
	if err := s.connect(); err != nil {
		return Result{}, err
	}
	defer context.AfterFunc(ctx, func() { s.conn.SetDeadline(time.Unix(1, 0)) })()
	s.last++
	mark := fmt.Sprintf("@@%d@", s.last)
	// The mark is split, so that its echo is not taken for it.
	half := len(mark) / 2
	var script strings.Builder
	script.WriteString("\nstty -echo 2>/dev/null; PS1= PS2=; set +m\nc=\n")
	for text := base64.StdEncoding.EncodeToString([]byte(command)); text != ""; {
		n := min(len(text), maxLine)
		fmt.Fprintf(&script, "c=${c}%s\n", text[:n])
		text = text[n:]
	}
	script.WriteString(`o=$(bash -c "$(echo $c | base64 -d)" 2>&1 </dev/null | gzip -1 | base64 -w0; exit ${PIPESTATUS[0]}); r=$?` + "\n")
	fmt.Fprintf(&script, "echo; echo '%s''%s'$r' '$o' .'\n", mark[:half], mark[half:])
	if _, err := s.conn.Write([]byte(script.String())); err != nil {
		return Result{}, err
	}
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return Result{}, fmt.Errorf("in the machine: %s: %w", firstWords(command), err)
		}
		if _, rest, found := strings.Cut(line, mark); found {
			return parseAnswer(rest)
		}
	}
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

func (s *Shell) connect() error {
	if s.conn != nil {
		return nil
	}
	conn, err := net.Dial("unix", s.path)
	if err != nil {
		return err
	}
	s.conn, s.in = conn, bufio.NewReaderSize(conn, 1<<16)
	return nil
}

func (s *Shell) close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// Close ends the connection; the next command makes a new one.
func (s *Shell) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close()
}

// Output runs a command that must succeed.
func (s *Shell) Output(ctx context.Context, command string) (string, error) {
	result, err := s.Run(ctx, command)
	if err == nil && result.Code != 0 {
		err = errors.New(firstWords(command) + ": exit code " + strconv.Itoa(result.Code) + ": " + strings.TrimSpace(result.Output))
	}
	return result.Output, err
}

// WriteFile writes a file in the machine, for root's eyes only.
func (s *Shell) WriteFile(ctx context.Context, path string, content []byte) error {
	_, err := s.Output(ctx, "umask 077; echo "+base64.StdEncoding.EncodeToString(content)+" | base64 -d > '"+path+".new' && mv '"+path+".new' '"+path+"'")
	return err
}

// firstWords is enough of a text to know it by.
func firstWords(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 80 {
		return text[:80] + "..."
	}
	return text
}
