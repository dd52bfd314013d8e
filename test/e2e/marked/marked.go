// Package marked writes the parts of a document that a program measures or generates, between two comments with the part's name.
package marked

import (
	"fmt"
	"strings"
)

// Fill puts a text between a mark's lines, "<!-- MARK -->" and "<!-- end of MARK -->".
func Fill(document, mark, text string) (string, error) {
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->\n"
	before, rest, found := strings.Cut(document, begin)
	if !found {
		return "", fmt.Errorf("no line %q", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("no %q after %q", strings.TrimSpace(end), strings.TrimSpace(begin))
	}
	return before + begin + text + end + after, nil
}
