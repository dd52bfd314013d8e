package plan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The readers themselves; the first text is one of systemd's own tests (src/test/test-env-file.c).
func TestReadersOfSystemd(t *testing.T) {
	got := readEnvironment("a=a\nb=b\\\nc\nd= d\\\ne  \\\nf  \ng=g\\ \nh= ąęół\\ śćńźżμ \ni=i\\")
	want := map[string]string{"a": "a", "b": "bc", "d": "de  f", "g": "g ", "h": "ąęół śćńźżμ", "i": "i"}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: got %q, want %q", name, got[name], want[name])
		}
	}
	got = readEnvironment("# x=1\n;y=2\nq=\"a b\" \nr='$x \\ \"'\ns=\"\\$\\`\\\"\\\\\\n\"\nt=a'b\"\nu=\nv=  x  \nw=\"1\"'2'\n")
	want = map[string]string{"q": "a b", "r": `$x \ "`, "s": "$`\"\\\\n", "t": `a'b"`, "u": "", "v": "x", "w": "12"}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: got %q, want %q", name, got[name], want[name])
		}
	}
	for in, want := range map[string][]string{
		"":               nil,
		"  a  b ":        {"a", "b"},
		`"foobar" 'baz'`: {"foobar", "baz"},
		`\"fooo\"`:       {`"fooo"`},
		`a"b c"d`:        {"ab cd"},
		`"" x`:           {"", "x"},
		`'a\'b'`:         {"a'b"},
		`a\ b`:           {"a b"},
	} {
		if got, err := splitWords(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v", in, got, err)
		}
	}
	for _, in := range []string{`"a`, `'a`, `a\`} {
		if got, err := splitWords(in); err == nil {
			t.Errorf("%s: got %q", in, got)
		}
	}
}

// hostile are values that mean something to one of the readers on their way.
var hostile = []string{
	"", " ", "a", "a b", " a", "a ", "a  b", "\t", "a\tb", `"`, `'`, `"a"`, `'a'`, `a"b`, `a'b`, `\`, `\\`, `a\`, `\"`, `\n`, `\x41`, "`", "`id`",
	"$", "$$", "$HOME", "${HOME}", "$KUBELET_FLAGS", "$(id)", "%", "%%", "%n", "%i", "#", "#a", " #", ";", "a;b", "a # b", "=", "a=b", "-", "--x=y",
	"a,b", "{}", "[a]", "<100Mi", "&&", "|", ">", "*", "?", "~", "!", "é", "日本", "a\u00a0b", "\u2028", "🙂", "\ufeff", "\u202e", "a\vb", "a\fb",
	strings.Repeat("x", 5000), strings.Repeat(`"\$ `, 100),
}

// carries wants flag values to arrive at the kubelet, each as one argument.
func carries(t *testing.T, flags []nodeconfig.Flag) {
	t.Helper()
	c := contract(t, "native/minimal.yaml")
	c.Kubelet.Flags = flags
	p, problems := New(c, ubuntu(t))
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 { // one flag in several places is a warning
		t.Fatal(fatal)
	}
	argv, _, err := kubeletCommand(p)
	if err != nil {
		t.Fatalf("%q: %v", flags, err)
	}
	for _, flag := range flags {
		if want := "--" + flag.Name + "=" + flag.Value; !slices.Contains(argv, want) {
			t.Fatalf("%q is not an argument of %q\nfrom %s", want, argv, fileAt(t, p, "/etc/default/kubelet").Content)
		}
	}
	without, _, _ := kubeletCommand(first(New(contract(t, "native/minimal.yaml"), ubuntu(t))))
	if len(argv) != len(without)+len(flags) {
		t.Fatalf("%d flags made %d more arguments", len(flags), len(argv)-len(without))
	}
}

func first[A, B any](a A, _ B) A { return a }

func TestFlagsArrive(t *testing.T) {
	var all []nodeconfig.Flag
	for _, value := range hostile {
		flag := nodeconfig.Flag{Name: "lock-file", Value: value}
		carries(t, []nodeconfig.Flag{flag})
		all = append(all, flag)
	}
	carries(t, all)
}

// Any value of a variable is read back unchanged, also one that is not a list of flags.
func TestEnvironmentFile(t *testing.T) {
	for _, value := range hostile {
		content := textfile.Environment([2]string{"A", value}, [2]string{"B", "b"})
		if got := readEnvironment(string(content)); len(got) != 2 || got["A"] != value || got["B"] != "b" {
			t.Errorf("%q is read as %q from %q", value, got, content)
		}
		if words, err := splitWords(textfile.Flags([][2]string{{"a", value}})); err != nil || !slices.Equal(words, []string{"--a=" + value}) {
			t.Errorf("%q is split into %q, %v", value, words, err)
		}
	}
}

// Random values of characters that are special, and of any that can be printed.
func TestRandomFlagsArrive(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	special := []rune("\"'\\$`%#; \t={}nx0é\u2028")
	for range 300 {
		var flags []nodeconfig.Flag
		for range 1 + random.IntN(4) {
			var value []rune
			for range random.IntN(30) {
				r := special[random.IntN(len(special))]
				if any := rune(random.IntN(0x3000)); random.IntN(4) == 0 && unicode.IsPrint(any) {
					r = any
				}
				value = append(value, r)
			}
			flags = append(flags, nodeconfig.Flag{Name: "lock-file", Value: string(value)})
		}
		carries(t, flags)
	}
}

// Values pass the contract's validation, or they would not come here.
func TestHostileFlagsAreValid(t *testing.T) {
	for _, value := range hostile {
		c := contract(t, "native/minimal.yaml")
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "lock-file", Value: value}}
		refused := len(nodeconfig.Repair(c)) > 0
		if want := strings.ContainsAny(value, "\v\f"); refused != want {
			t.Errorf("%q: refused is %v", value, refused)
		}
	}
}

// The whole command line of examples: no variable stays unresolved, no argument is empty, and the contract's settings
// arrive.
func TestCommandLine(t *testing.T) {
	for name, c := range contracts(t) {
		if familyOf(c).Command.DropIn.File != "" {
			continue // the machine's own facts are in its command line; its cases have it whole
		}
		argv, variables, err := kubeletCommand(first(New(c, ubuntu(t))))
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range argv[1:] {
			if !strings.HasPrefix(arg, "--") || strings.Contains(arg, "$") {
				t.Errorf("%s: argument %q", name, arg)
			}
		}
		if argv[0] != familyOf(c).Paths.Kubelet {
			t.Errorf("%s: %q is started", name, argv[0])
		}
		for key, value := range c.Kubelet.Labels {
			if !strings.Contains(","+variables["KUBELET_NODE_LABELS"]+",", ","+key+"="+value+",") {
				t.Errorf("%s: label %s is missing", name, key)
			}
		}
		for _, want := range []string{
			"--node-labels=" + variables["KUBELET_NODE_LABELS"],
			"--container-runtime-endpoint=" + concern.ContainerdSocket,
			"--kubeconfig=" + familyOf(c).Paths.Kubeconfig,
			"--volume-plugin-dir=" + familyOf(c).Paths.VolumePlugins,
		} {
			if !slices.Contains(argv, want) {
				t.Errorf("%s: %q is missing", name, want)
			}
		}
	}
}
