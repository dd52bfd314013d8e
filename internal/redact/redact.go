// Package redact removes secrets from texts that others read: errors, logs, results, and the files of a support bundle. It
// recognizes secrets by their form ([Secrets], [Line]), and a [Scrubber] also by their values, in every usual encoding.
//
// It does not know the author of a text: a secret of the contract is typed (nodeconfig.Secret), and never gets here but as a
// value to look for. internal/systemd uses the package for journals, internal/probe for answers, internal/collect for files.
package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// Secrets removes everything from a text that looks like a secret.
func Secrets(text string) string {
	all, complete := byForm([]byte(text), false)
	if !complete {
		return redacted
	}
	found := join(all)
	if len(found) == 0 {
		return text
	}
	var rest strings.Builder
	end := 0
	for _, secret := range found {
		rest.WriteString(text[end:secret.start])
		rest.WriteString(redacted)
		end = secret.end
	}
	return rest.String() + text[end:]
}

// Line prepares an external text for showing: in one line, without secrets, control characters and characters that
// reverse or hide text, and at most limit bytes long.
func Line(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
	// This precedes the cut, because a secret that is cut in two is not recognized.
	text = Secrets(strings.Join(strings.Fields(text), " "))
	if len(text) <= limit {
		return text
	}
	const more = "..."
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}
