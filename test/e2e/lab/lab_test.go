package lab

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// logOf is a block log with sectors of 512 bytes; each entry's data are its letter.
type logOf struct{ bytes.Buffer }

func newLog() *logOf {
	l := &logOf{}
	l.sector(blockLogMagic, 1, 0, 512)
	return l
}

func (l *logOf) sector(fields ...uint64) {
	var sector [512]byte
	for i, f := range fields {
		binary.LittleEndian.PutUint64(sector[8*i:], f)
	}
	l.Write(sector[:])
}

func (l *logOf) write(sector, count uint64, letter byte) {
	l.sector(sector, count, 0, 0)
	l.Write(bytes.Repeat([]byte{letter}, int(count)*512))
}

func (l *logOf) flush() { l.sector(0, 0, blockFlush, 0) }

// disk is a disk of a few sectors.
type disk [8 * 512]byte

func (d *disk) WriteAt(p []byte, offset int64) (int, error) {
	return copy(d[offset:], p), nil
}

func (d *disk) ReadAt(p []byte, offset int64) (int, error) {
	return copy(p, d[offset:]), nil
}

// letters are the first bytes of the disk's sectors.
func (d *disk) letters() string {
	var s []byte
	for i := 0; i < len(d); i += 512 {
		s = append(s, max(d[i], '.'))
	}
	return string(s)
}

func TestBlockLog(t *testing.T) {
	l := newLog()
	l.write(0, 2, 'a')
	l.flush()
	l.write(1, 1, 'b')
	l.sector(0, 8, blockDiscard, 0)
	l.flush()
	l.write(3, 1, 'c')
	l.write(4, 1, 'd')
	l.flush()
	l.write(7, 1, 'e')
	whole := l.Bytes()
	log, err := ReadBlockLog(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	flushes := log.Flushes(0, int64(len(whole)))
	if !slices.Equal(flushes, []int{1, 4, 7}) || len(log.Entries) != 9 {
		t.Fatalf("the flushes are %v of %d entries", flushes, len(log.Entries))
	}
	if second := log.Flushes(log.Entries[1].End, log.Entries[4].End); !slices.Equal(second, []int{4}) {
		t.Errorf("the flushes of a part are %v", second)
	}
	none := func(int) bool { return false }
	var d disk
	done := 0
	for _, c := range []struct {
		flush int
		early func(int) bool
		want  string
	}{
		{1, none, "aa......"},
		{4, none, "ab......"},
		{4, func(n int) bool { return n == 1 }, "ab..d..."},
		{7, none, "ab.cd..."},
		{7, func(int) bool { return true }, "ab.cd..e"},
	} {
		if err := log.Replay(&d, done, c.flush); err != nil {
			t.Fatal(err)
		}
		done = c.flush + 1
		before := d.letters()
		undo, err := log.ReplayEarly(&d, c.flush, c.early)
		if err != nil || d.letters() != c.want {
			t.Errorf("after flush %d the disk is %s, %v, want %s", c.flush, d.letters(), err, c.want)
		}
		if err := undo(); err != nil || d.letters() != before {
			t.Errorf("without the early writes after flush %d the disk is %s, %v, want %s", c.flush, d.letters(), err, before)
		}
	}
}

func TestBlockLogThatEndsEarly(t *testing.T) {
	l := newLog()
	l.write(0, 1, 'a')
	l.flush()
	kept := l.Len()
	l.write(1, 2, 'b')
	for size := kept; size < l.Len(); size += 100 {
		log, err := ReadBlockLog(bytes.NewReader(l.Bytes()[:size]), int64(size))
		if err != nil || len(log.Entries) != 2 {
			t.Errorf("a log of %d bytes has %d entries, %v, want 2", size, len(log.Entries), err)
		}
	}
}

func TestInvalidBlockLog(t *testing.T) {
	huge := newLog()
	huge.sector(0, 1<<62, 0, 0)
	odd := &logOf{}
	odd.sector(blockLogMagic, 1, 0, 3)
	for name, content := range map[string][]byte{
		"empty": nil, "zeros": make([]byte, 1024), "huge entry": huge.Bytes(), "odd sectors": odd.Bytes(),
	} {
		if _, err := ReadBlockLog(bytes.NewReader(content), int64(len(content))); err == nil {
			t.Errorf("%s is taken for a block log", name)
		}
	}
}

// machineShell serves a shell at a machine's serial port: a real bash, without a terminal's echo.
func machineShell(t *testing.T) *Shell {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	path := filepath.Join(t.TempDir(), "shell")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			ended <- err
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "noise\nroot@node:/# ")
		bash := exec.CommandContext(ctx, "bash", "--norc")
		bash.Stdin, bash.Stdout, bash.Stderr = conn, conn, conn
		bash.WaitDelay = time.Second
		ended <- bash.Run()
	}()
	shell, err := dialShell(ctx, path, well)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		shell.Close()
		cancel()
		listener.Close()
		<-ended
	})
	return shell
}

// well is the check of a healthy machine.
func well() error { return nil }

func TestShell(t *testing.T) {
	shell := machineShell(t)
	ctx := t.Context()
	if err := shell.Wait(ctx, well); err != nil {
		t.Fatal(err)
	}
	if shell.Spoke().IsZero() {
		t.Error("it is not known when the shell spoke")
	}
	long := strings.Repeat("x", 3*maxLine)
	for _, c := range []struct {
		command string
		want    Result
	}{
		{"echo out; echo err >&2; exit 7", Result{"out\nerr\n", 7}},
		{"echo '@@1@ # not a mark'", Result{"@@1@ # not a mark\n", 0}},
		{"echo " + long, Result{long + "\n", 0}},
		{"true", Result{"", 0}},
	} {
		got, err := shell.Run(ctx, c.command)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", firstWords(c.command), got, err, c.want)
		}
	}
	if _, err := shell.Output(ctx, "exit 1"); err == nil {
		t.Error("a command that fails is taken for one that does not")
	}
}

func TestShellThatNeverComes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shell")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	broken := errors.New("kernel panic")
	if _, err := dialShell(t.Context(), path+"-none", func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("without a serial port dialling ends with %v, want %v", err, broken)
	}
	shell, err := dialShell(t.Context(), path, well)
	if err != nil {
		t.Fatal(err)
	}
	defer shell.Close()
	if err := shell.Wait(t.Context(), func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("waiting ends with %v, want %v", err, broken)
	}
}

func TestProcessThatIsAwaited(t *testing.T) {
	l := &Lab{dir: t.TempDir()}
	start := func(script string) *Process {
		p, err := l.start(t.Context(), "server", nil, "sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	asked := 0
	p := start("exec sleep 1000")
	err := p.await(t.Context(), func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || asked != 3 {
		t.Errorf("after %d questions: %v, want 3 and none", asked, err)
	}
	err = start("echo no such flag; exit 1").await(t.Context(), func(context.Context) error { return errors.New("not yet") })
	if err == nil || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("waiting for a program that has ended: %v, want its last words", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.await(over, func(context.Context) error { return errors.New("not yet") }); err == nil || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("waiting that is given up: %v, want why", err)
	}
}

func TestArtifactsScript(t *testing.T) {
	script := artifactsScript(map[string]string{"b.txt": "echo b", "a.txt": "echo a"})
	if err := exec.Command("bash", "-n", "-c", script).Run(); err != nil {
		t.Errorf("the script is invalid: %v\n%s", err, script)
	}
	if strings.Index(script, "echo a") > strings.Index(script, "echo b") {
		t.Error("the order differs from run to run")
	}
}

func TestNewToken(t *testing.T) {
	id, secret, _ := strings.Cut(NewToken(), ".")
	if len(id) != 6 || len(secret) != 16 || strings.ToLower(id+secret) != id+secret {
		t.Errorf("%s.%s is not a bootstrap token", id, secret)
	}
}
