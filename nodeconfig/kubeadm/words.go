package kubeadm

import (
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// word is one of a command line.
type word struct {
	text string
	// line and column are where it begins, from 1, the column in characters.
	line, column int32
}

// words splits a command line as a shell does, with its quotes, its backslashes and lines that go on (POSIX, Shell Command
// Language, 2.2 and 2.3). Nothing is expanded or run: a text for which a shell would do more is refused, at its place.
func words(text string) ([]word, *nodeconfig.Problem) {
	s := &scanner{rest: text, line: 1, column: 1}
	for s.problem == nil {
		s.blanks()
		if s.rest == "" || s.problem != nil {
			break
		}
		w := word{line: s.line, column: s.column}
		w.text = s.word()
		s.words = append(s.words, w)
	}
	return s.words, s.problem
}

// scanner reads a command line.
type scanner struct {
	rest         string
	line, column int32
	words        []word
	problem      *nodeconfig.Problem
}

// refuse ends the reading, at the next character.
func (s *scanner) refuse(reason string) {
	s.problem = &nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true, Line: int(s.line), Column: int(s.column)}
}

// next takes a character.
func (s *scanner) next() rune {
	r, size := utf8.DecodeRuneInString(s.rest)
	s.rest = s.rest[size:]
	s.column++
	if r == '\n' {
		s.line, s.column = s.line+1, 1
	}
	return r
}

// goesOn takes the end of a line that goes on, if there is one next.
func (s *scanner) goesOn() bool {
	for _, end := range []string{"\\\n", "\\\r\n"} {
		if strings.HasPrefix(s.rest, end) {
			for range end {
				s.next()
			}
			return true
		}
	}
	return false
}

// blanks takes what is between words.
func (s *scanner) blanks() {
	for s.rest != "" {
		switch c := s.rest[0]; {
		case s.goesOn():
			if strings.TrimSpace(s.rest) == "" {
				s.refuse("the command line is cut off: it ends with a backslash, and nothing follows")
				return
			}
		case c == ' ' || c == '\t' || len(s.words) == 0 && (c == '\n' || c == '\r'):
			s.next()
		case strings.TrimSpace(s.rest) == "":
			s.rest = ""
		case c == '\n' || c == '\r':
			s.refuse("the command line ends here, and something follows; end a line that goes on with a backslash")
			return
		default:
			return
		}
	}
}

// special are the characters for which a shell does something.
const special = "$`;|&<>()*?[]{}~!#"

// word takes a word.
func (s *scanner) word() string {
	var b strings.Builder
	for s.rest != "" && s.problem == nil && !s.goesOn() {
		switch c := s.rest[0]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			return b.String()
		case c == '\'' || c == '"':
			s.quoted(&b, c)
		case strings.IndexByte(special, c) >= 0:
			s.refuse("has a character for which a shell would do something, and nothing is run here; put it in single quotes, if it is meant")
		case c == '\\':
			s.next()
			s.literal(&b)
		default:
			s.literal(&b)
		}
	}
	return b.String()
}

// literal takes a character for itself.
func (s *scanner) literal(b *strings.Builder) {
	r, size := utf8.DecodeRuneInString(s.rest)
	switch {
	case size == 0:
		s.refuse("the command line is cut off: it ends with a backslash, and nothing follows")
	case r == utf8.RuneError && size == 1:
		s.refuse("is not UTF-8")
	case r < ' ' || r == 0x7f:
		s.refuse("has a control character or a line break in a word")
	default:
		b.WriteRune(s.next())
	}
}

// quoted takes what is in quotes.
func (s *scanner) quoted(b *strings.Builder, quote byte) {
	line, column := s.line, s.column
	for s.next(); s.problem == nil; {
		switch {
		case s.rest == "":
			s.line, s.column = line, column
			s.refuse("the command line is cut off: a quote begins here, and does not end")
		case s.rest[0] == quote:
			s.next()
			return
		case quote == '"' && s.goesOn():
		case quote == '"' && (s.rest[0] == '$' || s.rest[0] == '`'):
			s.refuse("has a character that a shell would expand, and nothing is expanded here; use single quotes, if it is meant")
		case quote == '"' && s.rest[0] == '\\' && len(s.rest) > 1 && strings.IndexByte("\"\\$`", s.rest[1]) >= 0:
			s.next()
			s.literal(b)
		default:
			s.literal(b)
		}
	}
}

// node is the word as a value of a document.
func (w word) node() document.Node {
	return document.Node{Kind: document.String, Text: w.text, Line: w.line, Column: w.column}
}
