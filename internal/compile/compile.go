// Package compile is the only way from the bytes of a contract to a plan, with all problems on that way: the contract's author gets
// the same problems on a workstation, at boot and on a running node.
//
// It combines the problems of the dialect and of the planner, decides nothing itself and changes nothing. The agent, the watcher,
// the command line and the public packages call it, and do not call the packages below it.
package compile

import (
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// Document is one of a contract's documents.
type Document struct {
	// Name is the document's source, for messages.
	Name string
	Data []byte
}

// Contract is a contract that has been read.
type Contract struct {
	// Dialect is the contract's dialect. It is empty if the dialect is unknown.
	Dialect string
	// Config is complete and valid, unless a problem is fatal. It is never nil.
	Config *nodeconfig.NodeConfig
	// Problems are all problems of reading the contract, fatal ones first, under the documents' own paths.
	Problems []nodeconfig.Problem

	decoded dialect.Decoded
	// read are these problems if nothing is allowed; allowed are the paths that are.
	read    []nodeconfig.Problem
	allowed []string
	// wrapped names the single document if it was in user data: positions are those in the document, not in the user data.
	wrapped string
	// merged and names are set if the contract has several documents.
	merged *document.Merged
	names  []string
	// native are the native documents that are merged over those of another dialect, if any.
	native      *document.Merged
	nativeNames []string
}

// Read decodes a contract, sets its defaults, validates it and leaves out unusable values. If dialectName is empty, it detects the
// dialect. It first merges several documents; a later one wins over an earlier one. It always returns a Contract; the problems tell
// how much of it is usable.
func Read(documents []Document, dialectName string) *Contract {
	return ReadAs(documents, Reading{Dialect: dialectName})
}

// Reading selects how the documents are read.
type Reading = dialect.Reading

// ReadAs reads a contract with a given Reading.
func ReadAs(documents []Document, as Reading) *Contract {
	var c *Contract
	if len(documents) != 1 {
		c = readSeveral(documents, as)
	} else {
		c = readOne(documents[0], as)
	}
	c.read = c.Problems
	c.AllowUnapplied(c.Config.Checks.AllowUnapplied...)
	return c
}

func readOne(written Document, as Reading) *Contract {
	d, problems := unwrap(written, as)
	if problems != nil {
		return &Contract{Dialect: as.Dialect, Config: new(nodeconfig.NodeConfig), Problems: problems}
	}
	decoded := dialect.DecodeAs(d.Data, as)
	c := &Contract{Dialect: decoded.Dialect, Config: decoded.Config, Problems: decoded.Problems, decoded: decoded}
	if d.Name != written.Name {
		c.wrapped = d.Name
	}
	for i, p := range c.Problems {
		c.Problems[i] = c.locate(p)
	}
	return c
}

// ReadOne reads a contract of one document, and detects its dialect.
func ReadOne(name string, data []byte) *Contract { return Read([]Document{{name, data}}, "") }

// Fatal returns the problems because of which no node can be made of the contract.
func (c *Contract) Fatal() []nodeconfig.Problem { return nodeconfig.Fatal(c.Problems) }

// Readable reports whether the contract's dialect is known.
func (c *Contract) Readable() bool { return c.decoded.IsDocument() }

// Written returns the documents' values in terms of Config, without defaults and including invalid values. The caller may change
// it.
func (c *Contract) Written() *nodeconfig.NodeConfig { return c.decoded.Written() }

// Canonical returns the document with its names sorted and without spaces: it is the same for every spelling. If the document
// describes several nodes, it contains only this node's part. It is as secret as the document. It is nil if the document is
// unreadable.
func (c *Contract) Canonical() []byte { return c.decoded.Canonical() }

// Profile returns the family of nodes that the contract was read for. Empty means the contract's own.
func (c *Contract) Profile() string { return c.decoded.Profile() }

// Origin returns the documents' own path for a path of Config.
func (c *Contract) Origin(path string) string { return c.decoded.Origin(path) }

// Place converts a problem in terms of Config to one of the documents: with their own path, and the position in the text.
func (c *Contract) Place(p nodeconfig.Problem) nodeconfig.Problem {
	return c.locate(c.decoded.Place(p))
}

// place is Place for the planner's problems: a setting that is not applied may come from several settings of the documents.
func (c *Contract) place(p nodeconfig.Problem) []nodeconfig.Problem {
	if p.Kind != nodeconfig.NotApplied {
		return []nodeconfig.Problem{c.Place(p)}
	}
	placed := c.decoded.PlaceEach(p)
	for i := range placed {
		placed[i] = c.locate(placed[i])
	}
	return placed
}

// Plan plans the node. The problems are the contract's and the planner's, in the documents' own terms, fatal ones first. If one is
// fatal, the plan is incomplete: it is only for people to look at.
func (c *Contract) Plan(known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return c.planBy(plan.New, known)
}

// PlanWithoutAgent is Plan for a node without an agent: the machine itself determines its own facts at each boot.
func (c *Contract) PlanWithoutAgent(known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return c.planBy(plan.WithoutAgent, known)
}

// PlanImage is Plan for an image that is being built: a missing kubelet or container runtime is fatal.
func (c *Contract) PlanImage(known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return c.planBy(plan.Image, known)
}

func (c *Contract) planBy(planner func(*nodeconfig.NodeConfig, facts.Facts) (resource.Plan, []nodeconfig.Problem), known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	problems := slices.Clone(c.Problems)
	if !c.Readable() {
		return resource.Plan{}, problems
	}
	desired, found := planner(c.Config, known)
	desired.Dialect = c.Dialect
	seen := make(map[nodeconfig.Problem]bool)
	told := make(map[string]bool)   // paths of values that are left out: no second warning is needed that they are not applied
	unread := make(map[string]bool) // paths of unusable values: the consequences need no second report
	for _, p := range problems {
		seen[p] = true
		told[p.Path] = told[p.Path] || p.Kind == nodeconfig.NotApplied || p.Kind == nodeconfig.Dropped
		unread[p.Path] = unread[p.Path] || p.Fatal
	}
	for _, p := range found {
		for _, p := range c.permitted(p.Path, c.place(p)) {
			if !unread[p.Path] && !seen[p] && !(told[p.Path] && p.Kind == nodeconfig.NotApplied && !p.Fatal) {
				seen[p] = true
				problems = append(problems, p)
			}
		}
	}
	nodeconfig.SortProblems(problems)
	return desired, problems
}

// stops are the exit codes for problems that end a provisioning although the contract is valid. The first row that matches counts.
var stops = []struct {
	kind nodeconfig.ProblemKind
	path string // empty: any other
	code int
}{
	{nodeconfig.Missing, setting.MetadataRestriction, exitcode.NodeAddressMissing},
	{nodeconfig.NotInstalled, setting.KubernetesVersion, exitcode.KubeletInstallFailed},
	{nodeconfig.NotInstalled, setting.NetworkPlugin, exitcode.CNIPluginMissing},
	{nodeconfig.NotInstalled, setting.AzureCNIURL, exitcode.CNIPluginMissing},
	{nodeconfig.Invalid, setting.ContainerdVersion, exitcode.ContainerdVersionInvalid},
	{nodeconfig.Invalid, setting.ContainerdURL, exitcode.ContainerdVersionInvalid},
	{nodeconfig.NotInstalled, setting.GPUInstallDriver, exitcode.GPUDriverMissing},
	{nodeconfig.NotInstalled, setting.GPUVendor, exitcode.GPUDriverMissing},
	{nodeconfig.NotInstalled, setting.GPUManaged, exitcode.DCGMMissing},
	{nodeconfig.NotInstalled, setting.DynamicResourceAllocation, exitcode.DCGMMissing},
	{nodeconfig.NotInstalled, setting.LazyPull, exitcode.StreamingFailed},
	{nodeconfig.Invalid, setting.DynamicResourceAllocation, exitcode.ManagedGPUFailed},
	{nodeconfig.NotInstalled, "", exitcode.ImageNotBuilt},
}

// ExitCode returns the exit code for the fatal problems of Plan, or 0 if no problem is fatal.
func (c *Contract) ExitCode(problems []nodeconfig.Problem) int {
	first := len(stops)
	for _, p := range nodeconfig.Fatal(problems) {
		row := 0
		for row < len(stops) && !(stops[row].kind == p.Kind && (stops[row].path == "" || c.Origin(stops[row].path) == p.Path)) {
			row++
		}
		if row == len(stops) {
			return exitcode.ContractInvalid
		}
		first = min(first, row)
	}
	if first == len(stops) {
		return 0
	}
	return stops[first].code
}
