package session

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const examples = "../../examples/"

var (
	all  = flag.Bool("all", false, "let everything happen at every rename, and not at a few that a seed chooses")
	seed = flag.Uint64("seed", rand.Uint64(), "choose the renames by `N`")
)

// some is how many renames of a short run get an event.
const some = 4

// program is the agent, with its gate.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slipway-session-")
	if err == nil {
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "slipway-node")
		var out []byte
		if out, err = exec.Command("go", "build", "-tags", "failpoint", "-o", program, "../../cmd/slipway-node").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// event is something that happens to a run.
type event struct {
	name string
	how  joined
	// harmless means that the run continues as if nothing had happened.
	harmless bool
	happen   func(p *process) error
}

func signals(list ...syscall.Signal) func(*process) error {
	return func(p *process) error {
		for _, s := range list {
			if err := p.cmd.Process.Signal(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// lose ends the readers of output.
func lose(which ...int) func(*process) error {
	return func(p *process) error {
		for _, i := range which {
			p.streams[i].close()
		}
		return nil
	}
}

var events = []event{
	{"SIGTERM", byPipes, false, signals(syscall.SIGTERM)},
	{"SIGHUP", byPipes, false, signals(syscall.SIGHUP)},
	{"SIGINT twice", byPipes, false, signals(syscall.SIGINT, syscall.SIGINT)},
	{"SIGQUIT", byPipes, false, signals(syscall.SIGQUIT)},
	{"SIGTERM and SIGHUP", byPipes, false, signals(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTERM)},
	{"the terminal is gone", byTerminal, false, lose(0)},
	{"SIGPIPE", byPipes, true, signals(syscall.SIGPIPE)},
	{"SIGTSTP", byTerminal, true, signals(syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)},
	{"standard output closed", byPipes, true, lose(0)},
	{"standard error closed", byPipes, true, lose(1)},
	{"both closed", byPipes, true, lose(0, 1)},
	{"one socket, closed", bySocket, true, lose(0)},
	{"standard error full", byPipes, true, func(p *process) error { return p.streams[1].fill() }},
	{"both full", byPipes, true, func(p *process) error { return errors.Join(p.streams[0].fill(), p.streams[1].fill()) }},
}

// scenario is a run, and the machine before it and after it.
type scenario struct {
	name string
	// before is a directory with the state before the run.
	before string
	args   []string
	// was and want are the machine before it, and after an undisturbed run.
	was, want tree
	// renames is their number.
	renames int
	// number is the generation that it makes.
	number int
}

// scenarios are a first provisioning, and a change of its result.
func scenarios(t *testing.T) []*scenario {
	t.Helper()
	dir := t.TempDir()
	contract, err := os.ReadFile(examples + "native/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("maxPods: 200", "maxPods: 110", "revision: 3", "revision: 4").Replace(string(contract))
	if err := os.WriteFile(filepath.Join(dir, "changed.yaml"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	facts := []string{"--facts", examples + "facts/ubuntu.json", "--log-level", "debug"}
	first := &scenario{
		name: "provision", before: filepath.Join(dir, "nothing"), number: 1,
		args: append([]string{"provision", "--provision-config", examples + "native/full.yaml"}, facts...),
	}
	if err := os.Mkdir(first.before, 0o755); err != nil {
		t.Fatal(err)
	}
	second := &scenario{
		name: "apply", before: filepath.Join(dir, "provisioned"), number: 2,
		args: append([]string{"apply", "-f", filepath.Join(dir, "changed.yaml")}, facts...),
	}
	first.learn(t, second.before)
	second.learn(t, filepath.Join(dir, "changed"))
	return []*scenario{first, second}
}

// learn makes an undisturbed run in a directory.
func (s *scenario) learn(t *testing.T, root string) {
	t.Helper()
	if err := duplicate(s.before, root); err != nil {
		t.Fatal(err)
	}
	code, text, err := s.run(root, byPipes, func(p *process, n int) error { s.renames = n + 1; return nil })
	if err != nil || code != 0 {
		t.Fatalf("%s: exit code %d: %v: %s", s.name, code, err, text)
	}
	if s.was, err = snapshot(s.before); err == nil {
		s.want, err = snapshot(root)
	}
	if err != nil || s.renames < 5 || maps.Equal(s.was, s.want) {
		t.Fatalf("%s: %d renames: %v", s.name, s.renames, err)
	}
}

// run runs the agent on a directory, and calls at before each rename.
func (s *scenario) run(root string, how joined, at func(p *process, n int) error) (code int, text string, err error) {
	p, err := start(how, append(s.args, "--root", root)...)
	if err != nil {
		return 0, "", err
	}
	var happened error
	for n := 0; ; n++ {
		if _, more := p.next(); !more {
			break
		}
		happened = errors.Join(happened, at(p, n))
		p.proceed()
	}
	code, text, err = p.end()
	return code, text, errors.Join(happened, err)
}

func TestNothingOfASessionEndsARun(t *testing.T) {
	t.Logf("-seed %d", *seed)
	for _, s := range scenarios(t) {
		for i, e := range events {
			t.Run(s.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(*seed, uint64(i)))
				chosen := random.Perm(s.renames)
				if !*all {
					chosen = chosen[:min(some, len(chosen))]
				}
				slices.Sort(chosen)
				ended := make(map[int]int)
				for _, n := range chosen {
					root := filepath.Join(hosttest.TempDir(t), "node")
					code, err := s.survives(e, n, root)
					if err != nil {
						t.Errorf("at rename %d of %d: %v", n, s.renames, err)
					}
					ended[code]++
					os.RemoveAll(root)
				}
				t.Logf("exit codes of %d runs: %v", len(chosen), ended)
			})
		}
	}
}

// survives lets an event happen at a rename, and checks the package's promises. It returns the exit
// code.
func (s *scenario) survives(e event, n int, root string) (int, error) {
	if err := duplicate(s.before, root); err != nil {
		return 0, err
	}
	code, text, err := s.run(root, e.how, func(p *process, at int) error {
		var err error
		if at == n {
			err = e.happen(p)
		}
		if at == s.renames-1 {
			p.resume() // the output comes after the publication
		}
		return err
	})
	if err != nil {
		return code, err
	}
	if e.harmless && code != 0 {
		return code, fmt.Errorf("exit code %d: %s", code, tail(text))
	}
	if err := s.settled(root, code); err != nil {
		return code, fmt.Errorf("exit code %d: %w: %s", code, err, tail(text))
	}
	again, text, err := s.run(root, byPipes, func(*process, int) error { return nil })
	if err != nil || again != 0 {
		return code, fmt.Errorf("the next run: exit code %d: %w: %s", again, err, tail(text))
	}
	now, err := snapshot(root)
	if err != nil {
		return code, err
	}
	return code, now.equal(s.want)
}

// settled checks that the result of a run is published, and true.
func (s *scenario) settled(root string, code int) error {
	now, err := snapshot(root)
	if err != nil {
		return err
	}
	entries, err := generations(root)
	if err != nil {
		return err
	}
	if s.number > 1 && code != 0 && len(entries) == s.number-1 {
		return now.equal(s.was) // it ended before it began
	}
	published, err := os.ReadFile(filepath.Join(root, "var/lib/slipway/status.json"))
	if err != nil {
		return err
	}
	last, err := status.Parse(published)
	if err != nil {
		return err
	}
	if last.ExitCode != code {
		return fmt.Errorf("the status says %d", last.ExitCode)
	}
	if s.number == 1 {
		marker, err := os.Stat(filepath.Join(root, "var/lib/slipway/provision.complete"))
		if err != nil || marker.Size() != 0 {
			return fmt.Errorf("no marker: %w", err)
		}
	}
	switch current := entries[len(entries)-1]; {
	case code == 0:
		if current.Outcome != generation.Good || current.Number != s.number {
			return fmt.Errorf("generation %d is %s", current.Number, current.Outcome)
		}
		return now.equal(s.want)
	case s.number == 1:
		return nil // the first provisioning has no earlier generation
	case last.Restored != s.number-1 || current.Outcome != generation.Good || current.Restores != s.number-1:
		return fmt.Errorf("generation %d is %s, and the status names %d as restored", current.Number, current.Outcome, last.Restored)
	}
	return now.equal(s.was)
}

// generations are those of a machine, the oldest first.
func generations(root string) ([]generation.Entry, error) {
	dir, err := host.OpenDirectory(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	store, err := generation.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return store.Entries(), nil
}

// tree is the files below a directory, by path, without the agent's records.
type tree map[string]string

// records are the paths that differ between runs.
var records = []string{"/run", "/var/log", "/var/lib/slipway"}

func snapshot(root string) (tree, error) {
	t := make(tree)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root)
		if err != nil || name == "" {
			return err
		}
		if slices.Contains(records, name) {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch info.Mode().Type() {
		case 0:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		case fs.ModeSymlink:
			if content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		t[name] = fmt.Sprintf("%s %q", info.Mode(), content)
		return nil
	})
	return t, err
}

func (t tree) equal(want tree) error {
	var errs []error
	paths := maps.Clone(t)
	maps.Copy(paths, want)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if t[path] != want[path] {
			errs = append(errs, fmt.Errorf("%s is %.80s, want %.80s", path, t[path], want[path]))
		}
	}
	return errors.Join(errs...)
}

// duplicate copies a directory with modes, links and owners.
func duplicate(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
