// Package cse gives the variables that the provisioning scripts of AKS's images read (the custom script extension's, hence
// the name), and the script that hands them over on images that know nothing else.
//
// The variables are a view of a config, of what the planner decides, and of nothing else. They have the names and the text
// forms of AKS's own program (AKS node contract, section 4), so that an image's scripts make the node from them. Where a
// value of that program depends on chance, it is sorted here; where the scripts could not use it, it is right here:
// docs/compatibility.md lists both. The package reads no file and runs nothing. It refuses no contract: what makes no
// node has variables too. The command line calls it.
package cse

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Variable is one variable of the scripts' environment. Its value may hold a credential: however it is formatted or
// logged, only its name shows.
type Variable struct{ Name, Value string }

// String is the name, and that there is a value.
func (v Variable) String() string { return v.Name + "=" + nodeconfig.NewSecret(v.Value).String() }

// GoString returns String, for %#v.
func (v Variable) GoString() string { return v.String() }

// Format writes String for every verb.
func (v Variable) Format(f fmt.State, _ rune) { fmt.Fprint(f, v.String()) }

// LogValue returns String.
func (v Variable) LogValue() slog.Value { return slog.StringValue(v.String()) }

// maxVariable is the longest variable that a program can be given, with its name and the "=" (Linux: MAX_ARG_STRLEN, 32
// pages of 4 KiB, with the zero byte that ends it).
const maxVariable = 32*4096 - 1

// Variables are all that AKS's program would give the scripts for a contract, sorted by name. The facts say which
// containerd the image has; it is 1.x where they do not. A problem is fatal, and names a variable that no program can be
// given.
func Variables(c *compile.Contract, f facts.Facts) ([]Variable, []nodeconfig.Problem) {
	v := newView(c, f)
	variables := make([]Variable, 0, len(table)+len(v.written.Trust.Certificates))
	for _, r := range table {
		variables = append(variables, Variable{r.name, r.value(v)})
	}
	for i, certificate := range v.written.Trust.Certificates {
		variables = append(variables, Variable{"CUSTOM_CA_CERT_" + strconv.Itoa(i), oneLine(encodedPEM(certificate))})
	}
	slices.SortFunc(variables, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	var problems []nodeconfig.Problem
	for _, variable := range variables {
		if reason := variable.check(); reason != "" {
			problems = append(problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true})
		}
	}
	return variables, problems
}

// check returns why no program can be given the variable, or "".
func (v Variable) check() string {
	switch size := len(v.Name) + len("=") + len(v.Value); {
	case strings.Contains(v.Value, "\x00"):
		return "gives the variable " + v.Name + " a zero byte, which no variable can hold"
	case size > maxVariable:
		return fmt.Sprintf("gives the variable %s %d bytes with its name; a program can be given %d", v.Name, size, maxVariable)
	}
	return ""
}
