// Package manual writes the manual pages of a program from the description of its commands.
//
// It writes man(7) itself: cobra's writer takes a command's text for Markdown, and runs the lines of its tables together.
package manual

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// Page is a manual page.
type Page struct {
	// Name is that of its file, such as "slipway-image-lock.1".
	Name string
	Text []byte
}

// writer writes the pages of a program.
type writer struct {
	section int
	version string
	date    time.Time
	root    *command.Described
	pages   []Page
}

// Write writes a page for a program and one for each of its commands. date is the time of the commit.
func Write(root *command.Described, section int, version string, date time.Time) []Page {
	w := &writer{section: section, version: version, date: date, root: root}
	w.page(root, nil)
	return w.pages
}

// name is a command's name as one word.
func name(d *command.Described) string { return strings.ReplaceAll(d.Path, " ", "-") }

// page writes the page of a command, and those of the commands below.
func (w *writer) page(d, above *command.Described) {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %d %s %s\n", quote(strings.ToUpper(name(d))), w.section, w.date.UTC().Format(time.DateOnly), quote("Slipway "+w.version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name(d)), escape(lower(d.Short)))
	usage := d.Usage
	if len(d.Commands) > 0 {
		usage += " COMMAND"
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR\n%s", escape(d.Path), filled(strings.TrimPrefix(usage, d.Path)))
	b.WriteString(".SH DESCRIPTION\n" + text(cmp.Or(d.Long, d.Short)))
	if len(d.Commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range d.Commands {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(%d)\n%s", escape(name(&c)), w.section, filled(c.Short))
		}
	}
	flags(&b, "OPTIONS", d.Flags)
	if d == w.root {
		flags(&b, "OPTIONS OF EVERY COMMAND", d.GlobalFlags)
	}
	if d.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", lines(d.Example))
	}
	var see []string
	if above != nil {
		see = append(see, reference(above, w.section))
	}
	for _, c := range d.Commands {
		see = append(see, reference(&c, w.section))
	}
	if len(see) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(see, ",\n") + "\n")
	}
	w.pages = append(w.pages, Page{Name: fmt.Sprintf("%s.%d", name(d), w.section), Text: []byte(b.String())})
	for i := range d.Commands {
		w.page(&d.Commands[i], d)
	}
}

func reference(d *command.Described, section int) string {
	return fmt.Sprintf("\\fB%s\\fR(%d)", escape(name(d)), section)
}

func flags(b *strings.Builder, title string, all []command.DescribedFlag) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	for _, f := range all {
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fR, ", escape(f.Shorthand))
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", escape(f.Name))
		if f.Value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", escape(f.Value))
		}
		usage := f.Usage
		if f.Default != "" {
			usage += " (default " + f.Default + ")"
		}
		b.WriteString("\n" + filled(usage))
	}
}

// text is a text of paragraphs. An empty line ends one; a paragraph with a line that begins with a space keeps its lines.
func text(s string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", lines(paragraph))
			continue
		}
		b.WriteString(filled(paragraph))
	}
	return b.String()
}

// filled is a paragraph, which man(1) breaks for its terminal.
func filled(s string) string {
	var b strings.Builder
	for _, each := range cli.Wrap(s, 72) { // 80 bytes with what is escaped (mandoc -Tlint)
		b.WriteString(line(each) + "\n")
	}
	return b.String()
}

// lines are lines that stay lines.
func lines(s string) string {
	var b []string
	for each := range strings.Lines(s) {
		b = append(b, line(each))
	}
	return strings.Join(b, "\n")
}

// line is a line of text: at its beginning, a dot or a quote would be a request (roff(7)).
func line(s string) string {
	s = escape(strings.TrimRight(s, "\n"))
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// escape escapes what roff(7) does not print as it is: a backslash, a hyphen that people copy as part of a command, and quotes.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "→", `\(->`).Replace(s)
}

func quote(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }

// lower begins a description with a small letter, unless it begins with a name.
func lower(s string) string {
	if len(s) > 1 && strings.ToUpper(s[1:2]) == s[1:2] {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
