package difference

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan"
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
	for _, r := range p.Resources {
		file, ok := r.Spec.(*resource.File)
		if !ok || file.Path != resource.UnitDir+"/"+plan.KubeletUnit {
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

// expand replaces a variable in braces, which stays within its word (systemd.service(5), "Command lines").
func expand(word argument, variables map[string]argument) argument {
	before, rest, ok := strings.Cut(word.value, "${")
	name, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return word
	}
	variable := variables[name]
	if variable.from == "" {
		variable.from = word.from
	}
	return argument{before + variable.value + after, variable.from}
}

// commandWords are the words of a unit's ExecStart=.
func commandWords(unit string) []string {
	for line := range strings.Lines(strings.ReplaceAll(unit, "\\\n", " ")) {
		if command, ok := strings.CutPrefix(line, "ExecStart="); ok {
			return strings.Fields(command)
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
