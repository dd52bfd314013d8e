package unitfile

import "strings"

// CommandLine returns the words of a service's last start command, with its variables expanded: the program without its
// prefixes, and its arguments (systemd.service(5), "Command lines"). variables are those of [Loaded.Assigned].
func (u *Loaded) CommandLine(variables []Assigned) []string {
	values := make(map[string]string, len(variables))
	for _, v := range variables {
		values[v.Name] = v.Text
	}
	var words []string
	for rest := u.last("ExecStart").Value; rest != ""; {
		var w word
		var ok bool
		if w, rest, ok = nextWord(rest); !ok || w.text == ";" {
			break
		}
		text := expand(u.name, w.text)
		if len(words) == 0 {
			text = strings.TrimLeft(text, "@-:+!|")
		}
		// A word that is only a variable becomes as many words as its value has.
		if name, only := strings.CutPrefix(text, "$"); only && isVariable(name) {
			words = append(words, split(values[name])...)
			continue
		}
		words = append(words, substitute(text, values))
	}
	return words
}

// split returns the words of a variable's value.
func split(value string) (words []string) {
	for rest := value; rest != ""; {
		var w word
		var ok bool
		if w, rest, ok = nextWord(rest); !ok {
			break
		}
		words = append(words, w.text)
	}
	return words
}

// substitute replaces each ${NAME} in a word.
func substitute(text string, values map[string]string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed || !isVariable(name) {
			b.WriteString("${")
			text = after
			continue
		}
		b.WriteString(values[name])
		text = rest
	}
}
