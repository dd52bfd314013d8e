package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// What follows reads units and environment files as systemd does, no more of it than a plan writes:
// src/basic/env-file.c, src/basic/extract-word.c and src/basic/env-util.c of systemd 255.

const blank = " \t\n\r"

// readEnvironment reads an EnvironmentFile=.
func readEnvironment(content string) map[string]string {
	variables := make(map[string]string)
	const (
		beforeName = iota
		inName
		beforeValue
		inValue
		escaped
		single
		double
		doubleEscaped
		comment
		commentEscaped
	)
	var name, value strings.Builder
	state, trailing := beforeName, -1 // where blanks at the value's end begin
	push := func() {
		text := value.String()
		if trailing >= 0 {
			text = text[:trailing]
		}
		variables[strings.TrimRight(name.String(), blank)] = text
		name.Reset()
		value.Reset()
		state, trailing = beforeName, -1
	}
	for i := range len(content) {
		c := content[i]
		is := func(set string) bool { return strings.IndexByte(set, c) >= 0 }
		switch state {
		case beforeName:
			if is("#;") {
				state = comment
			} else if !is(blank) {
				state = inName
				name.WriteByte(c)
			}
		case inName:
			switch {
			case is("\n\r"):
				name.Reset()
				state = beforeName
			case c == '=':
				state = beforeValue
			default:
				name.WriteByte(c)
			}
		case beforeValue, inValue:
			switch {
			case is("\n\r"):
				push()
			case c == '\'' && state == beforeValue:
				state = single
			case c == '"' && state == beforeValue:
				state = double
			case c == '\\':
				state, trailing = escaped, -1
			case is(blank):
				if state == inValue {
					if trailing < 0 {
						trailing = value.Len()
					}
					value.WriteByte(c)
				}
			default:
				state, trailing = inValue, -1
				value.WriteByte(c)
			}
		case escaped:
			state = inValue
			if !is("\n\r") {
				value.WriteByte(c)
			}
		case single:
			if c == '\'' {
				state = beforeValue
			} else {
				value.WriteByte(c)
			}
		case double:
			switch c {
			case '"':
				state = beforeValue
			case '\\':
				state = doubleEscaped
			default:
				value.WriteByte(c)
			}
		case doubleEscaped:
			state = double
			if is("\"\\`$") {
				value.WriteByte(c)
			} else if c != '\n' {
				value.WriteByte('\\')
				value.WriteByte(c)
			}
		case comment:
			if c == '\\' {
				state = commentEscaped
			} else if is("\n\r") {
				state = beforeName
			}
		case commentEscaped:
			state = comment
		}
	}
	if state != beforeName && state != inName && state != comment {
		push()
	}
	return variables
}

// splitWords splits at blanks, as systemd splits a variable that is a word of its own: quotes join,
// and a backslash makes what follows plain, within quotes of either kind too.
func splitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) {
				return nil, errors.New("ends in a backslash")
			}
			word.WriteByte(s[i])
			inWord = true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case strings.IndexByte(blank, c) >= 0:
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("has an open quote")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// settings are a unit file's or drop-in's settings in their order, continued lines joined.
func settings(content string) [][2]string {
	var list [][2]string
	content = strings.ReplaceAll(content, "\\\n", " ")
	for line := range strings.SplitSeq(content, "\n") {
		line = strings.Trim(line, blank)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "[") {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		list = append(list, [2]string{strings.TrimRight(name, blank), strings.TrimLeft(value, blank)})
	}
	return list
}

// expand replaces the variables of a command line, and the doubled dollars.
func expand(line []string, variables map[string]string) ([]string, error) {
	var argv []string
	for _, w := range line {
		if name, alone := strings.CutPrefix(w, "$"); alone && !strings.HasPrefix(name, "{") && !strings.HasPrefix(name, "$") {
			words, err := splitWords(variables[name])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			argv = append(argv, words...)
			continue
		}
		for name, value := range variables {
			w = strings.ReplaceAll(w, "${"+name+"}", strings.ReplaceAll(value, "$", "$$"))
		}
		argv = append(argv, strings.ReplaceAll(w, "$$", "$"))
	}
	return argv, nil
}

// kubeletCommand is the kubelet's command line as systemd makes it of a plan's files.
func kubeletCommand(p resource.Plan) (argv []string, variables map[string]string, err error) {
	files := make(map[string]string)
	for _, r := range p.Resources {
		if f, ok := r.Spec.(*resource.File); ok {
			files[f.Path] = string(f.Content)
		}
	}
	unit := files[unitDir+"/"+kubeletUnit]
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path, kubeletDropIns) {
			unit += files[path]
		}
	}
	variables = make(map[string]string)
	var start, environment string
	for _, s := range settings(unit) {
		switch s[0] {
		case "EnvironmentFile":
			environment = s[1]
		case "ExecStart":
			start = s[1]
		case "Environment":
			words, err := splitWords(s[1])
			if err != nil {
				return nil, nil, err
			}
			for _, w := range words {
				name, value, _ := strings.Cut(strings.ReplaceAll(w, "%%", "%"), "=")
				variables[name] = value
			}
		}
	}
	maps.Copy(variables, readEnvironment(files[environment])) // which comes after Environment=
	line, err := splitWords(strings.ReplaceAll(start, "%%", "%"))
	if err != nil {
		return nil, nil, err
	}
	argv, err = expand(line, variables)
	return argv, variables, err
}
