package anatomy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

// nodeDirectories are where the files lie that make a node.
var nodeDirectories = []string{"/opt/azure/", "/var/log/azure/aks/", "/opt/aks/", "/etc/kubernetes/", "/etc/slipway/", "/etc/systemd/system/", "/etc/containerd/", "/var/lib/kubelet/", "/var/lib/slipway/", "/etc/eks/", "/etc/default/kubelet"}

// addFiles adds the files and the scripts of the records, in the order of their paths.
func (t *Timeline) addFiles(r *record.Records, p *placer) {
	at := func(m record.Moment) *int64 {
		if us, ok := p.place(m, 0); ok {
			return &us
		}
		return nil
	}
	byPath := make(map[string]int)
	for _, f := range r.Files {
		if !slices.ContainsFunc(nodeDirectories, func(d string) bool { return strings.HasPrefix(f.Path, d) }) {
			continue
		}
		file := File{Path: f.Path, By: f.By, AtUs: at(f.At)}
		if f.By != "" && file.AtUs == nil && !f.At.IsZero() {
			continue // another boot's
		}
		if i, known := byPath[f.Path]; known {
			if t.Files[i].By == "" {
				t.Files[i] = file
			}
			continue
		}
		byPath[f.Path] = len(t.Files)
		t.Files = append(t.Files, file)
	}
	slices.SortFunc(t.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	seen := make(map[Run]bool)
	for _, x := range r.Runs {
		run := Run{Path: x.Path, By: x.By, AtUs: at(x.At)}
		if run.AtUs == nil && !x.At.IsZero() {
			continue
		}
		if key := (Run{Path: x.Path, By: x.By}); !seen[key] {
			seen[key] = true
			t.Runs = append(t.Runs, run)
		}
	}
}

// tell writes the story: what the machine was made from, what placed which file, what ran it, what came first, what waited for what.
func (t *Timeline) tell(r *record.Records, p *placer) {
	told := make(map[string]bool)
	say := func(format string, args ...any) {
		sentence := begun(fmt.Sprintf(format, args...))
		if !told[sentence] {
			told[sentence] = true
			t.Story = append(t.Story, sentence)
		}
	}
	for _, f := range r.Facts {
		if f.Planned {
			say("%s.", f.Text)
		}
	}
	t.tellFiles(say)
	t.tellRuns(say)
	t.tellOrder(say)
	t.tellWhichFirst(say)
	for _, f := range r.Facts {
		if _, here := p.place(f.At, 0); !f.Planned && (here || f.At.IsZero()) {
			say("%s.", f.Text)
		}
	}
	for _, s := range t.Clock.Steps {
		say("the machine's clock was set by %s at %s; times here do not depend on it.", signed(s.ByUs), Seconds(s.AtUs))
	}
	if t.Clock.Relative {
		say("no document has both clocks: the times count from the first record, and a step of the clock would show as a wait.")
	}
	for _, s := range t.Spans {
		if s.Failed {
			say("%s failed at %s%s.", called(s), Seconds(s.EndUs), colon(s.Detail))
		}
	}
}

// begun begins a sentence with a capital letter, unless it begins with the name of a unit or a program.
func begun(sentence string) string {
	word, _, _ := strings.Cut(sentence, " ")
	switch word {
	case "the", "at", "on", "its", "no", "a":
		return strings.ToUpper(word[:1]) + sentence[1:]
	}
	return sentence
}

func colon(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

func atTime(us *int64) string {
	if us == nil {
		return ""
	}
	return " at " + Seconds(*us)
}

// shownFiles is how many files of one writer a sentence names.
const shownFiles = 3

// tellFiles says which program placed which files.
func (t *Timeline) tellFiles(say func(string, ...any)) {
	var writers []string
	files := make(map[string][]File)
	for _, f := range t.Files {
		if files[f.By] == nil {
			writers = append(writers, f.By)
		}
		files[f.By] = append(files[f.By], f)
	}
	for _, by := range writers {
		list := files[by]
		var names []string
		for _, f := range list[:min(len(list), shownFiles)] {
			names = append(names, f.Path)
		}
		text := strings.Join(names, ", ")
		if more := len(list) - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		switch {
		case by != "":
			say("%s placed %s%s.", by, text, atTime(list[0].AtUs))
		default:
			say("on the machine, without a record of what placed them: %s.", text)
		}
	}
}

// tellRuns says which program ran which scripts.
func (t *Timeline) tellRuns(say func(string, ...any)) {
	var by []string
	paths := make(map[string][]string)
	for _, run := range t.Runs {
		if paths[run.By] == nil {
			by = append(by, run.By)
		}
		paths[run.By] = append(paths[run.By], run.Path+atTime(run.AtUs))
	}
	for _, program := range by {
		say("%s ran %s.", program, strings.Join(paths[program], ", "))
	}
}

// milestones are what a reader wants to see in its order.
var milestones = []struct{ text, event, span string }{
	{"the kernel started", "kernel starts", "kernel"},
	{"systemd started on the root file system", "systemd runs", "systemd"},
	{"cloud-init's first stage began", "cloud-init local", "init-local"},
	{"cloud-init's last stage began", "cloud-init final", "modules-final"},
	{"the guest agent started", "guest agent exec", ""},
	{"the custom script extension began", "provisioning script starts", "custom script extension"},
	{"Slipway's agent started", "agent exec", "slipway-node"},
	{"containerd's process started", "containerd exec", "containerd.service"},
	{"the kubelet's process started", "kubelet exec", "kubelet"},
	{"the certificate was issued", "certificate issued", ""},
	{"the Node was registered", "Node registered", ""},
	{"the Node was Ready", "Node Ready", ""},
}

// orders are pairs of parts of which a reader asks which one ran first.
var orders = [][2]string{{"modules-final", customScript}, {"modules-final", "slipway-node"}, {customScript, "kubelet"}, {"slipway-node", "kubelet"}, {"containerd.service", "kubelet"}}

const customScript = "custom script extension"

// tellWhichFirst says for pairs of parts whether one had ended when the other began.
func (t *Timeline) tellWhichFirst(say func(string, ...any)) {
	for _, pair := range orders {
		a := slices.IndexFunc(t.Spans, func(s Span) bool { return s.Name == pair[0] })
		b := slices.IndexFunc(t.Spans, func(s Span) bool { return s.Name == pair[1] })
		if a < 0 || b < 0 {
			continue
		}
		first, second := t.Spans[a], t.Spans[b]
		switch {
		case !first.Open && first.EndUs <= second.StartUs:
			done := "ended"
			if first.Stage == record.UnitStage {
				done = "was ready"
			}
			say("%s %s at %s, before %s began at %s.", called(first), done, Seconds(first.EndUs), called(second), Seconds(second.StartUs))
		case first.StartUs <= second.StartUs:
			say("%s was still at work when %s began at %s.", called(first), called(second), Seconds(second.StartUs))
		default:
			say("%s began at %s, before %s began at %s.", called(second), Seconds(second.StartUs), called(first), Seconds(first.StartUs))
		}
	}
}

// tellOrder says what came first, and what followed.
func (t *Timeline) tellOrder(say func(string, ...any)) {
	type point struct {
		text string
		at   int64
	}
	var points []point
	for _, m := range milestones {
		best := t.firstOf([]string{m.event})
		for _, s := range t.Spans {
			if m.span != "" && s.Name == m.span && (best == nil || s.AccuracyUs <= best.AccuracyUs) {
				best = &Event{AtUs: s.StartUs, AccuracyUs: s.AccuracyUs}
			}
		}
		if best != nil {
			points = append(points, point{m.text, best.AtUs})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	for i, p := range points {
		after := ""
		if i > 0 {
			after = ", " + Seconds(p.at-points[i-1].at) + " later"
		}
		say("at %s %s%s.", Seconds(p.at), p.text, after)
	}
}
