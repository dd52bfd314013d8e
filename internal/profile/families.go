package profile

import (
	"slices"
	"strings"
)

// families are all families. The default is the last: code that searches all paths tries those that only one family has first.
var families = []*Profile{&aks, &eks, &eksctl, &standard}

// All returns the families, the default last.
func All() []*Profile { return slices.Clone(families) }

// Default is the family of a contract that names none.
func Default() *Profile { return families[len(families)-1] }

// TimeServices are the names that distributions have for chrony's unit (chronyd(8)).
func TimeServices() []string { return []string{"chrony.service", "chronyd.service"} }

// ImageUnits are the names of units that images of a family may have, of all families, and of units that any image may have.
func ImageUnits() []string {
	names := TimeServices()
	for _, p := range families {
		for _, u := range p.Host.Units {
			names = append(names, u.Unit)
		}
		names = append(names, p.Host.Bootstrappers...)
		if unit := p.Host.Probes.Unit; unit != "" {
			names = append(names, unit)
		}
	}
	return names
}

// Names are the families' names, the default first.
func Names() []string {
	var names []string
	for _, p := range families {
		names = append([]string{p.Name}, names...)
	}
	return names
}

// Named returns the family with that name, or nil.
func Named(name string) *Profile {
	return find(func(p *Profile) bool { return p.Name == name })
}

// Of returns the family of a node whose contract names it. Validation reports an unknown name as a problem; other problems are
// then reported for the default family.
func Of(name string) *Profile {
	if p := Named(name); p != nil {
		return p
	}
	return Default()
}

// OfDialect returns the family that a dialect's contracts are for; nil if the dialect is unknown, and so empty.
func OfDialect(dialect string) *Profile {
	if dialect == "" {
		return nil
	}
	if p := find(func(p *Profile) bool { return slices.Contains(p.Contract.Dialects, dialect) }); p != nil {
		return p
	}
	return Default()
}

// OfContract returns the family that expects its contract at a path, or nil.
func OfContract(place string) *Profile {
	return find(func(p *Profile) bool { return place != "" && (place == p.Contract.YAML || place == p.Contract.JSON) })
}

// OfProgram is the family that calls the agent by a name; the default where none does.
func OfProgram(name string) *Profile {
	own := Default().Agent.Called // which other families may call it, too
	if p := find(func(p *Profile) bool { return p.Agent.Called == name && name != own }); p != nil {
		return p
	}
	return Default()
}

// Publisher returns the family whose paths hold the result of a contract: the sender of the contract waits for it there. It
// is the family of the contract's dialect. If the contract cannot be read (dialect is empty), it is the family that calls the
// agent by the name program, or that expects the contract at that path.
func Publisher(dialect, program, contract string) *Profile {
	if p := OfDialect(dialect); p != nil {
		return p
	}
	if p := OfProgram(program); dialect == "" && p != Default() {
		return p
	}
	own := Default().Agent.Root
	if p := find(func(p *Profile) bool { return p.Agent.Root != own && strings.HasPrefix(contract, p.Agent.Root+"/") }); dialect == "" && p != nil {
		return p
	}
	return Default()
}

func find(is func(*Profile) bool) *Profile {
	if i := slices.IndexFunc(families, is); i >= 0 {
		return families[i]
	}
	return nil
}
