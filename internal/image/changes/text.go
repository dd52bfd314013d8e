package changes

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
)

// titles are the headings of the notes.
var titles = map[string]string{
	Added: "New", Upgraded: "Upgraded", Downgraded: "Downgraded", Replaced: "Replaced, with the same version", Changed: "Changed", Removed: "Removed",
}

// Text writes the changes as release notes.
func (c *Changes) Text(style cli.Style) string {
	if c.Same() {
		return "no change\n"
	}
	var out strings.Builder
	line := func(parts ...string) { out.WriteString(strings.Join(parts, "") + "\n") }
	if k := c.Kubernetes; k != nil {
		var words []string
		if len(k.Added) > 0 {
			words = append(words, "now "+strings.Join(k.Added, ", "))
		}
		if len(k.Removed) > 0 {
			words = append(words, "no longer "+strings.Join(k.Removed, ", "))
		}
		line(style.Bold("Kubernetes: "), strings.Join(words, "; "))
	}
	if c.Base != nil {
		line(style.Bold("Base: "), arrow(c.Base.From, c.Base.To))
	}
	for _, what := range order {
		of := slices.DeleteFunc(slices.Clone(c.Components), func(change Change) bool { return change.What != what })
		if len(of) == 0 {
			continue
		}
		if out.Len() > 0 {
			line()
		}
		line(style.Bold(titles[what]))
		table := cli.Table{Indent: "  "}
		for _, change := range of {
			rest := change.Details
			first := ""
			if len(rest) > 0 {
				first, rest = rest[0], rest[1:]
			}
			table.Row(cli.Cell{Text: change.Name}, cli.Cell{Text: change.versions()}, cli.Cell{Text: first})
			for _, detail := range rest {
				table.Row(cli.Cell{}, cli.Cell{}, cli.Cell{Text: detail})
			}
		}
		out.WriteString(table.String())
	}
	if len(c.Bytes) > 0 {
		line()
	}
	for _, architecture := range slices.Sorted(maps.Keys(c.Bytes)) {
		b := c.Bytes[architecture]
		from := ""
		if b.From > 0 {
			from = cli.Size(b.From)
		}
		line(architecture, ": ", arrow(from, cli.Size(b.To)))
	}
	return out.String()
}

// versions are a component's version before and after.
func (c *Change) versions() string {
	if c.From == c.To {
		return c.To
	}
	return arrow(c.From, c.To)
}

// arrow joins a value before and after. One of them can be empty.
func arrow(from, to string) string {
	switch {
	case from == "" || from == to:
		return to
	case to == "":
		return from
	}
	return from + " → " + to
}
