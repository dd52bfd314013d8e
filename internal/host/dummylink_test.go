package host

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// The kernel makes the interface, once, and removes it.
func TestDummy(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("who runs this may not make interfaces")
	}
	onThread(func() {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Logf("no separate network: %v", err)
			return
		}
		testDummy(t)
	})
}

// onThread calls a function on a thread that ends with it, so what it does to its thread changes no other test. The
// process's first thread does not end (runtime.LockOSThread), and /proc/net shows that thread's network namespace to the
// whole process (proc(5)): it is never the one.
func onThread(call func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			onThread(call)
			return
		}
		call()
	}()
	<-done
}

func testDummy(t *testing.T) {
	m := &Machine{}
	addresses := []netip.Addr{netip.MustParseAddr("169.254.10.10"), netip.MustParseAddr("169.254.10.11"), netip.MustParseAddr("fd00::1")}
	bring := m.MakeDummy
	if err := bring("localdns", addresses[:1]); errors.Is(err, unix.EOPNOTSUPP) {
		t.Log("the kernel has no interfaces that lead nowhere; a bridge without ports is one, too")
		bring = func(name string, addresses []netip.Addr) error {
			return makeInterface(failpoint.Change{Kind: failpoint.Interface, Name: name}, "bridge", addresses)
		}
	}
	for range 2 {
		if err := bring("localdns", addresses); errors.Is(err, unix.EOPNOTSUPP) {
			t.Logf("no bridges either: %v", err)
			return
		} else if err != nil {
			t.Error(err)
		}
	}
	link, err := net.InterfaceByName("localdns")
	if err != nil {
		t.Error(err)
		return
	}
	networks, err := link.Addrs()
	var have []string
	for _, n := range networks {
		have = append(have, n.String())
	}
	for _, a := range addresses {
		if !slices.Contains(have, netip.PrefixFrom(a, a.BitLen()).String()) {
			t.Errorf("it has %q, and not %s: %v", have, a, err)
		}
	}
	if link.Flags&net.FlagUp == 0 {
		t.Error("it is down")
	}
	for range 2 {
		if err := m.RemoveInterface("localdns"); err != nil {
			t.Error(err)
		}
	}
	if _, err := net.InterfaceByName("localdns"); err == nil {
		t.Error("it is still there")
	}
}

func TestInterfaceNames(t *testing.T) {
	m := &Machine{}
	for _, name := range []string{"", "..", "a/b", "a b", "a\x00", "longer-than-names"} {
		if m.MakeDummy(name, nil) == nil || m.RemoveInterface(name) == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}

// A program that keeps running reports how it has ended, and ends on a signal.
func TestStart(t *testing.T) {
	m := &Machine{}
	signal, ended, err := m.Start([]string{"sh", "-c", "exit 3"})
	must(t, err)
	wantError(t, <-ended, "exit status 3")
	if signal(os.Interrupt) == nil || signal(os.Kill) == nil {
		t.Error("one that has ended can be asked to end")
	}
	for asked, how := range map[os.Signal]string{os.Interrupt: "signal: interrupt", os.Kill: "signal: killed", syscall.SIGUSR1: "signal: user defined signal 1"} {
		signal, ended, err := m.Start([]string{"sleep", "3600"})
		must(t, err)
		must(t, signal(asked))
		wantError(t, <-ended, how)
	}
	for _, argv := range [][]string{nil, {""}, {"no-such-program"}, {"/no/such/program"}} {
		if _, _, err := m.Start(argv); err == nil {
			t.Errorf("%q is started", argv)
		}
	}
}

// It gets the same environment as a command.
func TestStartEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.example")
	file := t.TempDir() + "/environment"
	_, ended, err := (&Machine{}).Start([]string{"sh", "-c", "env >" + file})
	must(t, err)
	must(t, <-ended)
	text, err := os.ReadFile(file)
	must(t, err)
	if want := "PATH=" + commandEnv["PATH"]; !strings.Contains(string(text), want+"\n") || strings.Contains(string(text), "HTTP_PROXY") {
		t.Errorf("got\n%s", text)
	}
}
