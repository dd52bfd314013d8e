// Package cse returns the variables that the provisioning scripts of AKS's images read (those of the custom script extension, hence
// the name), and the script that passes them on images without an agent.
//
// The variables depend only on a config and on the planner's decisions. They have the names and the text forms of AKS's own program
// (AKS node contract, section 4), so that an image's scripts make the node from them. If a value of that program has a random
// order, it is sorted here; if the scripts could not use its value, it is corrected here: docs/compatibility.md lists both. The
// package reads no file and runs nothing. It refuses no contract: one that makes no node has variables, too. The command line calls
// it.
package cse

import (
	"fmt"
	"log/slog"
	"sort"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Variable is one variable of the scripts' environment. Its value may be a credential: if it is formatted or logged, it only shows
// its name.
type Variable struct{ Name, Value string }

// String returns the name, and whether there is a value.
func (v Variable) String() string { return v.Name + "=" + nodeconfig.NewSecret(v.Value).String() }

// Format writes String for every verb.
func (v Variable) Format(f fmt.State, _ rune) { fmt.Fprint(f, v.String()) }

// LogValue returns String.
func (v Variable) LogValue() slog.Value { return slog.StringValue(v.String()) }

// maxVariable is the longest variable that a program can get, with its name and the "=" (Linux: MAX_ARG_STRLEN, 32 pages of 4 KiB,
// including the final zero byte).
const maxVariable = 32*4096 - 1

// maxEnvironment is the maximum total size of a program's environment (Linux: execve(2), a quarter of the stack's limit, which is 8
// MiB; 128 KiB of that are reserved for other variables and for arguments).
const maxEnvironment = 2<<20 - 128<<10

// Variables returns all variables that AKS's program would pass to the scripts for a contract, sorted by name. The facts name the
// image's containerd; without that, it is 1.x. A problem is fatal, and names a variable that no program can get.
func Variables(c *compile.Contract, f facts.Facts) ([]Variable, []nodeconfig.Problem) {
	v := newView(c, f)
	own := v.written.Components.ScriptVariables
	variables := make([]Variable, 0, len(table)+len(v.written.Trust.Certificates)+len(own))
	for _, r := range table {
		if _, ok := own[r.name]; !ok {
			variables = append(variables, Variable{r.name, r.value(v)})
		}
	}
	for name, value := range own {
		variables = append(variables, Variable{name, value.Reveal()})
	}
	for i, certificate := range v.written.Trust.Certificates {
		name := "CUSTOM_CA_CERT_" + strconv.Itoa(i)
		if _, ok := own[name]; !ok {
			variables = append(variables, Variable{name, oneLine(encodedPEM(certificate))})
		}
	}
	sortByName(variables)
	var problems []nodeconfig.Problem
	for _, reason := range check(variables) {
		problems = append(problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true})
	}
	return variables, problems
}

func sortByName(variables []Variable) {
	sort.SliceStable(variables, func(i, j int) bool { return variables[i].Name < variables[j].Name })
}

// check returns why a program cannot get these variables.
func check(variables []Variable) []string {
	var reasons []string
	total := 0
	for _, v := range variables {
		total += len(v.Name) + len("=") + len(v.Value) + len("\x00") + 8 // bytes of the pointer to it
		if reason := v.check(); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if total > maxEnvironment {
		reasons = append(reasons, fmt.Sprintf("gives the scripts %d bytes of variables; a program can be given %d", total, maxEnvironment))
	}
	return reasons
}

// Map returns the values of variables by name. It is as secret as they are.
func Map(variables []Variable) map[string]string {
	m := make(map[string]string, len(variables))
	for _, v := range variables {
		m[v.Name] = v.Value
	}
	return m
}

// check returns why a program cannot get the variable, or "".
func (v Variable) check() string {
	switch size := len(v.Name) + len("=") + len(v.Value); {
	case strings.Contains(v.Value, "\x00"):
		return "gives the variable " + v.Name + " a zero byte, which no variable can hold"
	case size > maxVariable:
		return fmt.Sprintf("gives the variable %s %d bytes with its name; a program can be given %d", v.Name, size, maxVariable)
	}
	return ""
}
