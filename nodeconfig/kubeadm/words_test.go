package kubeadm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// texts are those of the cases, and some that are hard to split.
func texts(t testing.TB) []string {
	all := []string{
		"kubeadm join 10.0.0.1:6443 --token abcdef.0123\\\n456789abcdef", "kubeadm\u00a0join", "sudo kubeadm\u200bjoin", "kubeadm join \\", "kubeadm join '",
		`kubeadm join "\`, `kubeadm join "\"`, `kubeadm join "a\b\\\"\'"`, "kubeadm join \"a\\\nb\"", `kubeadm join ''`, `kubeadm join a'b'"c"\d`,
		`kubeadm join '' "" \ \\ \"`, "kubeadm join \\\n\\\n\\\n a", "kubeadm join a\\\r\n b", "kubeadm join [fd00::1]:6443", "kubeadm join a[b]", "kubeadm join --",
		"kubeadm join -- --token", "kubeadm -v", "kubeadm --", "sudo", "sudo -u", "sudo -u root", "X=1", "$ ", "# ", "[] # kubeadm join", "\xef\xbb\xbfkubeadm join \xff",
		"[init] \nkubeadm join <value withheld>", "kubeadm join phase", "kubeadm join\n\nkubeadm join --control-plane\n",
	}
	for _, c := range contracts.Load(t, "", "testdata/text.yaml") {
		all = append(all, string(c.Document))
	}
	return all
}

// isInside reports whether a position is in a text, or just behind the end of a line.
func isInside(text string, line, column int) bool {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	return line >= 1 && line <= len(lines) && column >= 1 && column <= utf8.RuneCountInString(lines[line-1])+1
}

// FuzzAnyLine: every text has a result. A text that is read as a line has a tree or a fatal problem. Each problem and each value
// has a position inside the text. Words stay within the limits.
func FuzzAnyLine(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, problems, is := ReadText([]byte(text))
		switch fatal := len(nodeconfig.Fatal(problems)) > 0; {
		case !is && (tree != nil || problems != nil):
			t.Error("what is no line has a tree or problems")
		case is && tree == nil && !fatal:
			t.Error("a line has neither a tree nor a fatal problem")
		}
		for _, p := range problems {
			if !isInside(text, p.Line, p.Column) || p.Reason == "" || p.Path == "" {
				t.Errorf("%+v is not inside the text", p)
			}
		}
		if tree != nil {
			contracts.Walk(tree, func(path string, n *document.Node) {
				if path != "$" && path != "$.apiVersion" && path != "$.kind" && !isInside(text, int(n.Line), int(n.Column)) {
					t.Errorf("%s is at %d:%d", path, n.Line, n.Column)
				}
			})
			FromTree(tree)
		}
		all, _ := words(text)
		length := 0
		for _, w := range all {
			length += len(w.text)
			if !isInside(text, int(w.line), int(w.column)) {
				t.Errorf("a word is at %d:%d", w.line, w.column)
			}
		}
		if len(all) > maxWords || length > maxLine {
			t.Errorf("%d words, %d bytes", len(all), length)
		}
	})
}

// TestReadsLargeHostileTexts: a large text of any kind is read up to the limits, in milliseconds. If the work grew with the square
// of the length, the test would take minutes.
func TestReadsLargeHostileTexts(t *testing.T) {
	blanks := strings.Repeat(" ", 1<<16)
	for _, begin := range []string{"kubeadm join ", "[init] \n"} {
		for _, part := range []string{
			"a ", "a", " ", "\\\n", "\\\n ", "\n", "\r", "\t", "''", "\"\" ", "'", "\"", "[", "[fd00::1]:1 ", "\u00a0", "\u00e9\n", "kubeadm join\n",
			"kubeadm join x --control-plane\n", "kubeadm ", "sudo -u ", "A=1 ", "--token x ", "-- ", "[root@a ~]# ", "# kubeadm join\n", "$ \n",
			"<value withheld>", "\\", "\xff", "kubeadm\u00a0\n", "kubeadm\u00a0\\\n",
		} {
			text := begin + strings.Repeat(part, (1<<18)/len(part)) + blanks
			if tree, problems, is := ReadText([]byte(text)); is && tree == nil && len(problems) == 0 {
				t.Errorf("%q and %q: no answer", begin, part)
			}
		}
	}
}

// bits are parts of command lines, with all that a shell does in them without expanding anything.
var bits = []string{
	" ", "\t", "  ", "'", "\"", "\\", "\n", "\\\n", "\\\r\n", "\r\n", "a", "b=c", "--token", "--x", "\u00e9", ",", ":", "@", "%", "^", "+", "-", ".", "/", "_",
	"sha256:ab", "'a b'", "\"c d\"", "\\ ", "\\\"", "\\'", "=", "''", "\"\"", "\\$", "\\#", "\\\\", "\"\\\\\"", "\"\\a\"", "'\\'", "\"'\"", "'\"'", "a\\\nb",
	"\"a\\\nb\"", "[fd00::1]:6443", "\u00a0", "$", "`", "#", "~", "*", "!", "{", ";", "&",
}

// TestSplitsWordsLikeShell: dash splits each accepted line into the same words. It also accepts each line that is not refused for a
// special character of the shell, but not as one whole line.
func TestSplitsWordsLikeShell(t *testing.T) {
	dash, err := exec.LookPath("dash")
	if err != nil {
		t.Skip("dash is not installed")
	}
	lines := texts(t)
	random := rand.New(rand.NewPCG(7, 40))
	for range 40_000 {
		line := "kubeadm join "
		for range 1 + random.IntN(10) {
			line += bits[random.IntN(len(bits))]
		}
		lines = append(lines, line)
	}
	var taken []string
	var want [][]word
	for _, line := range lines {
		if !strings.HasPrefix(line, "kubeadm ") {
			continue // a prompt and the text around a line are not the shell's
		}
		all, problem := words(line)
		if problem == nil {
			taken, want = append(taken, line), append(want, all[1:])
			continue
		}
		if !strings.ContainsAny(line, special) && !strings.ContainsFunc(line, isLookalike) && utf8.ValidString(line) &&
			!slices.ContainsFunc([]string{cutOff, follows, "a quote begins here", "a control character or a line break", "longer"}, func(reason string) bool {
				return strings.Contains(problem.Reason, reason)
			}) {
			t.Errorf("%q is refused: %s", line, problem.Reason)
		}
	}
	if len(taken) < 5_000 {
		t.Fatalf("only %d lines of %d are taken", len(taken), len(lines))
	}
	script := []byte(`kubeadm() { for word in "$@"; do printf '%s\0' "$word"; done; printf '\1\0'; }` + "\n")
	for _, line := range taken {
		script = fmt.Appendln(script, strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\r\n", "\n"))
	}
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dash, file)
	cmd.Dir = t.TempDir() // no file there matches a pattern
	out, err := cmd.CombinedOutput()
	got := bytes.Split(out, []byte("\x01\x00"))
	for i, all := range want {
		if i >= len(got) {
			break
		}
		var made []byte
		for _, w := range all {
			made = append(append(made, w.text...), 0)
		}
		if !bytes.Equal(made, got[i]) {
			t.Fatalf("%q: dash makes %q, the reader %q", taken[i], got[i], made)
		}
	}
	if err != nil || len(got) != len(want)+1 {
		t.Errorf("dash has read %d lines of %d: %v", len(got)-1, len(want), err)
	}
}
