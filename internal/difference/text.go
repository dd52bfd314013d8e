package difference

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/resource"
)

// shownValue bounds what is shown of a value.
const shownValue = 60

// Text is the difference for people: each change with its class, files as unified diffs, what happens to
// units, and the class of it all. It is empty where there is no difference, as diff(1) has it.
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

// painted colours what is said of a class.
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

// headline writes what changes, its class with what there is to say of it, and the reasons that the
// tables give. That a unit restarts has been said.
func headline(out *strings.Builder, paint func(string) string, sign string, spec resource.Spec, title string, j Judgement, style cli.Style, remarks ...string) {
	fmt.Fprintf(out, "%s  %s%s\n", paint(cli.Line(sign+" "+spec.Kind()+" "+title)),
		painted(style, j.Class)("["+j.Class.Words()+"]"), aside(style, remarks...))
	whys(out, spec.Name(), j, style)
}

// whys writes the reasons of a judgement of what has a name.
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

// hunks writes the hunks of a unified diff; its header has been said.
func hunks(out *strings.Builder, text string, style cli.Style) {
	inHunk := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(cli.Clean(line), "\n")
		inHunk = inHunk || strings.HasPrefix(line, "@@")
		switch {
		case !inHunk:
			continue
		case strings.HasPrefix(line, "@@"):
			line = style.Cyan(line)
		case strings.HasPrefix(line, "-"):
			line = style.Red(line)
		case strings.HasPrefix(line, "+"):
			line = style.Green(line)
		}
		out.WriteString("    " + line + "\n")
	}
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
