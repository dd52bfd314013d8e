package difference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/resource"
)

// shownValue bounds what is shown of a value.
const shownValue = 60

// Text is the difference for people: each change with its class, files as unified diffs, the effects on units, and the class of
// the whole difference. Like diff(1), it is empty if there is no difference.
func (d *Difference) Text(style cli.Style) string {
	if d.Same {
		return ""
	}
	var out strings.Builder
	if v := d.Version; v != nil {
		fmt.Fprintf(&out, "\n%s  %s\n", style.Yellow(cli.Line("~ Kubernetes "+cmp.Or(v.Old, "installed")+" -> "+cmp.Or(v.New, "installed"))),
			painted(style, v.Class)("["+v.Class.Words()+"]"))
		whys(&out, "Kubernetes", v.Judgement, style)
	}
	wholeResources(&out, style.Red, "-", d.Removed, style)
	wholeResources(&out, style.Green, "+", d.Added, style)
	for _, c := range d.Changed {
		partOfResource(&out, c, style)
	}
	fmt.Fprintf(&out, "\n%d removed, %d added, %d changed\n", len(d.Removed), len(d.Added), len(d.Changed))
	if len(d.Units) > 0 {
		var units []string
		for _, u := range d.Units {
			name := resource.ShortUnits([]string{u.Unit})[0]
			units = append(units, style.Cyan(cli.Line(name))+" "+string(u.Effect))
		}
		out.WriteString("units: " + strings.Join(units, ", ") + "\n")
	}
	out.WriteString("class: " + painted(style, d.Class)(d.Class.Words()) + "\n")
	return out.String()
}

// painted returns the colour of a class.
func painted(style cli.Style, c Class) func(string) string {
	switch {
	case c > Restart:
		return style.Red
	case c > None:
		return style.Yellow
	}
	return style.Dim
}

// wholeResources reports resources that only one of the plans has.
func wholeResources(out *strings.Builder, paint func(string) string, sign string, resources []Whole, style cli.Style) {
	if len(resources) > 0 {
		out.WriteString("\n")
	}
	for _, r := range resources {
		shown := r.Spec.Describe()
		if shown.Secret {
			shown.Mode += " secret"
		}
		headline(out, paint, sign, r.Spec, shown.Title, r.Judgement, style, shown.Mode, shown.What)
	}
}

// partOfResource reports what differs in a resource that both plans have.
func partOfResource(out *strings.Builder, c Change, style cli.Style) {
	restarts := ""
	if len(c.restarts) > 0 {
		restarts = "restarts " + cli.List(resource.ShortUnits(c.restarts), "and")
	}
	out.WriteString("\n")
	headline(out, style.Yellow, "~", c.spec, c.spec.Name(), c.Judgement, style, restarts)
	for _, f := range c.Fields {
		fmt.Fprintf(out, "    %s: %s -> %s\n", cli.Line(strings.TrimPrefix(f.Path, "spec.")),
			style.Red(valueInWords(f.Old)), style.Green(valueInWords(f.New)))
	}
	switch {
	case c.ContentDiffers && c.Secret:
		out.WriteString("    secret content differs\n")
	case c.ContentDiffers && c.Content == "":
		out.WriteString("    content differs and is not text\n")
	case c.ContentDiffers:
		hunks(out, c.Content, style)
	}
}

// headline writes the changed resource, its class with remarks, and the tables' reasons. It leaves out that a unit restarts: that
// is already written.
func headline(out *strings.Builder, paint func(string) string, sign string, spec resource.Spec, title string, j Judgement, style cli.Style, remarks ...string) {
	fmt.Fprintf(out, "%s  %s%s\n", paint(cli.Line(sign+" "+spec.Kind()+" "+title)),
		painted(style, j.Class)("["+j.Class.Words()+"]"), aside(style, remarks...))
	whys(out, spec.Name(), j, style)
}

// whys writes the reasons of the judgement of a named change.
func whys(out *strings.Builder, name string, j Judgement, style cli.Style) {
	for _, r := range j.Reasons {
		if r.Source == fromPlan || r.Source == fromSystemd {
			continue
		}
		why := cli.Line(r.Why)
		if r.What != name {
			why = cli.Line(r.What) + ": " + why
		}
		fmt.Fprintf(out, "    %s\n", painted(style, r.Class)("! "+why))
		if r.Class > Restart {
			fmt.Fprintf(out, "      %s\n", style.Dim("("+cli.Line(r.Source)+")"))
		}
	}
}

// hunks writes the hunks of a unified diff without its header. A line of words that another line replaces, such as a command line, is
// compared word by word.
func hunks(out *strings.Builder, text string, style cli.Style) {
	_, text, _ = strings.Cut(cli.Clean(text), "\n@@")
	lines := strings.Split(strings.TrimSuffix("@@"+text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		removed := run(lines[i:], "-")
		added := run(lines[i+removed:], "+")
		if removed > 0 && removed == added {
			for n := range removed {
				replaced(out, lines[i+n], lines[i+removed+n], style)
			}
			i += removed + added - 1
			continue
		}
		hunkLine(out, lines[i], style)
	}
}

// run returns how many of the first lines have a sign.
func run(lines []string, sign string) int {
	n := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, sign) })
	if n < 0 {
		return len(lines)
	}
	return n
}

func hunkLine(out *strings.Builder, line string, style cli.Style) {
	switch {
	case strings.HasPrefix(line, "@@"):
		line = style.Cyan(line)
	case strings.HasPrefix(line, "-"):
		line = style.Red(line)
	case strings.HasPrefix(line, "+"):
		line = style.Green(line)
	default: // is there for orientation only
		line = cli.Shorten(line, style.Width()-len("    "))
	}
	out.WriteString("    " + line + "\n")
}

// replaced writes a line and its replacement. If both set the same name, and are too long for the terminal or have flags, it writes
// their words instead, each on a line, without those that both have.
func replaced(out *strings.Builder, old, new string, style cli.Style) {
	name, oldWords := wordsOf(old[1:])
	other, newWords := wordsOf(new[1:])
	long := len(old) > style.Width() || len(new) > style.Width() || strings.Contains(old+new, "--")
	if name == "" || name != other || !long {
		hunkLine(out, old, style)
		hunkLine(out, new, style)
		return
	}
	fmt.Fprintf(out, "     %s\n", name)
	for _, word := range onlyIn(oldWords, newWords) {
		out.WriteString("      " + style.Red("- "+word) + "\n")
	}
	for _, word := range onlyIn(newWords, oldWords) {
		out.WriteString("      " + style.Green("+ "+word) + "\n")
	}
}

// wordsOf splits a line into what it sets, such as "KUBELET_EXTRA_ARGS=" or "ExecStart=", and the words of the value.
func wordsOf(line string) (name string, words []string) {
	name, value, found := strings.Cut(line, "=")
	if !found || strings.ContainsAny(name, " \t") {
		return "", strings.Fields(line)
	}
	if words = strings.Fields(value); len(words) == 1 {
		words = strings.Split(value, ",") // labels
	}
	return name + "=", words
}

// onlyIn returns the words that other does not have.
func onlyIn(words, other []string) []string {
	rest := slices.Clone(other)
	var only []string
	for _, word := range words {
		if i := slices.Index(rest, word); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			only = append(only, word)
		}
	}
	return only
}

// aside writes remarks behind a line.
func aside(style cli.Style, remarks ...string) string {
	var said []string
	for _, r := range remarks {
		if r != "" {
			said = append(said, cli.Line(r))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "  " + style.Dim(strings.Join(said, "; "))
}

// valueInWords is a JSON value on one line, as much of it as is worth reading.
func valueInWords(value []byte) string {
	if len(value) == 0 {
		return "(none)"
	}
	return cli.Shorten(cli.Line(string(value)), shownValue)
}
