// Package unitfile writes systemd's units and drop-ins, and judges those of a contract's author as systemd reads them.
// The parts of a line that it writes are [Text]: a constant converts to it directly, and every other value must be
// quoted first, so that no value of a contract or machine has a meaning for systemd. It does not touch a machine.
// nodeconfig, internal/agentless and the packages of internal/plan call it.
package unitfile

import (
	"bytes"
	"strconv"
	"strings"
)

// Text is text in the syntax of systemd's units: a percent sign begins a specifier, and a dollar sign a variable of a
// command.
type Text string

// Line is a line of a unit: a section's head, a setting, or a comment.
type Line struct {
	text    Text
	section bool
}

// Section is the head of a section.
//
//go:noinline
func Section(name Text) Line { return Line{"[" + name + "]", true} }

// Set is a setting.
//
//go:noinline
func Set(key, value Text) Line { return Line{key + "=" + value, false} }

// Command is a setting with a command, one word in each line.
func Command(key Text, words ...Text) Line { return Set(key, join(words, " \\\n    ")) }

// Assign is a setting that assigns a value to an environment variable (systemd.exec(5), Environment=: a dollar sign has
// no meaning there).
func Assign(key, name Text, value string) Line {
	return Set(key, `"`+name+"="+Text(assigned.Replace(value))+`"`)
}

// Comment is a comment of one line.
func Comment(text Text) Line { return Line{"# " + text, false} }

// File writes a unit or a drop-in, with an empty line between sections.
func File(lines ...Line) []byte {
	var b bytes.Buffer
	for i, l := range lines {
		if l.section && i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(string(l.text) + "\n")
	}
	return b.Bytes()
}

// Words joins texts with blanks.
func Words(texts ...Text) Text { return join(texts, " ") }

func join(texts []Text, between string) Text {
	words := make([]string, len(texts))
	for i, t := range texts {
		words[i] = string(t)
	}
	return Text(strings.Join(words, between))
}

var (
	quoted   = strings.NewReplacer("%", "%%", "$", "$$", `\`, `\\`, `"`, `\"`)
	spaced   = strings.NewReplacer("%", "%%", "$", "$$", `\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)
	assigned = strings.NewReplacer("%", "%%", `\`, `\\`, `"`, `\"`)
)

// Quote turns a value into one word, or a part of one: specifiers, variables and quotes lose their meaning
// (systemd.unit(5), "Specifiers"; systemd.service(5), "Command lines").
//
//go:noinline
func Quote(value string) Text { return Text(quoted.Replace(value)) }

// Number is a number.
func Number(n int) Text { return Text(strconv.Itoa(n)) }

// Word turns a value into one whole word of a command.
func Word(value string) Text {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-=,:+@", r)
	}
	if value != "" && strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0 {
		return Text(value)
	}
	return `"` + Text(spaced.Replace(value)) + `"`
}

// Variable is an environment variable in a command, whose value systemd splits into words. Braced is one whose value
// stays one part of a word (systemd.service(5), "Command lines").
func Variable(name string) Text { return "$" + Text(name) }
func Braced(name string) Text   { return "${" + Text(name) + "}" }
