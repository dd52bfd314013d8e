package stability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// facts are what users rely on, by name. A name's attributes are lists of words.
type facts map[string]attributes

type attributes map[string][]string

// format is a JSON object with one line for each name.
func (f facts) format() ([]byte, error) {
	var out bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(f)) {
		line, err := json.Marshal(facts{name: f[name]})
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		separator := ",\n "
		if i == 0 {
			separator = "{\n "
		}
		out.WriteString(separator)
		out.Write(bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("{")), []byte("}")))
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// Break is a change that a user of the last release notices.
type Break struct {
	// ID names what has changed: a kind, and its name. The changelog names it so.
	ID string
	// What says what has changed.
	What string
}

// rule reports whether a change of an attribute breaks a user.
type rule func(old, current []string) bool

func changed(old, current []string) bool { return !slices.Equal(old, current) }

// lost reports whether a word is gone.
func lost(old, current []string) bool {
	return slices.ContainsFunc(old, func(word string) bool { return !slices.Contains(current, word) })
}

func added(old, current []string) bool { return lost(current, old) }

// narrowed reports whether fewer values are allowed. No word means that every value is.
func narrowed(old, current []string) bool {
	return len(current) > 0 && (len(old) == 0 || lost(old, current))
}

func widened(old, current []string) bool { return narrowed(current, old) }

// compare returns the breaks of one kind. What is below a removed name is not listed.
func compare(kind string, rules map[string]rule, old, current facts) (breaks []Break) {
	var removed []string
	for _, name := range slices.Sorted(maps.Keys(old)) {
		now, has := current[name]
		if !has {
			if !slices.ContainsFunc(removed, func(of string) bool { return isBelow(name, of) }) {
				removed = append(removed, name)
				breaks = append(breaks, Break{kind + " " + name, "it is removed"})
			}
			continue
		}
		breaks = append(breaks, compareAttributes(kind, rules, name, old[name], now)...)
	}
	for _, name := range slices.Sorted(maps.Keys(current)) {
		if _, known := old[above(name)]; known && old[name] == nil && isRequired(rules, current[name]) {
			breaks = append(breaks, Break{kind + " " + name, "it is new and required"})
		}
	}
	return breaks
}

func compareAttributes(kind string, rules map[string]rule, name string, old, current attributes) (breaks []Break) {
	for _, attribute := range slices.Sorted(maps.Keys(rules)) {
		if before, now := old[attribute], current[attribute]; rules[attribute](before, now) {
			what := fmt.Sprintf("its %s was %s, and is %s", attribute, shown(before), shown(now))
			breaks = append(breaks, Break{kind + " " + name, what})
		}
	}
	return breaks
}

func shown(words []string) string {
	if len(words) == 0 {
		return "not set"
	}
	return strings.Join(words, ", ")
}

// isRequired reports whether a new field with these attributes is one that earlier documents lack.
func isRequired(rules map[string]rule, of attributes) bool {
	required := rules["required"]
	return required != nil && required(nil, of["required"])
}

// isBelow reports whether a name is of something below another: a subcommand, a flag, a field.
func isBelow(name, of string) bool {
	rest, ok := strings.CutPrefix(name, of)
	return ok && rest != "" && strings.Contains(" .[", rest[:1])
}

// above is the name of the object that has a field.
func above(name string) string { return name[:max(strings.LastIndexAny(name, ".["), 0)] }
