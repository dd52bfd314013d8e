package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agentless"
	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/userdata"
)

// agentlessTargets are the targets that can hold a node.
var agentlessTargets = []string{"cloud-config", ignitionTarget, bundleTarget}

// usageAgentless refuses flags that have no meaning for a node without an agent.
func (r *rendering) usageAgentless() error {
	switch {
	case !r.agentless:
		return cli.Usage("add --agentless", "a bundle holds a node without an agent")
	case !slices.Contains(agentlessTargets, r.to.Value):
		return cli.Usage("use --to "+cli.List(agentlessTargets, "or"), "%s only brings a contract to an agent", r.to.Value)
	case len(r.parts) > 0:
		return cli.Usage("leave out --part", "a node without an agent has no room for a part")
	case r.force:
		return cli.Usage("leave out --force", "no node can be rendered of a contract that has errors")
	case r.to.Value == bundleTarget && isStdout(r.out):
		return cli.Usage("name one with --out DIR", "a bundle is a directory")
	case r.to.Value == bundleTarget && r.output.Value == command.AsJSON:
		return cli.Usage("leave out -o json", "a bundle is a directory, not a property of an Azure template")
	case r.to.Value == bundleTarget && r.raw:
		return cli.Usage("leave out --raw", "a bundle is never in base64")
	}
	return nil
}

// runAgentless renders the contract's node, and lists what such a node does not have.
func (r *rendering) runAgentless(s cli.Streams, c *contract, known facts.Facts) error {
	planned, problems := c.PlanWithoutAgent(known)
	c.Problems = problems
	if err := c.require(s); err != nil {
		return err
	}
	if slices.Contains(plan.Needs(c.Config, known), plan.NeedClusterAuthority) {
		err := fmt.Errorf("%s cannot be rendered without an agent: it does not have the cluster's CA, which the agent fetches from the cluster", command.Title(c.name))
		return &cli.Error{Code: exitcode.Invalid, Err: err, Hint: "give the CA itself in cluster.certificateAuthority; kubectl config view --raw --flatten prints it"}
	}
	machine := agentless.Of(planned, profile.OfDialect(c.Dialect))
	if err := tellLosses(s, c, &machine); err != nil {
		return err
	}
	if r.to.Value == bundleTarget {
		return r.writeBundle(s, &machine, known.Components)
	}
	document := machine.CloudConfig()
	if r.to.Value == ignitionTarget {
		made, err := machine.Ignition()
		if err != nil {
			return command.Failed("%w", err)
		}
		document = made
	}
	rendered, err := r.pack(s, document)
	if _, ok := errors.AsType[*userdata.TooLargeError](err); ok {
		_, _ = io.WriteString(s.Err, fileSizes(planned, &machine, len(document)))
	}
	if err != nil {
		return r.refused(s, c, err)
	}
	return r.hand(s, rendered)
}

// tellLosses prints what is not done without an agent. It returns an error if a loss prevents the node.
func tellLosses(s cli.Streams, c *contract, m *agentless.Machine) error {
	if len(m.Losses) == 0 {
		return nil
	}
	style := cli.StyleOf(s.Err)
	table := cli.Table{Indent: "  "}
	for _, loss := range m.Losses {
		severity := cli.Cell{Text: "left out", Paint: style.Yellow}
		if loss.Fatal {
			severity = cli.Cell{Text: "error", Paint: style.Red}
		}
		table.Row(severity, cli.Cell{Text: string(loss.ID)}, cli.Cell{Text: loss.Why})
	}
	_, _ = fmt.Fprintf(s.Err, "%s, without an agent:\n\n%s\n", command.Title(c.name), table.String())
	if fatal := len(m.Fatal()); fatal > 0 {
		return &cli.Error{
			Code: exitcode.Invalid, Err: fmt.Errorf("%s makes no node without an agent: %s", command.Title(c.name), cli.Plural(fatal, "error")),
			Hint: "take the settings behind the errors out of the contract, or leave out --agentless, for an image that has Slipway",
		}
	}
	return nil
}

// writeBundle writes the directory.
func (r *rendering) writeBundle(s cli.Streams, m *agentless.Machine, programs []components.Component) error {
	manifest, documents, err := m.Bundle(cli.Version, programs)
	if err == nil {
		err = bundle.Write(r.out, manifest, documents)
	}
	if err != nil {
		return command.Failed("%w", err)
	}
	_, _ = fmt.Fprintf(s.Err, "wrote %s, %d entries; only its owner can read it\n", cli.Line(r.out), len(manifest.Entries))
	return command.Write(s, manifest.Digest+"\n")
}

// fileSizes lists the parts of a document that is too large, as text for people: its largest files, each with its
// purpose, and the total of the rest.
func fileSizes(planned resource.Plan, m *agentless.Machine, total int) string {
	reasons := planned.ByID()
	rows, files := []userdata.Size{}, 0
	for _, f := range m.Files {
		what := f.Path
		if r, ok := reasons[resource.IDOf(f)]; ok {
			what += ": " + r.Reason
		}
		rows, files = append(rows, userdata.Size{What: what, Bytes: len(f.Content)}), files+len(f.Content)
	}
	named := append(userdata.LargestAnd(rows, "all other files"), userdata.Size{What: "names, modes, links and commands, and what the document's form adds", Bytes: total - files})
	return sizeTable("what the document is made of, in bytes", named)
}
