package kubeadm

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// joinCommand is kubeadm's command that this package reads.
const joinCommand = "join"

// maxBegin is how much of a line is searched to determine its kind.
const maxBegin = 512

// command is a command line "kubeadm join" in a text.
type command struct {
	at        word
	words     []word
	problem   *nodeconfig.Problem
	remarks   []remark
	arguments []argument
	// after is the first line after it that is not kubeadm's. It may be nil.
	after *word
}

// find finds the command line for worker nodes in a text. The text may also have comments, and the other output of kubeadm init,
// including its command line for control plane nodes. The first line decides whether the text is such a text.
func find(text string) (c *command, problems []nodeconfig.Problem, is bool) {
	s := scanner{rest: text, line: 1, column: 1}
	var commands []*command
	output := false
	for s.skipBlanks(); s.rest != ""; s.skipBlanks() {
		line := s.rest[:lineLength(s.rest)]
		line = line[:min(len(line), maxBegin)]
		bare := strings.TrimLeft(line[promptLength(line):], whiteSpace)
		switch {
		case bare == "":
		case runs(bare, joinCommand):
			s.prompted = promptLength(line) > 0
			s.skip(len(line) - len(bare))
			commands = append(commands, s.join())
			continue
		case runs(bare, "") || isPrinted(bare):
			output = true
		case line[0] == '#', strings.HasPrefix(bare, "set -"): // a comment, which cannot continue on the next line, or options of the shell
			_, after, _ := strings.Cut(s.rest, "\n")
			s.skip(len(s.rest) - len(after))
			continue
		case len(commands) > 0 && commands[len(commands)-1].after == nil:
			commands[len(commands)-1].after = &word{line: s.line, column: s.column}
		case len(commands) == 0 && !output:
			return nil, nil, false
		}
		s.skip(lineLength(s.rest))
	}
	if len(commands) == 0 {
		return nil, nil, false
	}
	c, problems = choose(commands, output)
	return c, problems, true
}

// choose chooses the command line for worker nodes.
func choose(commands []*command, output bool) (*command, []nodeconfig.Problem) {
	chosen := -1
	for i, c := range commands {
		switch {
		case joinsControlPlane(c.arguments):
		case chosen < 0:
			chosen = i
		case !slices.EqualFunc(c.words, commands[chosen].words, func(a, b word) bool { return a.text == b.text }):
			return nil, []nodeconfig.Problem{c.at.problem("is a second command line for worker nodes; keep one of them")}
		}
	}
	if chosen < 0 {
		chosen = len(commands) - 1 // its flags show what it is
	}
	c := commands[chosen]
	if c.problem != nil {
		return c, []nodeconfig.Problem{*c.problem}
	}
	var problems []nodeconfig.Problem
	for i, other := range commands {
		if other.after != nil && (i >= chosen || !output) {
			return c, []nodeconfig.Problem{other.after.problem(follows)}
		}
		if i != chosen && joinsControlPlane(other.arguments) {
			problems = append(problems, other.at.idle("has no effect: the command line for worker nodes is taken, and this one is for the control plane"))
		}
	}
	return c, problems
}

// join reads a command line, or the whole line if it has a problem.
func (s *scanner) join() *command {
	c := &command{at: word{line: s.line, column: s.column}}
	s.words = nil
	s.command()
	rest, remarks := unwrap(s.words)
	c.remarks, c.arguments = remarks, parse(rest)
	if s.problem == nil && !starts(c.arguments, joinCommand) {
		s.refuse("is no kubeadm join")
	}
	c.words, c.problem = s.words, s.problem
	if s.problem != nil {
		s.problem = nil
		s.skip(lineLength(s.rest))
	}
	return c
}

// lineLength is the length of the first line of a text, including its end and its continuation lines.
func lineLength(text string) int {
	for at := 0; ; {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return len(text)
		}
		at += end + 1
		if !strings.HasSuffix(strings.TrimSuffix(text[:at-1], "\r"), `\`) {
			return at
		}
	}
}

// prompts are the last characters of shells' prompts, and the first ones of a quotation and of a shell's trace (POSIX, 2.5.3: PS4).
const prompts = "$#%>+\u276f"

// promptLength is the length of a shell's prompt at the beginning of a line: a character and a blank, perhaps after a name, as in
// "root@control-plane:~# ", "control-plane:~ # ", "[root@control-plane ~]# " and "(venv) user@control-plane:~$ ". It is 0 if there
// is no prompt.
func promptLength(line string) int {
	rest := strings.TrimLeft(line, blank)
	for _, pair := range []string{"()", "[]"} {
		if strings.HasPrefix(rest, pair[:1]) {
			_, rest, _ = strings.Cut(rest, pair[1:])
			rest = strings.TrimLeft(rest, blank)
		}
	}
	after := strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._~:/-")
	if !strings.HasSuffix(rest[:len(rest)-len(after)], ":") { // a key of YAML
		after = strings.TrimLeft(after, blank)
	}
	rest = after
	r, size := utf8.DecodeRuneInString(rest)
	if rest == "" || !strings.ContainsRune(prompts, r) {
		return 0
	}
	rest = rest[size:]
	if after := strings.TrimLeft(rest, blank); len(after) < len(rest) || strings.TrimLeft(after, whiteSpace) == "" {
		return len(line) - len(after)
	}
	return 0
}

// printed are the prefixes of lines that kubeadm init prints (k8s.io/kubernetes,
// cmd/kubeadm/app/cmd/phases/init/showjoincommand.go).
var printed = []string{
	"Your Kubernetes control-plane has initialized successfully!",
	"You can now join any number of ",
	"Please note that the certificate-key gives access to cluster sensitive data",
	"Then you can join any number of worker nodes by running the following on each as root:",
}

// isPrinted reports whether a line is kubeadm's output: one of those, the name of a phase in brackets, or a message of its log
// (k8s.io/klog/v2: L, month, day, blank).
func isPrinted(line string) bool {
	if strings.HasPrefix(line, "[") {
		phase, _, found := strings.Cut(line[1:], "] ")
		return found && strings.Trim(phase, "abcdefghijklmnopqrstuvwxyz-/") == ""
	}
	if len(line) > 6 && strings.IndexByte("IWEF", line[0]) >= 0 && strings.Trim(line[1:5], "0123456789") == "" && line[5] == ' ' {
		return true
	}
	return slices.ContainsFunc(printed, func(begin string) bool { return strings.HasPrefix(line, begin) })
}
