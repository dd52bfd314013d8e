package host

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/test/hosttest"
)

func TestFileSystem(t *testing.T) {
	m, at := newMachine(t, hosttest.NewBus())
	m.statfs = func(path string, about *unix.Statfs_t) error {
		if path != strings.TrimSuffix(at("/"), "/")+"/var" {
			return unix.ENOENT
		}
		*about = unix.Statfs_t{Bsize: 4096, Blocks: 1000, Bfree: 600, Bavail: 500, Files: 100, Ffree: 40, Flags: unix.ST_RDONLY}
		return nil
	}
	got, err := m.FileSystem("/var/lib/kubelet")
	if want := (FileSystem{4096 * 1000, 4096 * 500, 100, 40, true}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	m.statfs = func(string, *unix.Statfs_t) error { return unix.EIO }
	if _, err := m.FileSystem("/var"); err == nil || !strings.Contains(err.Error(), "file system of /var") {
		t.Errorf("got %v", err)
	}
}

// sockets is a table of the kernel (proc(5)).
const sockets = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2808 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:280A 0100007F:A000 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000 100 0 0 10 0
   2: short
`

func TestListener(t *testing.T) {
	m, at := newMachine(t, hosttest.NewBus())
	write(t, at("/proc/net/tcp"), sockets)
	write(t, at("/proc/812/comm"), "nginx\n")
	write(t, at("/proc/812/cgroup"), "0::/system.slice/nginx.service/workers\n")
	write(t, at("/proc/900/comm"), "other\n")
	must(t, os.MkdirAll(at("/proc/812/fd"), 0o755))
	must(t, os.Symlink("socket:[4711]", at("/proc/812/fd/3")))
	got, err := m.Listener(t.Context(), 0x2808)
	if want := (Process{812, "nginx", "nginx.service"}); err != nil || got == nil || *got != want {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.Listener(t.Context(), 0x280A); err != nil || got != nil { // only connected
		t.Errorf("%v, %v", got, err)
	}
	must(t, os.Remove(at("/proc/812/fd/3")))
	if got, err := m.Listener(t.Context(), 0x2808); err != nil || got == nil || got.PID != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// The kernel's own table has this process.
func TestListenerOfTheKernel(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	number, _ := strconv.Atoi(port)
	m, err := OpenMachine()
	must(t, err)
	defer m.Close()
	if got, err := m.Listener(t.Context(), uint16(number)); err != nil || got == nil || got.PID != os.Getpid() || got.Name == "" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestUnitOfAProcess(t *testing.T) {
	for groups, want := range map[string]string{
		"0::/system.slice/kubelet.service\n":                       "kubelet.service",
		"12:pids:/kubepods/x\n0::/init.scope\n":                    "init.scope",
		"0::/kubepods.slice/kubepods-pod1.slice/cri-1.scope/a/b\n": "cri-1.scope",
		"0::/\n":   "",
		"rubbish":  "",
		"0::/a/b/": "",
	} {
		if got := unitOf(groups); got != want {
			t.Errorf("%q: %q, want %q", groups, got, want)
		}
	}
}

func TestAskHealthz(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	code := http.StatusOK
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); w.Write([]byte("syncloop")) })}
	go server.Serve(listener)
	m, _ := newMachine(t, hosttest.NewBus())
	url := "http://" + listener.Addr().String() + "/healthz"
	if answered, err := m.AskHealthz(t.Context(), url); !answered || err != nil {
		t.Errorf("%v, %v", answered, err)
	}
	code = http.StatusInternalServerError
	if answered, err := m.AskHealthz(t.Context(), url); !answered || err == nil || !strings.Contains(err.Error(), "500: syncloop") {
		t.Errorf("%v, %v", answered, err)
	}
	server.Close()
	if answered, err := m.AskHealthz(t.Context(), url); answered || err == nil {
		t.Errorf("%v, %v", answered, err)
	}
	if _, err := m.AskHealthz(t.Context(), "http://192.0.2.1/healthz"); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("got %v", err)
	}
}

// A socket whose server does not answer is not confused with one without a server.
func TestRuntimeThatHangs(t *testing.T) {
	dir := t.TempDir()
	m, _ := newMachine(t, hosttest.NewBus())
	if _, err := m.RuntimeConditions(t.Context(), filepath.Join(dir, "missing")); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v", err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	defer listener.Close()
	ctx := hosttest.NewTimed(t)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
		}
		ctx.Over()
		<-ctx.Done()
	}()
	if _, err := m.RuntimeConditions(ctx, filepath.Join(dir, "s")); err == nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}
