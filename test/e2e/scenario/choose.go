package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// kinds are the subjects of cases. One case or more of each kind is in the core set.
var kinds = map[string]string{
	"join":    "cloud-init and the agent together make a node that runs pods",
	"launch":  "what is decided before there is a machine is what the node then is",
	"source":  "the agent finds the contract by itself",
	"failure": "what is in the way is named, and the node is made when it is gone",
	"change":  "a running node is changed, and goes back when it is not well",
	"watch":   "a running node follows its contract by itself",
	"service": "the services come back, whatever happens to them",
	"setting": "what a contract sets is in force after a reboot, and gone without it",
	"boot":    "a machine that boots once more is what it was, or whom it has become",
	"power":   "the power goes at any moment",
}

// Choice selects the cases to run: the named ones, or all, or the core set and those that have one of the changed files among their
// inputs. The files are paths from the root of the repository.
type Choice struct {
	Names   []string
	All     bool
	Changed []string
}

// Choose returns the names of the chosen cases. If the choice names no cases, it also returns a line for each other case with the
// reason why it is left out. A chosen case's After is chosen, too.
func (c Choice) Choose(cases []Case) (names, left []string, err error) {
	byName := make(map[string]Case)
	for _, k := range cases {
		byName[k.Name] = k
	}
	chosen := make(map[string]bool)
	for _, name := range c.Names {
		if _, known := byName[name]; !known {
			return nil, nil, fmt.Errorf("there is no case %q below test/e2e/cases", name)
		}
		chosen[name] = true
	}
	core := make(map[string][]string)
	for _, k := range cases {
		if k.Core {
			core[k.Kind] = append(core[k.Kind], k.Name)
		}
		if len(c.Names) == 0 && (c.All || k.Core || slices.ContainsFunc(c.Changed, k.reads)) {
			chosen[k.Name] = true
		}
	}
	for _, k := range cases {
		for before := k.After; chosen[k.Name] && before != ""; before = byName[before].After {
			chosen[before] = true
		}
	}
	for _, k := range cases {
		switch {
		case chosen[k.Name]:
			names = append(names, k.Name)
		case len(c.Names) > 0: // a user who names cases needs no list of the others
		case c.Changed != nil:
			left = append(left, fmt.Sprintf("%s: none of its inputs changed, and %s is of its kind, %s", k.Name, strings.Join(core[k.Kind], " or "), k.Kind))
		default:
			left = append(left, fmt.Sprintf("%s: %s is of its kind, %s", k.Name, strings.Join(core[k.Kind], " or "), k.Kind))
		}
	}
	return names, left, nil
}

// reads reports whether a file, by its path from the root of the repository, is one of the case's inputs.
func (c *Case) reads(name string) bool {
	own := path.Join("test/e2e/cases", c.Name) + "/**"
	return slices.ContainsFunc(append([]string{own}, c.Inputs...), func(pattern string) bool { return matches(pattern, name) })
}

// matches reports whether a pattern matches a file: "dir/**" all files below a directory, other patterns as in path.Match.
func matches(pattern, name string) bool {
	if dir, all := strings.CutSuffix(pattern, "/**"); all {
		return strings.HasPrefix(name, dir+"/")
	}
	ok, _ := path.Match(pattern, name) // load has checked the pattern
	return ok
}

// errNoInput is the error for an invalid input.
var errNoInput = errors.New("want a pattern from the root of the repository, such as internal/watch/**")

// checkPlace validates a case's kind and inputs.
func (c *Case) checkPlace() error {
	if _, known := kinds[c.Kind]; c.Kind != "" && !known {
		return fmt.Errorf("there is no kind %q", c.Kind)
	}
	for _, pattern := range c.Inputs {
		if _, err := path.Match(pattern, ""); err != nil || !filepath.IsLocal(pattern) || path.Clean(pattern) != pattern {
			return fmt.Errorf("input %q: %w", pattern, cmp.Or(err, errNoInput))
		}
	}
	return nil
}
