// Package problem collects the problems of a document, or of its plan. Each reader and the planner embed a [Collector], so that all
// problems are made in the same way. It decides nothing and sorts nothing: its callers do. The dialects of nodeconfig,
// internal/kubeletapi, internal/plan and launch call it.
package problem

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Collector holds the problems found so far.
type Collector struct {
	// Document is the document of each problem that [Collector.Report], Warn and Fatal add. If empty, it is the contract.
	Document string
	// List has the problems in the order in which they were found.
	List []nodeconfig.Problem
}

// Add adds problems unchanged.
//
//go:noinline
func (c *Collector) Add(problems ...nodeconfig.Problem) { c.List = append(c.List, problems...) }

// Report adds a problem.
//
//go:noinline
func (c *Collector) Report(fatal bool, kind nodeconfig.ProblemKind, path, reason string) {
	c.format(fatal, kind, path, reason, nil)
}

// Setting is an argument of [Collector.Warn] and [Collector.Fatal]: the path of a setting of the NodeConfig. A dialect shows its
// own name for the setting. A reason names at most one setting.
type Setting string

// String returns the path without "$.".
func (s Setting) String() string { return strings.TrimPrefix(string(s), "$.") }

// Warn adds a problem that is not fatal.
//
//go:noinline
func (c *Collector) Warn(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	c.format(false, kind, path, format, args)
}

// Fatal adds a problem because of which no node is made.
//
//go:noinline
func (c *Collector) Fatal(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	c.format(true, kind, path, format, args)
}

// format adds a problem. If there are no arguments, the format is the reason.
func (c *Collector) format(fatal bool, kind nodeconfig.ProblemKind, path, format string, args []any) {
	p := nodeconfig.Problem{Kind: kind, Path: path, Reason: format, Fatal: fatal, Document: c.Document}
	if len(args) > 0 {
		p.Reason = fmt.Sprintf(format, args...)
	}
	for _, arg := range args {
		if setting, ok := arg.(Setting); ok {
			p = p.Naming(string(setting))
		}
	}
	c.Add(p)
}
