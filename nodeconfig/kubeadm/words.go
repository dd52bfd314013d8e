package kubeadm

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The limits of a command line. The scanner stops there, so a long line costs no more than a short one.
const (
	maxLine  = 16 << 10
	maxWords = 256
)

const (
	blank      = " \t"
	whiteSpace = blank + "\r\n"
	// special are the characters with a special meaning outside of quotes in a shell: dash, bash or zsh.
	special = "$`;|&<>()*?[]{}~!#"
	// withheld is printed instead of a token (cmd/kubeadm/app/cmd/util/join.go).
	withheld = "<value withheld>"
	// secondPrompt is a shell's prompt before a continuation line (POSIX, Shell Command Language, 2.5.3: PS2).
	secondPrompt = "> "
)

const (
	cutOff  = "the command line is cut off: it ends with a backslash, and nothing follows"
	follows = "the command line ends here, and something follows; end a line that goes on with a backslash, with no blank after it"
)

// word is a word of a command line.
type word struct {
	text string
	// line and column are its position, from 1, the column in characters.
	line, column int32
}

// node converts the word to a value of a document.
func (w word) node() document.Node {
	return document.Node{Kind: document.String, Text: w.text, Line: w.line, Column: w.column}
}

// problem returns a fatal problem at the word.
func (w word) problem(reason string) nodeconfig.Problem {
	return nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true, Line: int(w.line), Column: int(w.column)}
}

// idle returns a warning at the word.
func (w word) idle(reason string) nodeconfig.Problem {
	p := w.problem(reason)
	p.Kind, p.Fatal = nodeconfig.NoEffect, false
	return p
}

// words splits a text that is one command line.
func words(text string) ([]word, *nodeconfig.Problem) {
	s := scanner{rest: text, line: 1, column: 1}
	s.command()
	if s.problem == nil && strings.TrimLeft(s.rest, whiteSpace) != "" {
		s.refuse(follows)
	}
	return s.words, s.problem
}

// scanner reads command lines.
type scanner struct {
	rest         string
	line, column int32
	// budget is the number of bytes that the command line may still have.
	budget int
	// prompted reports whether the line has a prompt before it, so that a continuation line may have one, too.
	prompted bool
	words    []word
	problem  *nodeconfig.Problem
}

// command reads a command line up to the end of its last line. It splits it into the same words as a shell, with its quotes, its
// backslashes and continuation lines (POSIX, Shell Command Language, 2.2 and 2.3). It expands and executes nothing: if a shell
// would do more with the text, the text is refused, with the position.
func (s *scanner) command() {
	s.budget = maxLine
	for s.blanks(); s.problem == nil && !s.atEnd(); s.blanks() {
		if s.rest[0] == '#' { // a comment (2.3, rule 9)
			for s.problem == nil && !s.atEnd() {
				s.next()
			}
			return
		}
		if len(s.words) == maxWords {
			s.tooLong()
			return
		}
		w := word{line: s.line, column: s.column}
		w.text = s.word()
		s.words = append(s.words, w)
	}
}

// refuse ends the reading with a problem at the next character.
func (s *scanner) refuse(reason string) {
	p := word{line: s.line, column: s.column}.problem(reason)
	s.problem = &p
}

func (s *scanner) tooLong() {
	s.refuse(fmt.Sprintf("is longer than any kubeadm join: more than %d bytes or %d words", maxLine, maxWords))
}

// next consumes a character, or refuses one beyond the limit.
func (s *scanner) next() rune {
	r, size := utf8.DecodeRuneInString(s.rest)
	if s.budget -= size; s.budget < 0 {
		s.tooLong()
		return r
	}
	s.rest = s.rest[size:]
	s.column++
	if r == '\n' {
		s.line, s.column = s.line+1, 1
	}
	return r
}

// skip consumes bytes outside the command line.
func (s *scanner) skip(n int) {
	passed := s.rest[:n]
	s.rest = s.rest[n:]
	if end := strings.LastIndexByte(passed, '\n'); end >= 0 {
		s.line, s.column = s.line+int32(strings.Count(passed, "\n")), 1
		passed = passed[end+1:]
	}
	s.column += int32(utf8.RuneCountInString(passed))
}

// skipBlanks consumes blanks and empty lines.
func (s *scanner) skipBlanks() { s.skip(len(s.rest) - len(strings.TrimLeft(s.rest, whiteSpace))) }

// atEnd reports whether a line ends here.
func (s *scanner) atEnd() bool {
	return s.rest == "" || s.rest == "\r" || s.rest[0] == '\n' || strings.HasPrefix(s.rest, "\r\n")
}

// goesOn consumes a line end with a continuation, if it is next.
func (s *scanner) goesOn() bool {
	for _, end := range []string{"\\\n", "\\\r\n"} {
		if strings.HasPrefix(s.rest, end) {
			for range end {
				s.next()
			}
			if s.prompted && strings.HasPrefix(s.rest, secondPrompt) {
				s.skip(len(secondPrompt))
			}
			if s.problem == nil && strings.TrimLeft(s.rest, whiteSpace) == "" {
				s.refuse(cutOff)
			}
			return true
		}
	}
	return false
}

// blanks consumes the blanks between words.
func (s *scanner) blanks() {
	for s.problem == nil && s.rest != "" {
		switch {
		case s.goesOn():
		case strings.IndexByte(blank, s.rest[0]) >= 0:
			s.next()
		default:
			return
		}
	}
}

// word consumes a word.
func (s *scanner) word() string {
	var b strings.Builder
	for s.problem == nil && !s.atEnd() {
		switch c := s.rest[0]; {
		case s.goesOn():
		case strings.IndexByte(blank, c) >= 0:
			return b.String()
		case c == '\'' || c == '"':
			s.quoted(&b, c)
		case c == '[' && b.Len() == 0 && bracketed(s.rest) > 0:
			for range bracketed(s.rest) {
				s.literal(&b)
			}
		case strings.HasPrefix(s.rest, withheld):
			s.refuse("has no value here, because kubeadm has withheld it; kubeadm token create --print-join-command prints the whole line")
		case strings.IndexByte(special, c) >= 0:
			s.refuse("has a character for which a shell would do something, and nothing is run here; leave it out, or put it in single quotes if a value has it")
		case c == '\\':
			s.next()
			s.literal(&b)
		default:
			s.literal(&b)
		}
	}
	return b.String()
}

// bracketed is the length of the IPv6 address in brackets at the beginning of a text (RFC 3986, 3.2.2). It is 0 if there is no such
// address. kubeadm prints one without quotes. A shell takes it for a pattern, which stays as it is if it matches no file (POSIX,
// 2.13.3).
func bracketed(text string) int {
	end := strings.IndexByte(text[:min(len(text), 64)], ']')
	if end < 0 || strings.ContainsAny(text[1:end], special+whiteSpace+`'"\`) {
		return 0
	}
	if addr, err := netip.ParseAddr(text[1:end]); err != nil || !addr.Is6() {
		return 0
	}
	return end + 1
}

// literal consumes a literal character.
func (s *scanner) literal(b *strings.Builder) {
	r, size := utf8.DecodeRuneInString(s.rest)
	switch {
	case s.problem != nil: // the limit is reached
	case size == 0:
		s.refuse(cutOff)
	case r == utf8.RuneError && size == 1:
		s.refuse("is not UTF-8")
	case r < ' ' || r == 0x7f:
		s.refuse("has a control character or a line break in a word")
	case isLookalike(r):
		s.refuse(fmt.Sprintf("has the character U+%04X, which is no blank, hyphen or quote for a shell, though it looks like one or is not seen; type it again here", r))
	default:
		b.WriteRune(s.next())
	}
}

// isLookalike reports whether a character is invisible, or looks like a blank, hyphen or quote, but is a part of a word for a
// shell. Web pages and word processors put such characters into command lines.
func isLookalike(r rune) bool {
	const brailleBlank, minus = '\u2800', '\u2212'
	return r >= utf8.RuneSelf && (r == brailleBlank || r == minus ||
		unicode.In(r, unicode.Z, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
			unicode.Pd, unicode.Pi, unicode.Pf))
}

// quoted consumes a quoted part.
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
