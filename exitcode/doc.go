// Package exitcode is the only table of exit codes: the meaning of each number that ends a provisioning, and the first
// action of the person who handles it.
//
// The numbers and the names that start with ERR_ are AKS's: dashboards, support tools and people know them, so Slipway
// keeps them and gives none of them a second meaning on a node. [Source] distinguishes the codes that Slipway itself
// returns from those that only the scripts of AKS images return; the latter are here so that `slipway explain` can
// answer for a node that Slipway did not make.
//
// The package is data with a lookup. It does not map errors to codes: the planner gives each resource its code, and the
// agent returns it. It imports nothing of the module. It is for programs and people that get such a number, from a node
// or from the custom script extension: [Lookup] has the advice. The planner, the agent and both commands call it.
package exitcode
