// Package compile is the one way from the bytes of a contract to a plan, with everything that is wrong on it: what
// the contract's author should know is the same on a workstation, at boot and on a running node.
//
// It joins what the dialect and the planner find, decides nothing itself and touches nothing. The agent, the watcher,
// the command line and the public packages call it, and not what is below it.
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

// Document is one of those that a contract is made of.
type Document struct {
	// Name is where it is from, for messages.
	Name string
	Data []byte
}

// Contract is a contract that has been read.
type Contract struct {
	// Dialect is the one it is written in; empty where it could not be told.
	Dialect string
	// Config is complete and valid, unless a problem is fatal; never nil.
	Config *nodeconfig.NodeConfig
	// Problems are all that reading it found, fatal ones first, under the documents' own paths.
	Problems []nodeconfig.Problem

	decoded dialect.Decoded
	// read are the problems that reading it found, as they are if nothing is allowed; allowed are what is.
	read    []nodeconfig.Problem
	allowed []string
	// merged and names are of the documents, where there are several.
	merged *document.Merged
	names  []string
	// native are the native documents that are merged over those of another dialect, if any.
	native      *document.Merged
	nativeNames []string
}

// Read decodes a contract, sets its defaults, validates it and leaves out what cannot be used. The dialect is detected
// where none is named. Several documents are merged first, a later one going before an earlier one. There is always a
// Contract; its problems say what it is worth.
func Read(documents []Document, dialectName string) *Contract {
	return ReadAs(documents, Reading{Dialect: dialectName})
}

// Reading is what is said beside the documents of how they are read.
type Reading = dialect.Reading

// ReadAs reads a contract as it is said.
func ReadAs(documents []Document, as Reading) *Contract {
	var c *Contract
	if len(documents) != 1 {
		c = readSeveral(documents, as)
	} else {
		decoded := dialect.DecodeAs(documents[0].Data, as)
		c = &Contract{Dialect: decoded.Dialect, Config: decoded.Config, Problems: decoded.Problems, decoded: decoded}
	}
	c.read = c.Problems
	c.AllowUnapplied(c.Config.Checks.AllowUnapplied...)
	return c
}

// ReadOne reads a contract that is one document, in the dialect that it is written in.
func ReadOne(name string, data []byte) *Contract { return Read([]Document{{name, data}}, "") }

// Fatal are the problems for which no node can be made of the contract.
func (c *Contract) Fatal() []nodeconfig.Problem { return nodeconfig.Fatal(c.Problems) }

// Readable reports whether the contract is of a dialect that is known.
func (c *Contract) Readable() bool { return c.decoded.IsDocument() }

// Written is what the documents say in terms of Config, without defaults and without leaving out what is not valid: a
// copy of the caller's own.
func (c *Contract) Written() *nodeconfig.NodeConfig { return c.decoded.Written() }

// Canonical is the document itself with its names sorted and its spaces gone: the same for every way of writing it. Of a
// document that is of several nodes it has what is of this one.
// It is as secret as the document, and nil where that is not readable.
func (c *Contract) Canonical() []byte { return c.decoded.Canonical() }

// Profile is the family of nodes that the contract was read for; empty for its own.
func (c *Contract) Profile() string { return c.decoded.Profile() }

// Origin returns the documents' own path for a path of Config.
func (c *Contract) Origin(path string) string { return c.decoded.Origin(path) }

// Place returns a problem in terms of Config as one of the documents': under its own path, with the place in the text.
func (c *Contract) Place(p nodeconfig.Problem) nodeconfig.Problem {
	return c.locate(c.decoded.Place(p))
}

// place is Place for what the planner finds: what is not applied may be several settings of the documents'.
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

// Plan plans the node. The problems are those of the contract and the planner's, in the documents' own terms, fatal
// ones first. Where one is fatal, the plan is what could be planned, and of use to nobody but who looks at it.
func (c *Contract) Plan(known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return c.planBy(plan.New, known)
}

// PlanWithoutAgent is Plan for a node without an agent: the machine itself finds out what only it knows, at each boot.
func (c *Contract) PlanWithoutAgent(known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return c.planBy(plan.WithoutAgent, known)
}

func (c *Contract) planBy(planner func(*nodeconfig.NodeConfig, facts.Facts) (resource.Plan, []nodeconfig.Problem), known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	problems := slices.Clone(c.Problems)
	if !c.Readable() {
		return resource.Plan{}, problems
	}
	desired, found := planner(c.Config, known)
	desired.Dialect = c.Dialect
	seen := make(map[nodeconfig.Problem]bool)
	told := make(map[string]bool)   // paths of what is left out: that nobody applies it need not be said as well
	unread := make(map[string]bool) // paths whose values could not be used: what follows from that is said already
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

// stops are the codes of what ends a provisioning without the contract being wrong. The first that fits is the code.
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

// ExitCode is the code of a provisioning that stops for what is fatal of Plan's problems; 0 where nothing is.
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
