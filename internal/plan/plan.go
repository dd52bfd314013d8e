// Package plan decides what a node should be like: a NodeConfig and facts in, a Plan out.
//
// It is a pure function. The same input gives the same bytes; it reads no file, no clock and no
// environment, and it changes nothing. Only this package decides the files, units and checks of a node. Each subject is a
// concern, in a separate file that reads like a table; concerns may run in any order. Provisioning, apply, baking and rendering
// all plan here. The config must have passed nodeconfig's Default and Repair.
package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/machine"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// New plans a node. The problems are settings that this version does not apply, and settings that
// it had to drop. They are warnings, except those without which no node joins. They are in
// nodeconfig.SortProblems' order.
func New(c *nodeconfig.NodeConfig, f facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return planAll(concerns, concern.NewInput(c, f))
}

// WithoutAgent plans a node that has no agent: unless the config or the facts have a value, the machine itself finds it out at
// each boot. Facts that do not name the machine's instance are those of its image.
func WithoutAgent(c *nodeconfig.NodeConfig, f facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return planAll(agentlessConcerns(), concern.NewInput(c, f, withoutAgent))
}

// Image plans the preparation of an image: the kubelet and the container runtime have to be in it, or the config brings them.
func Image(c *nodeconfig.NodeConfig, f facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	return planAll(concerns, concern.NewInput(c, f, func(in *concern.Input) { in.Prepares = true }))
}

func planAll(concerns []*concern.Concern, in *concern.Input) (resource.Plan, []nodeconfig.Problem) {
	out := &concern.Output{}
	if !in.TakesInstalled && in.Minor != concern.Newest {
		out.Node.Version, out.Node.Minor = in.Config.Cluster.KubernetesVersion, in.Minor
	}
	for _, c := range concerns {
		if !c.Joins || in.Joins() {
			out.Concern, out.Subject = c.Name, c.Subject
			c.Plan(in, out)
		}
	}
	checkAuthored(in, out)
	out.Reach(in)
	out.Guard(in.Family.Paths.KubeletEnv, in.Joins())
	for _, path := range unread(in.Config) {
		out.NotApplied(path)
	}
	nodeconfig.SortProblems(out.List)
	plan := resource.Plan{Config: nodeconfig.Digest(in.Given), Resources: out.Resources, Health: healthChecks(in.Config)}
	if in.Joins() {
		plan.Node = out.Node
	}
	return plan, out.List
}

// checkAuthored checks the files, units and drop-ins of the contract beside those of Slipway. A contract without any has nothing to check.
func checkAuthored(in *concern.Input, out *concern.Output) {
	at := authoredTexts(in.Config)
	if len(at) == 0 {
		return
	}
	t := plannedTexts{plannedFiles(out.Resources), at}
	checkUnits(in, out, t)
	checkOverlays(in, out, t)
	checkSysctls(in, out, t)
}

// UserCommand plans the one thing that a script from outside asks for: that it be run. It is how
// AKS delivers the rendered command of its older interface.
func UserCommand(script string, timeout resource.Duration) resource.Plan {
	return resource.Plan{Resources: []resource.Resource{{
		Phase:  resource.Join,
		Reason: "the user's own script, run as it is (AKS: --nbc-cmd)",
		Spec: &resource.Command{
			Label:      "nbc-cmd",
			Argv:       []string{"/bin/bash", "--", script},
			Timeout:    timeout,
			Unconfined: true,
		},
		ExitCode: exitcode.ScriptFailed,
	}}}
}

// ImageScripts plans the one thing that is done where an image's own scripts make the node of a config: that they are run,
// by a command, with their variables and nothing else.
func ImageScripts(config *nodeconfig.NodeConfig, argv []string, variables map[string]string) resource.Plan {
	return resource.Plan{Config: nodeconfig.Digest(config), Resources: []resource.Resource{{
		Phase:  resource.Join,
		Reason: "the image's own provisioning scripts make the node (AKS: provision_start.sh)",
		Spec: &resource.Command{
			Label: "image-scripts", Argv: argv, Env: variables, Timeout: config.Checks.Timeout, OwnCode: true, Unconfined: true,
		},
		ExitCode: exitcode.ScriptFailed,
	}}}
}

// withoutAgent makes an input that of a node without an agent.
func withoutAgent(in *concern.Input) {
	in.Agentless, in.AsksCloud = true, machine.MetadataServiceOf(in.Config.Cloud.Provider) != nil
}
