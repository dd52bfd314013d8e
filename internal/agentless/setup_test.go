package agentless_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/agentless"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

const setupUnit = "/etc/systemd/system/slipway-setup.service"

// machineOf is the machine of a plan with these resources.
func machineOf(specs ...resource.Spec) agentless.Machine {
	var p resource.Plan
	for _, spec := range specs {
		p.Resources = append(p.Resources, resource.Resource{Spec: spec})
	}
	return agentless.Of(p, profile.Default())
}

// commandsOf are the commands of a unit, as systemd reads them (systemd.service(5), "Command lines"; systemd.syntax(7)).
func commandsOf(t testing.TB, m *agentless.Machine, unit string) [][]string {
	t.Helper()
	i := slices.IndexFunc(m.Files, func(f *resource.File) bool { return f.Path == unit })
	if i < 0 {
		t.Fatalf("there is no %s", unit)
	}
	var commands [][]string
	for line := range strings.Lines(string(m.Files[i].Content)) {
		line = strings.TrimSuffix(line, "\n")
		if words, ok := strings.CutPrefix(line, "ExecStart="); ok {
			commands = append(commands, wordsOf(t, strings.TrimPrefix(words, "-")))
		} else if strings.HasSuffix(line, `\`) {
			t.Fatalf("a line goes on: %q", line)
		}
	}
	return commands
}

// wordsOf parses words with and without double quotes. It supports only the renderer's syntax.
func wordsOf(t testing.TB, line string) (words []string) {
	t.Helper()
	for line != "" {
		quoted := line[0] == '"'
		if quoted {
			line = line[1:]
		}
		var word strings.Builder
		for {
			end := line == "" || !quoted && line[0] == ' '
			if end || quoted && line[0] == '"' {
				break
			}
			two := line[:min(2, len(line))]
			if escaped, ok := map[string]string{"%%": "%", "$$": "$", `\\`: `\`, `\"`: `"`, `\n`: "\n", `\t`: "\t", `\r`: "\r"}[two]; ok {
				word.WriteString(escaped)
				line = line[2:]
				continue
			}
			if strings.ContainsAny(line[:1], "%$\\\n\r") || !quoted && strings.ContainsAny(line[:1], "\"'\t;|&<>()*?[]#~`!{}") {
				t.Fatalf("systemd reads something into %q", line)
			}
			word.WriteByte(line[0])
			line = line[1:]
		}
		if quoted {
			if line == "" {
				t.Fatal("a quote is open")
			}
			line = line[1:]
		}
		words = append(words, word.String())
		if line = strings.TrimPrefix(line, " "); !quoted && word.Len() == 0 {
			t.Fatal("a word is empty")
		}
	}
	return words
}

// FuzzCommands: systemd reads a command's words unchanged, whatever they are.
func FuzzCommands(f *testing.F) {
	for _, word := range []string{"", "a", "a b", "%n", "$HOME ${HOME} $$", `\`, `\n`, `"`, "'", ";", "a\nExecStart=/bin/false", "a\tb\r", "-", "@x", "é\u2028", "#", "a\\\n"} {
		f.Add(word, "v="+word)
	}
	f.Fuzz(func(t *testing.T, word, value string) {
		if !utf8.ValidString(word+value) || strings.ContainsRune(word+value, 0) {
			return // a contract cannot have it
		}
		env := map[string]string{"A": value, "B": word}
		m := machineOf(
			&resource.Command{Label: "c", Argv: []string{"echo", word, value}, Env: env},
			&resource.Command{Label: "once", Argv: []string{"/bin/bash", "-c", word}, Once: "1"},
			&resource.Sysctl{Key: "net.a", Value: value},
		)
		if have, want := commandsOf(t, &m, setupUnit), [][]string{
			{"env", "A=" + value, "B=" + word, "echo", word, value}, {"sysctl", "-q", "-w", "net.a=" + value},
		}; !slices.EqualFunc(have, want, slices.Equal) {
			t.Errorf("%q, want %q", have, want)
		}
		if have := commandsOf(t, &m, "/etc/systemd/system/slipway-commands.service"); len(have) != 2 || !slices.Equal(have[0], []string{"/bin/bash", "-c", word}) {
			t.Errorf("%q, want %q", have, word)
		}
	})
}

// withoutSync is a directory of programs in which sync does nothing, so that the disk's speed does not affect the test.
func withoutSync(t testing.TB, root string) string {
	t.Helper()
	dir := filepath.Join(root, "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/true", filepath.Join(dir, "sync")); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return dir
}

// Each kind of resource has an effect or a loss: no part of a plan is left out unnoticed.
func TestEveryKind(t *testing.T) {
	for name, kind := range resource.Kinds {
		spec := kind.New()
		switch s := spec.(type) { // without a name these have no effect
		case *resource.File:
			s.Path = "/etc/a"
		case *resource.Unit:
			s.Unit = "a.service"
		case *resource.Command:
			s.Argv = []string{"true"}
		}
		empty, m := machineOf(), machineOf(spec)
		if before, after := fmt.Sprintf("%+v", parts(&empty)), fmt.Sprintf("%+v", parts(&m)); before == after {
			t.Errorf("nothing becomes of a %s", name)
		}
	}
}

// parts are a machine's parts, and the commands of its unit.
func parts(m *agentless.Machine) []any {
	var unit string
	for _, f := range m.Files {
		unit += f.Path + string(f.Content)
	}
	return []any{len(m.Directories), len(m.Links), len(m.States), m.Started, m.Losses, m.OnceDone, unit}
}

// A resource comes after its requirements, whatever their names are.
func TestOrder(t *testing.T) {
	var p resource.Plan
	var want [][]string
	for i := range 12 {
		number := strconv.Itoa(i)
		for _, c := range []*resource.Command{
			{Label: "command-" + number, Argv: []string{"once", number}, Once: number},
			{Label: "always-" + number, Argv: []string{"always", number}},
		} {
			r := resource.Resource{Spec: c}
			if i > 0 {
				before := *c
				before.Label = strings.TrimSuffix(c.Label, number) + strconv.Itoa(i-1)
				r.Requires = []resource.ID{resource.IDOf(&before)}
			}
			p.Resources = append(p.Resources, r)
		}
		want = append(want, []string{"always", number})
	}
	p.Sort()
	m := agentless.Of(p, profile.Default())
	if have := commandsOf(t, &m, setupUnit); !slices.EqualFunc(have, want, slices.Equal) {
		t.Errorf("%q, want %q", have, want)
	}
	once := commandsOf(t, &m, "/etc/systemd/system/slipway-commands.service")
	for i := range 12 {
		if have := once[i]; !slices.Equal(have, []string{"once", strconv.Itoa(i)}) {
			t.Errorf("command %d is %q", i, have)
		}
	}
}

// put runs the command that adds a block to a file, below a directory, and returns the file's content.
func put(t testing.TB, root string, block *resource.Block, before string) string {
	t.Helper()
	after, out := putWithout(t, root, block, before, "")
	if out != "" {
		t.Fatal(out)
	}
	return after
}

// putWithout is put with a missing file. It also returns the command's error output, which is empty on success.
func putWithout(t testing.TB, root string, block *resource.Block, before, missing string) (after, says string) {
	t.Helper()
	m := machineOf(block)
	for _, f := range m.Files {
		if f.Path == missing {
			continue
		}
		path := filepath.Join(root, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(root, block.Path)
	if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(t, &m, setupUnit)
	if len(commands) != 1 {
		t.Fatalf("the commands are %q", commands)
	}
	argv := commands[0]
	for i, word := range argv {
		if strings.HasPrefix(word, "/") {
			argv[i] = filepath.Join(root, word)
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + withoutSync(t, root) + ":/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		says = fmt.Sprintf("%q: %v: %s", argv, err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content), says
}

// A block is in its file like the agent's, except that it is always at the end, or the beginning.
func FuzzBlocks(f *testing.F) {
	const begin, end = "# BEGIN slipway a\n", "# END slipway a\n"
	for i, before := range []string{
		"", "x", "127.0.0.1 localhost\n", "\\n $HOME `id` %s *\n", "  x \t\n\n", "é\r\n", "-n\n",
		"a\n" + begin + "old\n" + end + "b\n", begin + "old\n" + end, "a\n" + begin + "kept\n", "a\n" + end + "b\n", end + begin + "kept\n",
		begin + "kept\n" + begin + "old\n" + end + "b", begin + "old\n" + end + begin + "old\n" + end, "# BEGIN slipway a \t\r\nold\n# END slipway a \nb\n",
		" " + begin + "# BEGIN slipway ab\n# BEGIN slipway [a]\n",
	} {
		f.Add(before, "10.0.0.1 $(id) \\n %s\n* \"\n", i%3 == 0)
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, before, content string, first bool) {
		block := &resource.Block{Path: "/etc/hosts", Label: "a", Content: content, First: first}
		if block.Valid() != nil || strings.ContainsAny(before, "\x00\v\f") {
			return // a shell cannot read such text
		}
		others, _ := block.OutOf([]byte(before))
		if n := len(others); n > 0 && others[n-1] != '\n' {
			others = append(others, '\n')
		}
		want, err := block.Into(others)
		if err != nil {
			return
		}
		if got := put(t, root, block, before); got != string(want) {
			t.Errorf("%q becomes %q, want %q", before, got, want)
		}
		if again := put(t, root, block, string(want)); again != string(want) {
			t.Errorf("%q becomes %q the second time", want, again)
		}
	})
}

// A failing command leaves the file unchanged.
func TestBlockFails(t *testing.T) {
	for _, first := range []bool{true, false} {
		const before = "a\n# BEGIN slipway a\nold\n# END slipway a\n"
		block := &resource.Block{Path: "/etc/hosts", Label: "a", Content: "x\n", First: first}
		after, says := putWithout(t, t.TempDir(), block, before, "/etc/slipway/blocks/etc-hosts.a")
		if after != before || !strings.Contains(says, "etc-hosts.a") {
			t.Errorf("%q, %s", after, says)
		}
	}
}

// The file keeps its mode, a file that already has the block is not written again, and no temporary file remains.
func TestBlockAgain(t *testing.T) {
	root := t.TempDir()
	block := &resource.Block{Path: "/etc/hosts", Label: "a", Content: "x\n"}
	with := put(t, root, block, "a\n")
	file := filepath.Join(root, block.Path)
	before, err := os.Stat(file)
	if err != nil || before.Mode() != 0o640 {
		t.Fatalf("%v, %v", before, err)
	}
	if again := put(t, root, block, with); again != with {
		t.Errorf("%q, want %q", again, with)
	}
	after, err := os.Stat(file)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("it is another file: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(root, "etc/*"))
	if err != nil || len(left) != 3 {
		t.Errorf("%q, %v", left, err)
	}
}
