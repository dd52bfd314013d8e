package status

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// How many entries of a list a report shows.
const (
	maxFailures = 10
	maxShown    = 20
	maxSkipped  = 10
)

// Print writes a report for people: the outcome, what to do about a failure, the timeline, counts of changes, and the config's
// problems. Lines have at most 100 columns, and no text in the status can control the terminal. Colour sequences are written only
// if colour is set.
func (s *Status) Print(w io.Writer, colour bool) {
	r := &report{colour: colour}
	r.outcome(s)
	r.failure(s.Error)
	r.furtherFailures(s)
	r.about(s)
	r.sources(s)
	r.timeline(s)
	r.entry("Waited", dim, strings.Join(s.CriticalPath, " > "))
	r.changes(s)
	fatal, warnings := nodeconfig.Fatal(s.Problems), slices.DeleteFunc(slices.Clone(s.Problems), isFatal)
	left := s.omitted()
	if len(warnings) > 0 {
		r.problems("Errors", fatal, 0, red)
		r.problems("Warnings", warnings, left.Problems, yellow)
	} else { // the omitted ones are at most as grave as the last
		r.problems("Errors", fatal, left.Problems, red)
	}
	r.list("Skipped", yellow, s.Skipped, maxSkipped, left.Skipped)
	r.list("Pending", yellow, s.Pending, maxSkipped, 0)
	_, _ = io.WriteString(w, r.text.String())
}

func isFatal(p nodeconfig.Problem) bool { return p.Fatal }

// report is the state of a report while it is written.
type report struct {
	text   strings.Builder
	colour bool
	gap    bool // the next line has an empty one before it
}

// paint returns s in a colour.
func (r *report) paint(c ansi, s string) string {
	if !r.colour || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// line writes a line.
func (r *report) line(parts ...string) {
	if r.gap {
		r.text.WriteByte('\n')
		r.gap = false
	}
	for _, p := range parts {
		r.text.WriteString(p)
	}
	r.text.WriteByte('\n')
}

// labelled is the column of the text after a label.
const labelled = 12

// block writes a label and, behind it, lines that are within the report's width already.
func (r *report) block(label string, c ansi, lines []string) {
	for i, l := range lines {
		if i == 0 {
			r.line("  ", r.paint(c, label), strings.Repeat(" ", labelled-2-len(label)), l)
		} else {
			r.line(strings.Repeat(" ", labelled), l)
		}
	}
}

// entry writes a label and a text behind it, unless the text is empty.
func (r *report) entry(label string, c ansi, text string) {
	r.block(label, c, wrap(text, width-labelled))
}

func (r *report) outcome(s *Status) {
	c := red
	if s.Outcome == OutcomeSuccess {
		c = green
	}
	text := ""
	if s.Outcome != OutcomeSuccess || s.ExitCode != 0 {
		text = fmt.Sprintf("with exit code %d ", s.ExitCode)
		if s.CodeName != "" {
			text += "(" + s.CodeName + ") "
		}
	}
	r.line(r.paint(c, cmp.Or(cell(s.Outcome, 20), "unknown")), " ", cell(text+"after "+milliseconds(s.DurationMs), width-21))
	if s.Restored > 0 {
		r.line(cell(fmt.Sprintf("the change was rolled back: generation %d is restored", s.Restored), width))
	}
	r.gap = true
}

func (r *report) failure(f *Failure) {
	if f == nil {
		return
	}
	r.entry("What", bold, f.Message)
	r.entry("Where", bold, f.where())
	r.entry("To do", bold, f.Action)
	r.gap = true
}

// where returns what failed, what it tried and the kind of cause, as far as they are known.
func (f *Failure) where() string {
	where := f.Resource
	if f.Endpoint != "" && !strings.HasSuffix(f.Resource, ":"+f.Endpoint) {
		where = strings.TrimPrefix(where+", "+f.Endpoint, ", ")
	}
	if f.Cause != "" {
		where += " (" + f.Cause + ")"
	}
	return strings.TrimSpace(where)
}

// furtherFailures writes the failures except the one of the exit code, and the warnings.
func (r *report) furtherFailures(s *Status) {
	further := slices.Clone(s.Errors)
	if s.Error != nil {
		if i := slices.Index(further, *s.Error); i >= 0 {
			further = slices.Delete(further, i, i+1)
		}
	}
	left := s.omitted()
	r.failures("Also", red, further, left.Errors)
	r.failures("Without", yellow, s.Warnings, left.Warnings)
	r.gap = true
}

func (r *report) failures(label string, c ansi, list []Failure, left int) {
	var items []string
	for _, f := range list {
		items = append(items, strings.TrimPrefix(f.where()+": "+f.Message, ": "))
	}
	r.list(label, c, items, maxFailures, left)
}

func (r *report) about(s *Status) {
	c := s.Config
	var config []string
	for _, part := range []string{c.Path, c.Dialect, prefixed("Kubernetes ", c.KubernetesVersion), shortDigest(c.Digest)} {
		if part != "" {
			config = append(config, part)
		}
	}
	if s.Generation > 0 {
		config = append(config, "generation "+strconv.Itoa(s.Generation))
	}
	r.entry("Config", bold, strings.Join(config, ", "))
	if s.Mode != nil {
		r.entry("Mode", bold, s.Mode.Name+": "+s.Mode.Reason)
	}
	agent := s.AgentVersion
	if !s.StartedAt.IsZero() {
		agent = strings.TrimPrefix(agent+", started "+s.StartedAt.UTC().Format(time.DateTime+" MST"), ", ")
	}
	r.entry("Agent", bold, agent)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// shortDigest returns the part of a digest that people compare.
func shortDigest(digest string) string {
	algorithm, sum, found := strings.Cut(digest, ":")
	if !found {
		return head(digest, 12)
	}
	return algorithm + ":" + head(sum, 12)
}

// list writes items behind a label, at most limit; left is how many more there were.
func (r *report) list(label string, c ansi, items []string, limit, left int) {
	var lines []string
	for _, item := range items[:min(len(items), limit)] {
		for i, l := range wrap(item, width-labelled-2) {
			if i > 0 {
				l = "  " + l
			}
			lines = append(lines, l)
		}
	}
	if more := max(0, len(items)-limit) + left; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	r.block(label, c, lines)
}

func (r *report) problems(label string, problems []nodeconfig.Problem, left int, c ansi) {
	var items []string
	for _, p := range problems {
		items = append(items, strings.TrimPrefix(p.Where()+": "+p.Reason, ": "))
	}
	r.list(label, c, items, maxShown, left)
}

func (r *report) changes(s *Status) {
	counts, other := map[Action]int{}, 0
	for _, c := range s.Changes {
		if slices.Contains(actions, c.Action) {
			counts[c.Action]++
		} else {
			other++
		}
	}
	var parts []string
	for _, action := range actions {
		if n := counts[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	if other += s.omitted().Changes; other > 0 { // a newer agent's, or more than are written one by one
		parts = append(parts, fmt.Sprintf("%d other", other))
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	r.entry("Changes", bold, fmt.Sprintf("%s; %d unchanged", strings.Join(parts, ", "), s.Unchanged))
}

// maxSources is how many sources a report shows, which is more than exist.
const maxSources = 16

// sources lists the sources that were searched for a contract, if it was not only its standard path. The config's line names the
// one that had it.
func (r *report) sources(s *Status) {
	if len(s.Sources) < 2 || slices.ContainsFunc(s.Sources, func(p Source) bool { return p.Found }) {
		return
	}
	var items []string
	for _, place := range s.Sources {
		items = append(items, place.Name+": "+place.Result)
	}
	r.list("Looked at", dim, items, maxSources, 0)
	r.gap = true
}
