package difference

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// argument is a word of the kubelet's command line, or a variable or setting of the kubelet's, with the
// resource that it is written in.
type argument struct {
	value string
	from  resource.ID
}

// flagsOf are the kubelet's flags, by name without dashes, as systemd will pass them: the unit's command
// line, with the variables of its drop-ins and of its environment file. It reads what the planner writes,
// not all that systemd would take. A flag that is given more than once has its values with commas between,
// for that is how the kubelet joins lists.
func flagsOf(p resource.Plan) map[string]argument {
	flags := make(map[string]argument)
	variables := variablesOf(p)
	unit := resource.UnitDir + "/" + plan.KubeletUnit
	for _, r := range p.Resources {
		file, ok := r.Spec.(*resource.File)
		if !ok || file.Path != unit && path.Dir(file.Path) != unit+".d" {
			continue
		}
		for _, word := range commandWords(string(file.Content)) {
			if variable, ok := variables[strings.TrimPrefix(word, "$")]; ok && strings.HasPrefix(word, "$") {
				for _, w := range splitWords(variable.value) {
					addFlag(flags, argument{w, variable.from})
				}
				continue
			}
			addFlag(flags, expand(argument{word, r.ID()}, variables))
		}
	}
	return flags
}

// addFlag adds a flag, normalised as the kubelet does it: --node_ip is --node-ip.
func addFlag(flags map[string]argument, word argument) {
	name, value, hasValue := strings.Cut(word.value, "=")
	bare, isFlag := strings.CutPrefix(name, "--")
	if !isFlag {
		return
	}
	if !hasValue {
		value = "true"
	}
	name = strings.ReplaceAll(bare, "_", "-")
	if earlier, twice := flags[name]; twice {
		value = earlier.value + "," + value
	}
	flags[name] = argument{value, word.from}
}

// expand replaces the variables in braces, which stay within their word (systemd.service(5), "Command lines"). A word with
// variables is written where the last of them is.
func expand(word argument, variables map[string]argument) argument {
	rest := word.value
	word.value = ""
	for {
		before, after, ok := strings.Cut(rest, "${")
		name, after, closed := strings.Cut(after, "}")
		if !ok || !closed {
			word.value += rest
			return word
		}
		if variable := variables[name]; variable.from != "" {
			word = argument{word.value + before + variable.value, variable.from}
		} else {
			word.value += before
		}
		rest = after
	}
}

// commandWords are the words of a unit's ExecStart=, or of that of a drop-in. The settings of a snap are the flags without
// their dashes.
func commandWords(unit string) []string {
	for line := range strings.Lines(strings.ReplaceAll(unit, "\\\n", " ")) {
		command, ok := strings.CutPrefix(line, "ExecStart=")
		if words := strings.Fields(command); ok && len(words) > 0 {
			for i, word := range words {
				if setting, quoted := strings.CutPrefix(word, `"`); quoted && words[0] == "/bin/bash" {
					words[i] = "--" + strings.TrimSuffix(setting, `"`)
				}
			}
			return words
		}
	}
	return nil
}

// variablesOf are the variables that the kubelet's unit has.
func variablesOf(p resource.Plan) map[string]argument {
	variables := make(map[string]argument)
	environment := make(map[string]bool)
	for _, places := range plan.AllPlaces() {
		environment[places.KubeletEnv] = true
	}
	for _, family := range profile.All() {
		environment[family.Command.Metadata] = true
	}
	environment[profile.NodeEnvironment] = true
	for _, r := range p.Resources {
		file, ok := r.Spec.(*resource.File)
		switch {
		case !ok:
		case environment[file.Path]:
			for name, value := range environmentOf(string(file.Content)) {
				variables[name] = argument{value, r.ID()}
			}
		case path.Dir(file.Path) == resource.UnitDir+"/"+plan.KubeletUnit+".d":
			for line := range strings.Lines(string(file.Content)) {
				setting, ok := strings.CutPrefix(strings.TrimSpace(line), "Environment=")
				words := splitWords(strings.NewReplacer("%%", "%", "$$", "$").Replace(setting))
				if name, value, found := strings.Cut(strings.Join(words, " "), "="); ok && found {
					variables[name] = argument{value, r.ID()}
				}
			}
		}
	}
	return variables
}

// environmentOf reads an EnvironmentFile=, in which a value within double quotes may have lines.
func environmentOf(content string) map[string]string {
	variables := make(map[string]string)
	for content != "" {
		name, rest, ok := strings.Cut(content, "=")
		if !ok {
			break
		}
		quoted, isQuoted := strings.CutPrefix(rest, `"`)
		if !isQuoted {
			variables[name], content, _ = strings.Cut(rest, "\n")
			continue
		}
		var value strings.Builder
		end := 0
		for ; end < len(quoted) && quoted[end] != '"'; end++ {
			if quoted[end] == '\\' && end+1 < len(quoted) {
				end++
			}
			value.WriteByte(quoted[end])
		}
		variables[name] = value.String()
		_, content, _ = strings.Cut(quoted[end:], "\n")
	}
	return variables
}

// splitWords splits at blanks: quotes join, a backslash makes what follows plain (systemd.service(5),
// "Command lines").
func splitWords(s string) []string {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
			inWord = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inWord = c, true
		case quote == 0 && slices.Contains([]byte(" \t\n"), c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
