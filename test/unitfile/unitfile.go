// Package unitfile parses units as systemd does, as far as a plan needs it: src/basic/extract-word.c and src/basic/env-util.c of
// systemd 255. Only tests call it.
package unitfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

const blank = " \t\n\r"

// Words splits a text at blanks, as systemd splits a variable that is a whole word: quotes join, and a backslash makes the next
// character literal, also within quotes of either kind.
func Words(s string) ([]string, error) {
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

// Settings returns a unit file's or drop-in's settings in their order, with continued lines joined.
func Settings(content string) [][2]string {
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

// expand replaces the variables in a command line, and doubled dollars.
func expand(line []string, variables map[string]string) ([]string, error) {
	var argv []string
	for _, w := range line {
		if name, alone := strings.CutPrefix(w, "$"); alone && !strings.HasPrefix(name, "{") && !strings.HasPrefix(name, "$") {
			words, err := Words(variables[name])
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

// Command returns the command line of a service as systemd makes it from a plan's files, and the service's variables.
func Command(p resource.Plan, service string) (argv []string, variables map[string]string, err error) {
	files, links := make(map[string]string), make(map[string]string)
	for _, r := range p.Resources {
		if l, ok := r.Spec.(*resource.Symlink); ok {
			links[l.Path] = l.Target
		}
		if f, ok := r.Spec.(*resource.File); ok {
			files[f.Path] = string(f.Content)
		}
	}
	unit := files[resource.UnitDir+"/"+service]
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path, resource.UnitDir+"/"+service+".d/") {
			unit += files[path]
		}
	}
	variables = make(map[string]string)
	var start string
	var environment []string
	for _, s := range Settings(unit) {
		switch s[0] {
		case "EnvironmentFile":
			environment = append(environment, s[1])
		case "ExecStart":
			start = s[1]
		case "Environment":
			words, err := Words(s[1])
			if err != nil {
				return nil, nil, err
			}
			for _, w := range words {
				name, value, _ := strings.Cut(strings.ReplaceAll(w, "%%", "%"), "=")
				variables[name] = value
			}
		}
	}
	for _, path := range environment {
		maps.Copy(variables, unitfile.Environment(files[cmp.Or(links[path], path)])) // they come after Environment=
	}
	line, err := Words(strings.ReplaceAll(start, "%%", "%"))
	if err != nil {
		return nil, nil, err
	}
	argv, err = expand(line, variables)
	return argv, variables, err
}
