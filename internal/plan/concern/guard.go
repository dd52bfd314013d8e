package concern

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// claim is a resource on its way into a plan.
type claim struct {
	resource.Resource
	id      resource.ID
	concern string
	// asked is the contract's setting that named the path or unit. Empty means that the planner did.
	asked string
	// atBoot is what makes it so again at each boot, if anything does.
	atBoot resource.ID
}

// owned is what a claim is for, and no other may be.
func (c *claim) owned() string {
	if paths := c.Spec.Paths(); len(paths) > 0 {
		return paths[0]
	}
	if state, ok := c.Spec.(*resource.UnitState); ok {
		return string(resource.IDOf(&resource.Unit{Unit: state.Unit})) // it cannot run, and be kept from it
	}
	return string(c.id)
}

// shares reports whether others may have the same file, too.
func (c *claim) shares() bool { return resource.KindOf(c.Spec).Part }

// Guard puts the resources in order and refuses those that no plan may have: it is the one place for what holds for
// all concerns together. environment is the path of the kubelet's environment file.
func (o *Output) Guard(environment string, joins bool) {
	claims := make([]*claim, len(o.Resources))
	for i, r := range o.Resources {
		claims[i] = &claim{r, r.ID(), o.owners[i], o.asked[i], o.atBoot[i]}
	}
	// Where two claim one place the planner's own comes first, then the concern whose name does: the order of
	// the concerns decides nothing.
	slices.SortFunc(claims, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.id, b.id), cmp.Compare(a.asked, b.asked), cmp.Compare(a.concern, b.concern))
	})
	o.Resources = o.Resources[:0]
	ids := make(map[resource.ID]bool, len(claims))
	owners := make(map[string]*claim, len(claims)) // by what only one can have: a path on the disk, a unit, an ID
	for _, c := range claims {
		name := c.owned()
		if other := owners[name]; other != nil && !(other.shares() && c.shares() && c.id != other.id) {
			o.refuse(c, other)
			continue
		}
		if owners[name] == nil {
			owners[name] = c
		}
		ids[c.id] = true
		o.Resources = append(o.Resources, c.Resource)
	}
	for _, c := range claims {
		o.guardPlace(c, owners)
		o.guardText(c, environment)
		if !joins {
			o.guardBoot(c, ids)
		}
	}
	o.require(ids)
}

// refuse reports two claims that exclude each other, at the setting that named one of them. If no setting did, the planner has a
// defect, and the plan is refused.
func (o *Output) refuse(c, other *claim) {
	o.Fatal(nodeconfig.Invalid, cmp.Or(c.asked, other.asked, "$"), "%s and %s cannot both be planned (%s, %s)",
		c.id, other.id, c.concern, other.concern)
}

// guardPlace refuses what no plan may have, and what is below a file or a link.
func (o *Output) guardPlace(c *claim, owners map[string]*claim) {
	if err := c.Spec.Valid(); err != nil {
		o.Fatal(nodeconfig.Invalid, cmp.Or(c.asked, "$"), "%s: %s", c.id, err)
	}
	for _, name := range c.Spec.Paths() {
		for dir := path.Dir(name); len(dir) > 1; dir = path.Dir(dir) {
			if above := owners[dir]; above != nil && above.Spec.Kind() != directoryKind {
				o.refuse(c, above)
			}
		}
	}
}

// guardBoot refuses what would be so on the machine that an image is prepared on, and on none that boots from it.
func (o *Output) guardBoot(c *claim, ids map[resource.ID]bool) {
	if c.Phase == resource.Base && !resource.KindOf(c.Spec).Lasts(c.Spec) && !ids[c.atBoot] {
		o.Fatal(nodeconfig.Invalid, cmp.Or(c.asked, "$"), "%s is not so any more after a boot, and nothing repeats it: it cannot be part of an image", c.id)
	}
}

var directoryKind = (*resource.Directory)(nil).Kind()

// systemdReads is where it reads units, variables and its own configuration, beside the kubelet's environment file.
var systemdReads = []string{resource.UnitDir + "/", managerDir, EnvironmentDir, ProxyEnv}

// guardText refuses a file that systemd would not read: one character makes it refuse the whole unit, or the whole
// environment file. Validation has refused such characters in a contract; guardText refuses them in a machine's facts, and in
// configs that were not validated.
func (o *Output) guardText(c *claim, environment string) {
	f, ok := c.Spec.(*resource.File)
	if !ok || f.Path != environment && !slices.ContainsFunc(systemdReads, func(at string) bool { return strings.HasPrefix(f.Path, at) }) {
		return
	}
	if !utf8.Valid(f.Content) {
		o.Fatal(nodeconfig.Invalid, "$", "%s would hold bytes that are no text, and systemd would not read it", f.Path)
	} else if i := strings.IndexFunc(string(f.Content), unreadable); i >= 0 {
		r, _ := utf8.DecodeRune(f.Content[i:])
		o.Fatal(nodeconfig.Invalid, "$", "%s would hold the character %U, and systemd would not read it", f.Path, r)
	}
}

// unreadable are the characters that systemd takes in no file (systemd: src/basic/utf8.c, unichar_is_valid).
func unreadable(r rune) bool {
	return r == 0 || r > unicode.MaxLatin1 && unicode.Is(unicode.Noncharacter_Code_Point, r)
}

// require resolves the groups that resources require or come after, and refuses a requirement that none of the planned IDs fulfils.
func (o *Output) require(ids map[resource.ID]bool) {
	for _, members := range o.groups {
		slices.Sort(members)
	}
	for i := range o.Resources {
		r := &o.Resources[i]
		var requires []resource.ID
		for _, id := range r.Requires {
			switch members, isGroup := o.groups[Group(id)]; {
			case isGroup:
				requires = append(requires, members...)
			case ids[id]:
				requires = append(requires, id)
			case !slices.Contains(groups, Group(id)):
				o.Fatal(nodeconfig.Invalid, "$", "%s requires %s, and nothing brings that", r.ID(), id)
			}
		}
		r.Requires = requires
		var after []resource.ID
		for _, id := range r.After {
			if slices.Contains(groups, Group(id)) {
				after = append(after, o.groups[Group(id)]...)
			} else {
				after = append(after, id)
			}
		}
		r.After = after
	}
}
