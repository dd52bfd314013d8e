package userdata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	nativeUnit = "slipway-provision.service"
	aksUnit    = "aks-node-controller.service"

	launcherPath  = "/opt/azure/containers/aks-node-controller-launcher.sh"
	launcherLog   = "/var/log/azure/aks-node-controller.output"
	aksMarker     = "/opt/azure/containers/provision.complete"
	aksResult     = "/var/log/azure/aks/provision.json"
	nativeMarker  = "/var/lib/slipway/provision.complete"
	nativeResult  = "/var/lib/slipway/provision.json"
	success       = `{"ExitCode": "0", "Output": "done"}`
	notStarted    = ""
	startedNative = "start --no-block slipway-provision.service\n"
	startedAKS    = "start --no-block aks-node-controller.service\n"
)

// machine is a directory tree that the boothook takes for a machine, with a systemctl and a logger
// that record their arguments.
type machine struct {
	t          *testing.T
	root, etc  string // the tree; the directory of the tools and their records
	shell      []string
	umask, out string
}

// newMachine makes a machine that has the given units, "NAME" or "NAME enabled".
func newMachine(t *testing.T, units ...string) *machine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the script is for Linux")
	}
	m := &machine{t: t, root: t.TempDir(), etc: t.TempDir(), shell: []string{"sh"}, umask: "022"}
	tool := func(name, script string) {
		if err := os.WriteFile(filepath.Join(m.etc, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tool("systemctl", `
cd '`+m.etc+`'
case "$1" in
cat) test -e "unit.$2" ;;
is-enabled) grep -q enabled "unit.$3" ;;
start)
	echo "$*" >>calls
	test -e "unit.$3" || { echo "Failed to start $3: Unit $3 not found." >&2; exit 5; } ;;
*) echo "unexpected: $*" >>calls; exit 1 ;;
esac
`)
	tool("logger", `echo "$*" >>'`+m.etc+`/logged'`)
	for _, unit := range units {
		name, state, _ := strings.Cut(unit, " ")
		if err := os.WriteFile(filepath.Join(m.etc, "unit."+name), []byte(state), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// run runs the boothook for c as cloud-init does: without the first line, and until all processes
// have closed its output.
func (m *machine) run(c Contract) error {
	m.t.Helper()
	names, err := c.check(checkForCloudInit)
	if err != nil {
		m.t.Fatal(err)
	}
	script := string(newBoothook(m.root, c.Path).append(nil, c.Document, c.features(names)))
	script = strings.TrimLeft(strings.TrimPrefix(script, "#cloud-boothook"), "\n")
	file := filepath.Join(m.etc, "part-001")
	if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	argv := append([]string{"-c", `umask "$1"; shift; exec "$@"`, "sh", m.umask}, m.shell...)
	cmd := exec.CommandContext(ctx, "sh", append(argv, file)...)
	cmd.Env = []string{"PATH=" + m.etc + ":" + os.Getenv("PATH")}
	cmd.WaitDelay = 2 * time.Second // for a process that still has the output open
	output, err := cmd.CombinedOutput()
	m.out = string(output)
	if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		m.t.Fatalf("the boothook blocks:\n%s", m.out)
	}
	return err
}

func (m *machine) mustRun(c Contract) {
	m.t.Helper()
	if err := m.run(c); err != nil {
		m.t.Fatalf("%v:\n%s", err, m.out)
	}
}

func (m *machine) write(path, content string, mode fs.FileMode) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.root+path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.root+path, []byte(content), mode); err != nil {
		m.t.Fatal(err)
	}
}

// calls returns and clears systemctl's recorded calls.
func (m *machine) calls() string {
	content, _ := os.ReadFile(filepath.Join(m.etc, "calls"))
	_ = os.Remove(filepath.Join(m.etc, "calls"))
	return string(content)
}

// tree lists all files of the machine.
func (m *machine) tree() map[string]string {
	m.t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(m.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprint(info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += string(content)
		}
		tree[strings.TrimPrefix(path, m.root)] = line
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return tree
}

func (m *machine) checkFile(path string, want []byte, mode fs.FileMode) {
	m.t.Helper()
	info, err := os.Lstat(m.root + path)
	if err != nil {
		m.t.Fatalf("%v\n%s", err, m.out)
	}
	got, err := os.ReadFile(m.root + path)
	if err != nil || !bytes.Equal(got, want) || info.Mode() != mode {
		m.t.Fatalf("%s: %v, %q, want %v, %q (%v)", path, info.Mode(), got, mode, want, err)
	}
}

// checkNode checks that the machine has c's files, with the right modes, and no leftovers.
func (m *machine) checkNode(c Contract) {
	m.t.Helper()
	m.checkFile(c.Path, c.Document, 0o600)
	names, _ := c.check(checkForCloudInit)
	if features := c.features(names); features != nil {
		m.checkFile(FeaturesPath, features, 0o600)
	}
	for path, line := range m.tree() {
		if strings.HasSuffix(path, ".slipway") {
			m.t.Errorf("%s is left over", path)
		}
		if strings.HasPrefix(line, "d") && !strings.HasPrefix(line, "drwxr-xr-x ") {
			m.t.Errorf("directory %s: %.10s", path, line)
		}
	}
}

// shells are the shells that can be /bin/sh on a node, if this machine has them.
func shells() [][]string {
	candidates := [][]string{{"sh"}, {"dash"}, {"bash"}, {"bash", "--posix"}, {"busybox", "sh"}}
	return slices.DeleteFunc(candidates, func(argv []string) bool {
		_, err := exec.LookPath(argv[0])
		return err != nil
	})
}

func TestBoothookSyntax(t *testing.T) {
	for _, c := range []Contract{aksContract, nativeContract, yamlContract} {
		document, err := MIME(c)
		if err != nil {
			t.Fatal(err)
		}
		script := parseMIME(t, document).script
		if !strings.HasPrefix(script, "#cloud-boothook\n#!/bin/sh\n") {
			t.Errorf("first lines of the script: %.40q", script)
		}
		for _, shell := range shells() {
			cmd := exec.Command(shell[0], append(shell[1:], "-n")...)
			cmd.Stdin = strings.NewReader(script)
			if output, err := cmd.CombinedOutput(); err != nil || len(output) > 0 {
				t.Errorf("%s -n: %v %s", shell, err, output)
			}
		}
	}
}

func TestBoothookWrites(t *testing.T) {
	for _, shell := range shells() {
		for _, umask := range []string{"000", "022", "077"} {
			for _, c := range []Contract{aksContract, nativeContract, yamlContract} {
				m := newMachine(t, nativeUnit)
				m.shell, m.umask = shell, umask
				m.mustRun(c)
				m.checkNode(c)
				if got := m.calls(); got != startedNative {
					t.Errorf("%s: systemctl was asked: %s", shell, got)
				}
				logged, _ := os.ReadFile(filepath.Join(m.etc, "logged"))
				if want := "-t slipway-boothook -- started slipway-provision.service\n"; string(logged) != want && shell[0] != "busybox" { // busybox has its own logger
					t.Errorf("%s: logged %q", shell, logged)
				}
			}
		}
	}
}

// TestBoothookHostile passes documents with shell code through a real shell: they must remain data.
func TestBoothookHostile(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	documents := slices.Clone(hostile)
	for range 4 {
		documents = append(documents, string(randomContract(random, 5000).Document))
	}
	large := make([]byte, 46_000) // more than a pipe's capacity, as base64
	random.Read(large)
	documents = append(documents, strings.Join(hostile, ""), string(large))
	for _, shell := range shells() {
		m := newMachine(t, nativeUnit)
		m.shell = shell
		for _, document := range documents {
			c := Contract{Document: []byte(document), Path: NativePath}
			m.mustRun(c)
			m.checkNode(c)
		}
		if got := m.calls(); got != strings.Repeat(startedNative, len(documents)) {
			t.Errorf("%s: systemctl was asked: %s", shell, got)
		}
	}
}

func TestBoothookGuard(t *testing.T) {
	const failed = `{"ExitCode": "50", "Output": "a log says \"ExitCode\": \"0\" too"}`
	for _, test := range []struct {
		name, marker, result string // "" means absent
		runs                 bool
	}{
		{"success", "x", success, false},
		{"success, compact", "x", `{"ExitCode":"0"}`, false},
		{"success, much space", "x", "{\n\t\"ExitCode\" \t:  \"0\"\n}\n", false},
		{"success, not the first key", "x", `{"Output":"","ExitCode":"0","Error":""}`, false},
		{"first boot", "", "", true},
		{"failure", "x", failed, true},
		{"exit code 240", "x", `{"ExitCode":"240"}`, true},
		{"exit code 0x", "x", `{"ExitCode":"0x"}`, true},
		{"other key", "x", `{"LastExitCode":"0"}`, true},
		{"no result", "x", "", true},
		{"torn result", "x", `{"ExitC`, true},
		{"no marker", "", success, true},
	} {
		for _, c := range []Contract{aksContract, nativeContract} {
			t.Run(test.name+" "+filepath.Base(c.Path), func(t *testing.T) {
				marker, result := nativeMarker, nativeResult
				if c.Path == AKSPath {
					marker, result = aksMarker, aksResult
				}
				m := newMachine(t, nativeUnit)
				m.write(c.Path, "as it was", 0o600)
				if test.marker != "" {
					m.write(marker, "", 0o600)
				}
				if test.result != "" {
					m.write(result, test.result, 0o600)
				}
				before := m.tree()
				m.mustRun(c)
				if !test.runs {
					if after := m.tree(); fmt.Sprint(before) != fmt.Sprint(after) {
						t.Errorf("the machine has changed:\n%v\n%v", before, after)
					}
					if got := m.calls(); got != notStarted {
						t.Errorf("systemctl was asked: %s", got)
					}
					return
				}
				m.checkFile(c.Path, c.Document, 0o600)
				if got := m.calls(); got != startedNative {
					t.Errorf("systemctl was asked: %q", got)
				}
			})
		}
	}
}

// TestBoothookTwice runs it to a success: the second run finds the node and changes nothing.
func TestBoothookTwice(t *testing.T) {
	m := newMachine(t, nativeUnit)
	m.mustRun(nativeContract)
	m.write(nativeResult, success, 0o600)
	m.write(nativeMarker, "", 0o600)
	m.calls()
	before := m.tree()
	m.mustRun(nativeContract)
	if after := m.tree(); fmt.Sprint(before) != fmt.Sprint(after) || m.calls() != notStarted {
		t.Errorf("the second run is not idle:\n%v\n%v", before, after)
	}
	if !strings.Contains(m.out, "provisioned already") {
		t.Errorf("it does not say why it does nothing: %q", m.out)
	}
}

// launcher adds AKS's launcher to the machine: it prints its input, then waits.
func (m *machine) launcher() {
	m.write(launcherPath, `#!/bin/sh
echo "to stdout"
echo "to stderr" >&2
cd '`+m.etc+`'
case $(sed -n 's/^SigIgn:.*\(.\)$/\1/p' /proc/self/status) in [13579bdf]) hup=ignored ;; esac
{ umask; readlink /proc/$$/fd/0; echo "hangup $hup"; cat '`+m.root+FeaturesPath+`'; } >launched.new
mv launched.new launched
n=0
while ! test -e end && test $n -lt 1000; do sleep 0.01; n=$((n + 1)); done
echo "ended"
touch ended
`, 0o755)
}

// launched waits until the launcher runs, lets it end, and returns its output.
func (m *machine) launched() string {
	m.t.Helper()
	if _, err := os.Stat(filepath.Join(m.etc, "ended")); err == nil {
		m.t.Fatal("the launcher ended before the boothook")
	}
	told := m.await("launched")
	if err := os.WriteFile(filepath.Join(m.etc, "end"), nil, 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.await("ended")
	return told
}

func (m *machine) await(name string) string {
	m.t.Helper()
	for range 20_000 {
		if content, err := os.ReadFile(filepath.Join(m.etc, name)); err == nil {
			return string(content)
		}
		time.Sleep(5 * time.Millisecond)
	}
	m.t.Fatalf("%s does not appear; the boothook said:\n%s", name, m.out)
	return ""
}

func TestBoothookLauncher(t *testing.T) {
	for _, shell := range shells() {
		for _, umask := range []string{"000", "077"} {
			m := newMachine(t, nativeUnit, aksUnit)
			m.shell, m.umask = shell, umask
			m.launcher()
			m.mustRun(aksContract)
			if got, want := m.launched(), "0022\n/dev/null\nhangup ignored\nA_SWITCH=\nENABLE_PROVISIONING_HOTFIX=true\nlower2=x/y:1.2\n"; got != want {
				t.Errorf("%s: the launcher was given %q, want %q", shell, got, want)
			}
			m.checkFile(launcherLog, []byte("to stdout\nto stderr\nended\n"), 0o600)
			m.checkNode(aksContract)
			if got := m.calls(); got != notStarted {
				t.Errorf("%s: systemctl was asked too: %s", shell, got)
			}
		}
	}
}

// TestBoothookStart checks which program is started on each image.
func TestBoothookStart(t *testing.T) {
	for _, test := range []struct {
		name     string
		contract Contract
		units    []string
		launcher fs.FileMode // 0: no launcher
		want     string
		fails    bool
	}{
		{"slipway", nativeContract, []string{nativeUnit}, 0, startedNative, false},
		{"aks contract, slipway", aksContract, []string{nativeUnit}, 0, startedNative, false},
		{"aks contract, both units", aksContract, []string{nativeUnit, aksUnit}, 0, startedNative, false},
		{"aks contract, aks unit", aksContract, []string{aksUnit}, 0, startedAKS, false},
		{"aks contract, launcher not executable", aksContract, []string{aksUnit}, 0o644, startedAKS, false},
		{"aks contract, unit enabled beside the launcher", aksContract, []string{aksUnit + " enabled"}, 0o755, startedAKS, false},
		{"aks contract, no agent", aksContract, nil, 0, startedAKS, true},
		{"native contract, aks image", nativeContract, []string{aksUnit}, 0o755, startedNative, true},
		{"native contract, no agent", nativeContract, nil, 0, startedNative, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t, test.units...)
			if test.launcher != 0 {
				m.launcher()
				if err := os.Chmod(m.root+launcherPath, test.launcher); err != nil {
					t.Fatal(err)
				}
			}
			err := m.run(test.contract)
			if (err != nil) != test.fails {
				t.Errorf("%v:\n%s", err, m.out)
			}
			if test.fails && !strings.Contains(m.out, "slipway-boothook: cannot start ") {
				t.Errorf("no clear message:\n%s", m.out)
			}
			if got := m.calls(); got != test.want {
				t.Errorf("systemctl was asked: %q, want %q", got, test.want)
			}
			m.checkNode(test.contract)
			if _, err := os.Stat(filepath.Join(m.etc, "launched")); err == nil {
				t.Error("the launcher runs too")
			}
		})
	}
}

// TestBoothookMarker checks AKS's marker before its launcher runs again.
func TestBoothookMarker(t *testing.T) {
	for _, test := range []struct {
		result string
		stays  bool
	}{{`{"ExitCode":"50"}`, false}, {"", true}} {
		m := newMachine(t)
		m.launcher()
		m.write(aksMarker, "", 0o600)
		if test.result != "" {
			m.write(aksResult, test.result, 0o600)
		}
		m.mustRun(aksContract)
		m.launched()
		if _, err := os.Stat(m.root + aksMarker); (err == nil) != test.stays {
			t.Errorf("result %q: marker: %v", test.result, err)
		}
		if test.result != "" {
			m.checkFile(aksResult, []byte(test.result), 0o600)
		}
	}
}

// TestBoothookReplaces has other files at the paths of the files to write.
func TestBoothookReplaces(t *testing.T) {
	for _, name := range []string{"", ".slipway"} {
		m := newMachine(t, nativeUnit)
		m.write(NativePath+name, "readable by all", 0o666)
		m.mustRun(nativeContract)
		m.checkNode(nativeContract)

		m = newMachine(t, nativeUnit)
		m.write("/elsewhere", "not mine", 0o644)
		m.write(NativePath, "", 0o600)
		_ = os.Remove(m.root + NativePath)
		if err := os.Symlink(m.root+"/elsewhere", m.root+NativePath+name); err != nil {
			t.Fatal(err)
		}
		m.mustRun(nativeContract)
		m.checkNode(nativeContract)
		m.checkFile("/elsewhere", []byte("not mine"), 0o644)
	}

	m := newMachine(t, nativeUnit)
	if err := os.MkdirAll(m.root+"/etc/slipway", 0o700); err != nil {
		t.Fatal(err)
	}
	m.mustRun(nativeContract)
	if info, err := os.Stat(m.root + "/etc/slipway"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a directory that was there got another mode: %v, %v", info, err)
	}
}

// TestBoothookFails makes each of its steps fail: it reports that, starts nothing and leaves no
// files.
func TestBoothookFails(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(m *machine)
		want string
	}{
		{"no directory", func(m *machine) { m.write("/etc", "a file", 0o644) }, "cannot make the directory "},
		{"base64", func(m *machine) { m.breakTool("base64", "printf partial; exit 1") }, "cannot write "},
		{"chmod", func(m *machine) { m.breakTool("chmod", "exit 1") }, "cannot write "},
		{"sync", func(m *machine) { m.breakTool("sync", "exit 1") }, "cannot write "},
		{"mv", func(m *machine) { m.breakTool("mv", "exit 1") }, "cannot write "},
	} {
		for _, shell := range shells() {
			if shell[0] == "busybox" {
				continue // busybox has its own base64 and other tools
			}
			m := newMachine(t, nativeUnit)
			m.shell = shell
			test.make(m)
			err := m.run(nativeContract)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(m.out, "slipway-boothook: "+test.want+m.root+"/etc/slipway") {
				t.Errorf("%s, %s: %v:\n%s", test.name, shell, err, m.out)
			}
			for _, name := range []string{"", ".slipway"} {
				if _, err := os.Lstat(m.root + NativePath + name); err == nil {
					t.Errorf("%s, %s: config.json%s is there", test.name, shell, name)
				}
			}
			if got := m.calls(); got != notStarted {
				t.Errorf("%s, %s: systemctl was asked: %s", test.name, shell, got)
			}
		}
	}
}

// breakTool puts a tool before the real one in the path.
func (m *machine) breakTool(name, script string) {
	if err := os.WriteFile(filepath.Join(m.etc, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// TestBoothookNeverReadable watches the file while it is written repeatedly: other users can never
// read it, and it is never partial. These moments are short, so the test finds a bug only with
// luck; TestBoothookWrites and the script's own umask are the proof.
func TestBoothookNeverReadable(t *testing.T) {
	m := newMachine(t, nativeUnit)
	m.umask = "000"
	c := Contract{Document: bytes.Repeat([]byte("0123456789"), 4000), Path: NativePath}
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, name := range []string{"", ".slipway"} {
				if info, err := os.Lstat(m.root + c.Path + name); err == nil && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("config.json%s: %v", name, info.Mode())
				}
			}
			if content, err := os.ReadFile(m.root + c.Path); err == nil && !bytes.Equal(content, c.Document) {
				t.Errorf("a partial file of %d bytes", len(content))
			}
		}
	})
	for range 15 {
		m.mustRun(c)
		if err := os.Remove(m.root + c.Path); err != nil {
			t.Error(err)
		}
	}
	close(done)
	watch.Wait()
}

// TestBoothookKilled kills it at random moments, as a power cut would: the next boot repairs the
// result.
func TestBoothookKilled(t *testing.T) {
	random := rand.New(rand.NewSource(4))
	m := newMachine(t, nativeUnit)
	old := Contract{Document: bytes.Repeat([]byte("old"), 5000), Path: NativePath}
	next := Contract{Document: bytes.Repeat([]byte("next"), 5000), Path: NativePath}
	m.mustRun(next) // it leaves the script
	for range 20 {
		m.write(NativePath, string(old.Document), 0o600)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.Intn(12_000))*time.Microsecond)
		cmd := exec.CommandContext(ctx, "sh", filepath.Join(m.etc, "part-001"))
		cmd.Env = []string{"PATH=" + m.etc + ":" + os.Getenv("PATH")}
		cmd.Stdout = &bytes.Buffer{} // processes of the shell have it open, so Wait waits for them
		_ = cmd.Run()
		cancel()
		content, err := os.ReadFile(m.root + NativePath)
		if err != nil || !bytes.Equal(content, old.Document) && !bytes.Equal(content, next.Document) {
			t.Fatalf("neither the old nor the new file: %d bytes, %v", len(content), err)
		}
	}
	m.mustRun(next)
	m.checkNode(next)
}
