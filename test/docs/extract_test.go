package docs

import (
	"regexp"
	"strings"
)

// block is a piece of a document that is not prose.
type block struct {
	// language is the fence's language, or "commands" for an indented block.
	language string
	text     string
	line     int
	// file is the last file name in the prose before it, under which the reader saves it.
	file string
	// heading is the heading above it.
	heading string
}

// fileName is a file's name in prose: `node.yaml`, or a file of a package of the project.
var fileName = regexp.MustCompile("`([a-z-]+\\.(?:yaml|json|go|sh)|[a-z0-9]+/[a-z0-9_/-]+\\.(?:go|yaml))`")

// blocks returns a Markdown document's blocks. In these documents, commands are indented by four spaces, and everything else is
// between fences.
func blocks(document string) []block {
	var all []block
	var open *block
	fenced, file, heading := false, "", ""
	finish := func() {
		if open != nil {
			all = append(all, *open)
		}
		open = nil
	}
	for i, line := range strings.Split(document, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		indented, isIndented := strings.CutPrefix(line, "    ")
		switch {
		case fence && fenced:
			fenced = false
			finish()
		case fence:
			finish()
			fenced, open = true, &block{language: language, line: i + 1, file: file, heading: heading}
		case fenced:
			open.text += line + "\n"
		case isIndented && open == nil:
			open = &block{language: "commands", text: indented + "\n", line: i + 1, heading: heading}
		case isIndented:
			open.text += indented + "\n"
		default:
			finish()
			if strings.HasPrefix(line, "#") {
				heading = line
			}
			for _, found := range fileName.FindAllStringSubmatch(line, -1) {
				file = found[1]
			}
		}
	}
	finish()
	return all
}

// prose returns a document without its blocks, with each paragraph on one line.
func prose(document string) string {
	fenced := false
	var kept []string
	for line := range strings.SplitSeq(document, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

var (
	span = regexp.MustCompile("`([^`\n]+)`")
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// found returns the first group of every match, without repetitions.
func found(pattern *regexp.Regexp, text string) []string {
	var all []string
	seen := make(map[string]bool)
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		if !seen[match[1]] {
			seen[match[1]] = true
			all = append(all, match[1])
		}
	}
	return all
}

// anchor is a heading's name in links.
func anchor(heading string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			out.WriteByte('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// anchors are those of a document's headings.
func anchors(document string) map[string]bool {
	all := make(map[string]bool)
	for line := range strings.SplitSeq(prose(document), "\n") {
		if strings.HasPrefix(line, "#") {
			all[anchor(strings.TrimLeft(line, "#"))] = true
		}
	}
	return all
}
