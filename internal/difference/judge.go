package difference

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

// delta is a resource that differs between two plans. old is nil if it is added, new if it is removed.
type delta struct {
	id       resource.ID
	old, new *resource.Resource
	fields   []Field
	// restarts are the units that restart because of it, reloads those that read it again.
	restarts, reloads []string
}

func (d *delta) event() event {
	switch {
	case d.old == nil:
		return added
	case d.new == nil:
		return removed
	}
	return changed
}

func (d *delta) spec() resource.Spec {
	if d.new != nil {
		return d.new.Spec
	}
	return d.old.Spec
}

// judge finds the class of each change.
type judge struct {
	before, after resource.Plan
	// ran means that the machine was a node before. If it was not, there is no pod to drain and no Node to
	// replace.
	ran     bool
	deltas  []delta
	reasons map[resource.ID][]Reason
}

func newJudge(before, after resource.Plan) *judge {
	kubelet := resource.IDOf(&resource.Unit{Unit: plan.KubeletUnit})
	ran := slices.ContainsFunc(before.Resources, func(r resource.Resource) bool { return r.ID() == kubelet })
	return &judge{before: before, after: after, ran: ran, reasons: make(map[resource.ID][]Reason)}
}

func (j *judge) compare(d delta) { j.deltas = append(j.deltas, d) }

// effectsOf are the units that restart because of a change from one resource to another, and those that reload. A file that is
// there only until something takes its place is not written on a node that has joined: nothing reads it.
func (j *judge) effectsOf(a, b resource.Resource) (restarts, reloads []string) {
	if j.ran && until(b.Spec) {
		return nil, nil
	}
	restarts, reloads = slices.Concat(a.Restarts, b.Restarts), slices.Concat(a.Reloads, b.Reloads)
	slices.Sort(restarts)
	slices.Sort(reloads)
	restarts = slices.Compact(restarts)
	return restarts, slices.DeleteFunc(slices.Compact(reloads), func(unit string) bool { return slices.Contains(restarts, unit) })
}

func until(spec resource.Spec) bool {
	f, ok := spec.(*resource.File)
	return ok && f.Temporary()
}

// add adds a reason to a change, if there is such a change. If the machine was not a node before, nothing runs that a rule could
// concern.
func (j *judge) add(id resource.ID, reason Reason) bool {
	if !slices.ContainsFunc(j.deltas, func(d delta) bool { return d.id == id }) {
		return false
	}
	if j.ran {
		j.reasons[id] = append(j.reasons[id], reason)
	}
	return true
}

// judgements are the judgements of all changes.
func (j *judge) judgements() map[resource.ID]Judgement {
	j.kubelet()
	j.runtime()
	j.rules()
	judged := make(map[resource.ID]Judgement, len(j.deltas))
	for _, d := range j.deltas {
		if reason, found := d.effects(); found {
			j.add(d.id, reason)
		}
		reasons := j.reasons[d.id]
		greatest := None
		for _, r := range reasons {
			greatest = max(greatest, r.Class)
		}
		if own := d.own(); own.Class > greatest {
			reasons, greatest = append(reasons, own), own.Class
		}
		judged[d.id] = Judgement{greatest, inOrder(reasons)}
	}
	return judged
}

// version judges the change of Kubernetes' version. A machine that was no node has not had one.
func (j *judge) version() *VersionChange {
	before, after := &j.before.Node, &j.after.Node
	row, changes := versionRow(before, after)
	if !changes || !j.ran {
		return nil
	}
	return &VersionChange{before.Version, after.Version, Judgement{row.Class, []Reason{{row.Class, "Kubernetes", row.Reason, row.Source}}}}
}

// The sources of classes that no table has.
const (
	fromPlan    = "the plan: what restarts when a resource changes"
	fromSystemd = "systemctl(1), daemon-reload"
)

// own is the class of a change that no table covers: the plan knows which units read the file.
func (d *delta) own() Reason {
	switch unit := unitOf(d.spec()); {
	case len(d.restarts) > 0:
		return Reason{Restart, strings.Join(d.restarts, ", "), "reads it when it starts", fromPlan}
	case len(d.reloads) > 0:
		return Reason{Reload, strings.Join(d.reloads, ", "), "reads it again while it runs", fromPlan}
	case unit != "":
		return Reason{Reload, unit, "systemd reads its units again", fromSystemd}
	}
	return Reason{}
}

// effects is the class that the plans themselves have for a change: the new plan for what it adds, the old plan for what it removes.
func (d *delta) effects() (Reason, bool) {
	of := d.old
	if d.new != nil {
		of = d.new
	}
	if d.new == nil {
		if kind := resource.KindOf(of.Spec); kind.NotUndone != nil && kind.NotUndone(of.Spec) != "" {
			return Reason{None, of.Spec.Name(), kind.NotUndone(of.Spec), kind.NotUndoneSource}, true
		}
	}
	return Reason{of.Class, of.Spec.Name(), of.Why, of.Source}, of.Why != ""
}

// inOrder sorts reasons, the greatest class first, and removes duplicates.
func inOrder(reasons []Reason) []Reason {
	sort.SliceStable(reasons, func(i, j int) bool {
		a, b := reasons[i], reasons[j]
		return cmp.Or(cmp.Compare(b.Class, a.Class), cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why)) < 0
	})
	return slices.Compact(reasons)
}
