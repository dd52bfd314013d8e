package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// target is a form of data for creating a machine.
type target struct {
	name string
	// document renders it.
	document func(userdata.Contract) ([]byte, error)
	// property is its name in Azure's template.
	property string
	// base64 reports that it is printed in base64 unless the user wants it raw.
	base64 bool
	// gzip compresses it in a form that the machine decompresses. It may be nil.
	gzip func([]byte) ([]byte, error)
	// parts reports whether it can contain the user's parts.
	parts bool
}

var targets = []target{
	{"custom-data", userdata.MIME, "customData", true, wholly, true},
	{"cloud-config", userdata.CloudConfig, "customData", false, wholly, false},
	{ignitionTarget, userdata.Ignition, "customData", true, userdata.GzipIgnition, true},
	{cseTarget, func(c userdata.Contract) ([]byte, error) { return []byte(c.CSE()), nil }, "commandToExecute", false, nil, false},
	{scriptTarget, nil, "customData", true, wholly, false},
	{bundleTarget, nil, "", false, nil, false},
}

// wholly compresses a document that cloud-init decompresses.
func wholly(document []byte) ([]byte, error) { return userdata.Gzip(document), nil }

const (
	// ignitionTarget is the target that is JSON, also if it is compressed.
	ignitionTarget = "ignition"
	// cseTarget is the target that is a command, not a document that a cloud passes to the machine.
	cseTarget = "cse"
	// scriptTarget is the target from which AKS's scripts make the node, without an agent.
	scriptTarget = "cse-script"
	// bundleTarget is the target that is a directory: a node without an agent, for verifying a machine.
	bundleTarget = "bundle"
)

// anyCloud is the cloud without a limit.
const anyCloud = "none"

// cloudOf is the cloud in a contract, or else Azure.
func cloudOf(c *contract) userdata.Cloud {
	for _, cloud := range userdata.Clouds() {
		if cloud.Provider() == c.Config.Cloud.Provider {
			return cloud
		}
	}
	return userdata.Azure
}

func cloudNames() []string {
	var names []string
	for _, c := range userdata.Clouds() {
		names = append(names, string(c))
	}
	return append(names, anyCloud)
}

func targetNames() []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.name)
	}
	return names
}

// rendering has the flags of render.
type rendering struct {
	from   source
	to     command.Choice
	cloud  command.Choice
	parts  []string
	facts  string
	output command.Choice
	// out is the file to write. Empty and - mean standard output.
	out string
	// gzip compresses the document. Unless the user decides (gzipSet), a document is compressed if it would be too
	// large otherwise.
	gzip    bool
	gzipSet bool
	raw     bool
	force   bool
	// agentless renders the plan instead of the contract.
	agentless bool
}

func newRender(s cli.Streams) *cobra.Command {
	r := rendering{
		to:    command.Choice{Allowed: targetNames()},
		cloud: command.Choice{Allowed: cloudNames()},
	}
	cmd := &cobra.Command{
		Use:   "render -f CONFIG --to TARGET [--out FILE] [flags]",
		Short: "Render what a machine is created with",
		Long: `Render the document that a cloud hands to a new machine. With it the machine finds its contract
and starts the agent. The same contract gives the same bytes.

  custom-data   MIME for cloud-init, starts the agent in its earliest stage; base64
  cloud-config  plain #cloud-config, for places that take nothing else
  ignition      Ignition 3.4.0, for images without cloud-init; base64
  cse           the command of Azure's custom script extension, which waits for the node
  cse-script    a script for AKS's images from before 2025, which have no agent; base64
  bundle        with --agentless: a directory with the node's files, which "slipway verify" compares

With --agentless, cloud-config, ignition and bundle hold the node itself: every file, link and unit
of its plan, for an image that has containerd and a kubelet, and no Slipway. Give --facts of the
image: the program does not inspect it. What only an agent does is listed; it is an error where the node
could not join, or would be less safe, without it.

The cloud is the contract's, and Azure if the contract names none; --cloud names another. Azure takes
65,535 bytes and EC2 16,384, before base64. A larger document is compressed, or refused if it is too
large even so. cloud-init decompresses it, and Ignition the files in its config. --gzip compresses
every document, --gzip=false none.

With --part, the document also has parts of your own, in their order: scripts, cloud-configs and
whatever else cloud-init takes, for ignition other Ignition configs. The first line of a part says
its type, as it does for cloud-init; FILE:TYPE names another, such as x-shellscript-per-boot. A part
is refused if the machine would ignore it, or could not find its contract because of it.

What is printed holds the contract's secrets. A file is written whole or not at all, and only its
owner can read it. With -o json, the result is printed as the property of an Azure template that
takes it: {"customData": "..."} or {"commandToExecute": "..."}. Beside the command are the
variables that the provisioning scripts of AKS's images read, as AKS's own program gives them:
{"commandToExecute": "...", "variables": {"NAME": "value"}}. They depend on the containerd of the
image, which --facts says; without it, containerd is taken for 1.x. The script has the same
variables. With --force, both are rendered for a contract of which no node can be made.`,
		Example: `  slipway render -f node.yaml --to custom-data --out custom-data.b64
  slipway render -f node.yaml --to custom-data --cloud ec2 --gzip --out user-data.b64
  slipway render -f node.yaml --to custom-data --part setup.sh --part users.yaml --out custom-data.b64
  slipway render -f aks.json --to custom-data --raw | less
  slipway render -f flatcar.yaml --to ignition --raw --out node.ign
  slipway render -f aks.json --to cse -o json >cse.json
  slipway render -f aks.json --to cse-script --facts facts.json --out custom-data.b64
  slipway render -f node.yaml --facts facts.json --agentless --to cloud-config --out user-data.yaml
  slipway render -f node.yaml --facts facts.json --agentless --to bundle --out node-bundle`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r.gzipSet = cmd.Flags().Changed("gzip")
			return r.run(s)
		},
	}
	r.from.add(cmd)
	r.from.addPolicy(cmd)
	command.AddChoice(cmd, &r.to, "to", "", "`TARGET` to render: "+cli.List(r.to.Allowed, "or"))
	command.AddChoice(cmd, &r.cloud, "cloud", "", "render for `CLOUD`, whatever the contract names: "+cli.List(r.cloud.Allowed, "or"))
	cmd.Flags().StringArrayVar(&r.parts, "part", nil, "add `FILE[:TYPE]` for cloud-init, or an Ignition config; - is standard input")
	command.Must(cmd.MarkFlagFilename("part"))
	addFacts(cmd, &r.facts)
	addOut(cmd, &r.out)
	command.AddOutput(cmd, &r.output)
	cmd.Flags().BoolVar(&r.gzip, "gzip", false, "compress the document; =false never compresses it")
	cmd.Flags().BoolVar(&r.raw, "raw", false, "the document itself, without base64")
	cmd.Flags().BoolVar(&r.agentless, "agentless", false, "render the node itself, for an image without Slipway")
	cmd.Flags().BoolVar(&r.force, "force", false, "render a contract that has errors")
	return cmd
}

func (r *rendering) run(s cli.Streams) error {
	if err := r.usage(); err != nil {
		return err
	}
	c, err := r.from.read(s)
	if err != nil {
		return err
	}
	known, err := readFacts(s, r.facts)
	if err != nil {
		return err
	}
	if r.cloud.Value == "" {
		r.cloud.Value = string(cloudOf(c))
	}
	if r.agentless {
		return r.runAgentless(s, c, known)
	}
	variables, err := r.check(s, c, known)
	if err != nil {
		return err
	}
	parts, err := r.readParts(s)
	if err != nil {
		return err
	}
	rendered, err := r.render(s, c, parts, variables)
	if _, ok := errors.AsType[*userdata.TooLargeError](err); ok {
		_, _ = io.WriteString(s.Err, r.sizes(c, parts, variables))
	}
	if err != nil {
		return r.refused(s, c, err)
	}
	if r.output.Value == command.AsJSON && r.to.Value == cseTarget {
		return deliverJSON(s, r.out, map[string]any{r.target().property: rendered, "variables": cse.Map(variables)})
	}
	return r.hand(s, rendered)
}

// hand prints what is rendered in the requested form.
func (r *rendering) hand(s cli.Streams, rendered string) error {
	if r.output.Value == command.AsJSON {
		return deliverJSON(s, r.out, map[string]string{r.target().property: rendered})
	}
	return deliver(s, r.out, []byte(rendered))
}

// usage refuses flags that contradict each other.
func (r *rendering) usage() error {
	switch {
	case r.to.Value == "":
		return cli.Usage("name it with --to "+strings.Join(r.to.Allowed, "|"), "no target is given")
	case r.agentless || r.to.Value == bundleTarget:
		if err := r.usageAgentless(); err != nil {
			return err
		}
	}
	switch {
	case r.from.profile.Value != "" && !r.agentless:
		return cli.Usage("name the profile in components.layout of a native contract; slipway convert --profile makes one", "the machine reads the contract itself, which --profile does not change")
	case r.raw && r.output.Value == command.AsJSON:
		return cli.Usage("choose one", "--raw and -o json exclude each other: an Azure template takes base64")
	case r.force && r.from.strict:
		return cli.Usage("choose one", "--force renders a contract that has errors, --strict refuses one that has warnings")
	case r.gzip && r.target().gzip == nil:
		return cli.Usage("leave out --gzip", "nothing on the machine would unpack %s", r.to.Value)
	case len(r.parts) > 0 && !r.target().parts:
		return cli.Usage("use custom-data or ignition", "%s has no room for a part", r.to.Value)
	case r.facts != "" && !r.forScripts() && !r.agentless:
		return cli.Usage("leave out --facts", "%s does not depend on the machine", r.to.Value)
	case r.gzip && r.isBinary() && isStdout(r.out):
		return cli.Usage("name a file with --out FILE", "--gzip --raw prints binary data")
	}
	return oneStdin(append(append(r.partFiles(), r.facts), r.from.files...)...)
}

// forScripts reports whether the rendered data has the variables of AKS's scripts.
func (r *rendering) forScripts() bool {
	return r.to.Value == scriptTarget || r.to.Value == cseTarget && r.output.Value == command.AsJSON
}

// check refuses a contract that has errors, unless forced. It returns the variables of AKS's scripts if they are
// rendered.
func (r *rendering) check(s cli.Streams, c *contract, known facts.Facts) ([]cse.Variable, error) {
	c.plan(known) // for the planner's problems
	if r.to.Value == scriptTarget {
		c.Problems = slices.DeleteFunc(c.Problems, func(p nodeconfig.Problem) bool { return p.Kind == nodeconfig.NotApplied }) // the scripts apply it
	}
	var variables []cse.Variable
	if r.forScripts() && c.parsed() {
		made, problems := cse.Variables(c.Contract, known)
		variables, c.Problems = made, append(c.Problems, problems...)
		nodeconfig.SortProblems(c.Problems)
	}
	err := c.require(s)
	switch {
	case err == nil, r.force && c.parsed() && !c.valid():
		return variables, nil
	case c.valid(), !c.parsed():
		return nil, err
	}
	return nil, &cli.Error{Code: exitcode.Invalid, Err: err, Hint: "it cannot make a node; --force renders it anyway", Problems: c.Problems}
}

func (r *rendering) target() target {
	for _, t := range targets {
		if t.name == r.to.Value {
			return t
		}
	}
	panic("the flag takes only targets that exist")
}

// isBinary reports whether the output is binary data if it is compressed.
func (r *rendering) isBinary() bool { return r.raw && r.to.Value != ignitionTarget }

// render returns the data to deliver; readable text ends with a line break.
func (r *rendering) render(s cli.Streams, c *contract, parts []userdata.Part, variables []cse.Variable) (string, error) {
	plain, err := r.document(c, parts, variables)
	if err != nil {
		return "", err
	}
	return r.pack(s, plain)
}

// pack returns a document in the cloud's form.
func (r *rendering) pack(s cli.Streams, plain []byte) (string, error) {
	t := r.target()
	if t.name == cseTarget {
		if r.output.Value == command.AsJSON {
			return string(plain), nil
		}
		return strings.TrimSuffix(string(plain), "\n") + "\n", nil
	}
	document, compressed, err := r.compress(plain)
	if err != nil {
		return "", err
	}
	if compressed && !r.gzip {
		_, _ = fmt.Fprintf(s.Err, "compressed: the document has %d bytes, and %s takes fewer; compressed, it has %d\n", len(plain), userdata.Cloud(r.cloud.Value), len(document))
	}
	err = userdata.Cloud(r.cloud.Value).Check(len(document))
	if large, ok := errors.AsType[*userdata.TooLargeError](err); ok {
		return "", r.tooLarge(large, plain)
	}
	text := string(document)
	binary := compressed && t.name != ignitionTarget
	switch {
	case r.output.Value == command.AsJSON:
		return base64.StdEncoding.EncodeToString(document), nil
	case (t.base64 || binary) && !r.raw:
		text = base64.StdEncoding.EncodeToString(document)
	case binary:
		return text, nil
	}
	return strings.TrimSuffix(text, "\n") + "\n", nil
}

// compress returns a document in its printed form: compressed if the user wants it, or if the cloud accepts it only so.
func (r *rendering) compress(plain []byte) (document []byte, compressed bool, err error) {
	gzip, cloud := r.target().gzip, userdata.Cloud(r.cloud.Value)
	fits := r.gzipSet || gzip == nil || cloud.Check(len(plain)) == nil || r.isBinary() && isStdout(r.out)
	if !r.gzip && fits {
		return plain, false, nil
	}
	packed, err := gzip(plain)
	if err != nil || !r.gzip && cloud.Check(len(packed)) != nil {
		return plain, false, err
	}
	return packed, true, nil
}

// document is the rendered document, unpacked.
func (r *rendering) document(c *contract, parts []userdata.Part, variables []cse.Variable) ([]byte, error) {
	if r.to.Value == scriptTarget {
		return cse.Script(variables)
	}
	return r.target().document(delivered(c, parts))
}

// delivered is the contract for the machine: the document itself, in its dialect.
func delivered(c *contract, parts []userdata.Part) userdata.Contract {
	family := profile.OfDialect(c.Dialect)
	out := userdata.Contract{Document: c.Canonical(), Path: family.Contract.JSON, Parts: parts}
	if family.Agent.Launcher != "" { // the launcher reads them before the agent starts
		out.Features = c.Config.Components.Features
	}
	return out
}

// refused converts the renderer's errors to problems of the documents.
func (r *rendering) refused(s cli.Streams, c *contract, err error) error {
	invalid, ok := errors.AsType[*userdata.InvalidError](err)
	if !ok {
		refusal := &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf("%s: %w", command.Title(c.name), err)}
		if hinted, ok := errors.AsType[*cli.Error](err); ok {
			refusal.Hint = hinted.Hint
		}
		return refusal
	}
	var problems []nodeconfig.Problem
	for _, p := range invalid.Problems {
		path, part := p.Field, 0
		if n, _ := fmt.Sscanf(p.Field, "Parts[%d]", &part); n == 1 {
			problems = append(problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: p.Reason, Fatal: true, Document: command.PlaceName(r.partFiles()[part])})
			continue
		}
		for name := range c.Config.Components.Features {
			if p.Field == fmt.Sprintf("Features[%q]", name) {
				path = document.FieldPath("$.components.features", name)
			}
		}
		problems = append(problems, c.Place(nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: path, Reason: p.Reason, Fatal: true}))
	}
	nodeconfig.SortProblems(problems)
	_, _ = io.WriteString(s.Err, cli.Problems(c.place(), problems, cli.StyleOf(s.Err)))
	return command.Failed("%s cannot be rendered, %s", command.Title(c.name), cli.CountProblems(problems))
}
