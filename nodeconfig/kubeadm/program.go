package kubeadm

import (
	"path"
	"slices"
	"strings"
)

// remark is a problem of a word before kubeadm.
type remark struct {
	at word
	// about is the name of its subject.
	about, reason string
	fatal         bool
}

// sudoOption is an option of sudo (sudo(8)). All except the refused ones only concern how kubeadm gets its rights.
type sudoOption struct {
	short byte
	long  string
	// valued means that it has a value.
	valued bool
	// refused returns why no node is made with a value. If nil, every value is accepted.
	refused func(value string) string
}

var sudoOptions = []sudoOption{
	{short: 'A', long: "askpass"}, {short: 'b', long: "background"}, {short: 'B', long: "bell"}, {short: 'E', long: "preserve-env"},
	{short: 'H', long: "set-home"}, {short: 'i', long: "login"}, {short: 'k', long: "reset-timestamp"}, {short: 'n', long: "non-interactive"},
	{short: 'N', long: "no-update"}, {short: 'P', long: "preserve-groups"}, {short: 's', long: "shell"}, {short: 'S', long: "stdin"},
	{short: 'C', long: "close-from", valued: true}, {short: 'D', long: "chdir", valued: true}, {short: 'g', long: "group", valued: true},
	{short: 'p', long: "prompt", valued: true}, {short: 'r', long: "role", valued: true}, {short: 't', long: "type", valued: true},
	{short: 'T', long: "command-timeout", valued: true},
	{short: 'u', long: "user", valued: true, refused: func(user string) string {
		if user == "root" || user == "#0" {
			return ""
		}
		return "runs kubeadm join as another user than root, and no node joins that way"
	}},
	{short: 'R', long: "chroot", valued: true, refused: func(string) string { return "runs kubeadm join below another root directory" }},
}

// passing are programs that run the rest of the line unchanged.
var passing = []string{"command", "env", "exec", "nohup", "time"}

// unwrap returns the words after the program, if that is kubeadm. Before it there may be variables, and sudo or doas with options.
func unwrap(all []word) (rest []word, remarks []remark) {
	sudo := false
	for len(all) > 0 {
		w := all[0]
		all = all[1:]
		switch name, _, isVariable := strings.Cut(w.text, "="); {
		case sudo && w.text == "--":
		case sudo && strings.HasPrefix(w.text, "-"):
			remarks, all = sudoArgument(remarks, w, all)
		case isVariable && isName(name):
			remarks = append(remarks, remark{at: w, about: shownName(name),
				reason: "has no effect: it is in the environment of kubeadm alone; a native contract has the node's proxy in its field proxy"})
		default:
			switch program := path.Base(w.text); {
			case program == "kubeadm":
				return all, remarks
			case program == "sudo" || program == "doas":
				sudo = true
			case !slices.Contains(passing, program):
				return nil, nil
			}
		}
	}
	return nil, nil
}

// isName reports whether a string is a variable's name (POSIX, Base Definitions, 3.216).
func isName(text string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	return text != "" && strings.IndexByte(letters, text[0]) >= 0 && strings.Trim(text, letters+"0123456789") == ""
}

// runs reports whether a text begins with a kubeadm command line, with this kubeadm command if name is not empty. A character that
// only looks like a blank, or that is invisible, does not hide one: it is refused when the line is read.
func runs(text, name string) bool {
	for _, as := range []rune{' ', -1} {
		plain := strings.Map(func(r rune) rune {
			if isLookalike(r) {
				return as
			}
			return r
		}, text)
		all, _ := words(plain)
		if rest, _ := unwrap(all); rest != nil && (name == "" || starts(parse(rest), name)) {
			return true
		}
		if plain == text {
			return false
		}
	}
	return false
}

// starts reports whether the first word that is not a flag is this kubeadm command.
func starts(all []argument, name string) bool {
	plain := ordinary(all)
	return len(plain) > 0 && plain[0].text == name
}

// sudoArgument processes a word with options of sudo, and the value of the last one.
func sudoArgument(remarks []remark, w word, rest []word) ([]remark, []word) {
	refuse := func(reason string) { remarks = append(remarks, remark{w, "sudo", reason, true}) }
	long, value, has := strings.Cut(strings.TrimPrefix(w.text, "--"), "=")
	isLong := strings.HasPrefix(w.text, "--")
	for letters := strings.TrimPrefix(w.text, "-"); letters != ""; letters = letters[1:] {
		var o *sudoOption
		for i := range sudoOptions {
			if isLong && sudoOptions[i].long == long || !isLong && sudoOptions[i].short == letters[0] {
				o = &sudoOptions[i]
			}
		}
		if o == nil {
			refuse("has an option that Slipway does not know")
			break
		}
		if o.valued {
			if !isLong {
				value, has = letters[1:], len(letters) > 1
			}
			if !has && len(rest) > 0 {
				value, rest = rest[0].text, rest[1:]
			}
			if o.refused != nil {
				if reason := o.refused(value); reason != "" {
					refuse(reason)
				}
			}
		}
		if isLong || o.valued {
			break
		}
	}
	return remarks, rest
}
