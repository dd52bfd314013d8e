package status

import (
	"slices"

	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// MaxProblems limits the problems of a config that are written one by one. More of them are not mistakes in single fields, and
	// no one reads them.
	MaxProblems = 200
	// maxEntries limits every other list.
	maxEntries = 500
	// maxMessage and maxText limit texts, in bytes.
	maxMessage = 4096
	maxText    = 1024
)

// bounded returns the status with shortened texts, and lists cut to a limit.
func (s *Status) bounded(limit int) *Status {
	c := *s
	c.APIVersion, c.Kind = APIVersion, Kind
	c.StartedAt, c.FinishedAt = s.StartedAt.UTC(), s.FinishedAt.UTC()
	shortenAll(&c.Outcome, &c.CodeName, &c.AgentVersion, &c.Identity,
		&c.Config.Path, &c.Config.Dialect, &c.Config.Digest, &c.Config.KubernetesVersion)
	if s.Error != nil {
		e := s.Error.bounded()
		c.Error = &e
	}
	left := s.omitted()
	c.Errors = cut(s.Errors, limit, &left.Errors, func(f *Failure) { *f = f.bounded() })
	c.Warnings = cut(s.Warnings, limit, &left.Warnings, func(f *Failure) { *f = f.bounded() })
	c.Sources = cut(s.Sources, limit, &left.Sources, func(p *Source) { shortenAll(&p.Name, &p.Result) })
	c.Problems = cut(gravest(s.Problems, min(limit, MaxProblems)), len(s.Problems), &left.Problems,
		func(p *nodeconfig.Problem) { shortenAll((*string)(&p.Kind), &p.Path, &p.Reason, &p.Document) })
	left.Problems += len(s.Problems) - len(c.Problems)
	c.Changes = cut(s.Changes, limit, &left.Changes, func(ch *Change) { shortenAll(&ch.ID, (*string)(&ch.Action)) })
	c.Steps = cut(s.Steps, limit, &left.Steps, func(st *Step) { shortenAll(&st.Name, &st.Detail) })
	c.Skipped = cut(s.Skipped, limit, &left.Skipped, func(id *string) { shortenAll(id) })
	var more int
	c.Pending = cut(s.Pending, limit, &more, func(text *string) { shortenAll(text) })
	c.CriticalPath = cut(s.CriticalPath, limit, &more, func(name *string) { shortenAll(name) }) // of the steps
	c.Omitted = nil
	if left != (Omitted{}) {
		c.Omitted = &left
	}
	return &c
}

func (f Failure) bounded() Failure {
	f.Message = head(valid(f.Message), maxMessage)
	shortenAll(&f.Resource, &f.Cause, &f.Endpoint, &f.Action)
	return f
}

// shortenAll makes texts valid UTF-8 and shortens them to their limits.
func shortenAll(texts ...*string) {
	for _, text := range texts {
		*text = head(valid(*text), maxText)
	}
}

// cut returns the beginning of a list, each entry changed, and adds the number of omitted entries to left.
func cut[T any](list []T, limit int, left *int, change func(*T)) []T {
	if more := len(list) - limit; more > 0 {
		*left += more
		list = list[:limit]
	}
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}

// gravest returns at most limit problems, in their order; it prefers fatal ones.
func gravest(problems []nodeconfig.Problem, limit int) []nodeconfig.Problem {
	if len(problems) <= limit {
		return problems
	}
	warnings := limit - min(limit, len(nodeconfig.Fatal(problems)))
	var kept []nodeconfig.Problem
	for _, p := range problems {
		if !p.Fatal {
			if warnings == 0 {
				continue
			}
			warnings--
		}
		if len(kept) < limit {
			kept = append(kept, p)
		}
	}
	return kept
}
